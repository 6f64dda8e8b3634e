// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// handler is what a probe or a lifecycle hook runs; the two types of Kubernetes
// have these in common but for the last.
type handler struct {
	exec      *corev1.ExecAction
	httpGet   *corev1.HTTPGetAction
	tcpSocket *corev1.TCPSocketAction
	grpc      *corev1.GRPCAction
	sleep     *corev1.SleepAction
}

func ofProbe(h corev1.ProbeHandler) handler {
	return handler{exec: h.Exec, httpGet: h.HTTPGet, tcpSocket: h.TCPSocket, grpc: h.GRPC}
}

func ofHook(h *corev1.LifecycleHandler) handler {
	return handler{exec: h.Exec, httpGet: h.HTTPGet, tcpSocket: h.TCPSocket, sleep: h.Sleep}
}

// names of what is set, in a fixed order.
func (h handler) names() []string {
	var names []string
	for _, n := range []struct {
		name string
		set  bool
	}{
		{"exec", h.exec != nil},
		{"httpGet", h.httpGet != nil},
		{"tcpSocket", h.tcpSocket != nil},
		{"grpc", h.grpc != nil},
		{"sleep", h.sleep != nil},
	} {
		if n.set {
			names = append(names, n.name)
		}
	}
	return names
}

// probes checks the probes and hooks of a container of the user's own.
func (c *ValkeyCluster) validateProbes(v *violations, at *field.Path, container *corev1.Container) {
	for _, p := range probesOf(container) {
		if p.probe == nil {
			continue
		}
		at := at.Child(p.name)
		v.handler(at, ofProbe(p.probe.ProbeHandler), "exec, httpGet, tcpSocket or grpc")
		v.probeNumbers(at, p.name, p.probe)
	}
	l := container.Lifecycle
	if l == nil {
		return
	}
	at = at.Child("lifecycle")
	if l.StopSignal != nil {
		v.forbidden(at.Child("stopSignal"), "needs spec.os of the pod, which is not rendered")
	}
	for _, hook := range []struct {
		name    string
		handler *corev1.LifecycleHandler
	}{{"postStart", l.PostStart}, {"preStop", l.PreStop}} {
		if hook.handler == nil {
			continue
		}
		at := at.Child(hook.name)
		v.handler(at, ofHook(hook.handler), "exec, httpGet or sleep")
		if s := hook.handler.Sleep; s != nil && (s.Seconds < 0 || s.Seconds > c.GraceSeconds()) {
			v.invalid(at.Child("sleep", "seconds"), s.Seconds, "must be between 0 and the grace period of %d", c.GraceSeconds())
		}
	}
}

type namedProbe struct {
	name  string
	probe *corev1.Probe
}

const (
	startupProbe   = "startupProbe"
	livenessProbe  = "livenessProbe"
	readinessProbe = "readinessProbe"
)

func probesOf(c *corev1.Container) []namedProbe {
	return []namedProbe{{startupProbe, c.StartupProbe}, {livenessProbe, c.LivenessProbe}, {readinessProbe, c.ReadinessProbe}}
}

// mergedProbes lets the numbers of our probes be tuned, and nothing else: what
// they ask is how a pod's role is told, and a hook instead of ours would keep a
// primary from handing over.
func (v *violations) mergedProbes(at *field.Path, container *corev1.Container) {
	for _, p := range probesOf(container) {
		if p.probe == nil {
			continue
		}
		at := at.Child(p.name)
		if container.Name == ContainerExporter && p.name != livenessProbe {
			v.forbidden(at, "container exporter has none: a pod without metrics still serves")
			continue
		}
		for _, name := range ofProbe(p.probe.ProbeHandler).names() {
			v.forbidden(at.Child(name), "valkey-render knows how to ask container %s; only numbers may be changed", container.Name)
		}
		v.probeNumbers(at, p.name, p.probe)
	}
	if container.Lifecycle != nil {
		v.forbidden(at.Child("lifecycle"), "valkey-render hands over and stops container %s: did you mean spec.pod.terminationGracePeriodSeconds?", container.Name)
	}
}

// probeNumbers: zero is the default of Kubernetes, or the value merged onto.
func (v *violations) probeNumbers(at *field.Path, kind string, p *corev1.Probe) {
	for _, n := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", p.InitialDelaySeconds},
		{"timeoutSeconds", p.TimeoutSeconds},
		{"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold},
		{"failureThreshold", p.FailureThreshold},
	} {
		if n.value < 0 {
			v.invalid(at.Child(n.name), n.value, "must be more than zero")
		}
	}
	if kind != readinessProbe && p.SuccessThreshold > 1 {
		v.invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1 here: only a readinessProbe counts successes")
	}
	if s := p.TerminationGracePeriodSeconds; s != nil {
		switch at := at.Child("terminationGracePeriodSeconds"); {
		case kind == readinessProbe:
			v.forbidden(at, "a readinessProbe ends nothing")
		case *s <= 0:
			v.invalid(at, *s, "must be more than zero")
		}
	}
}

// handler holds that there is exactly one, and that it can be run.
func (v *violations) handler(at *field.Path, h handler, kinds string) {
	switch names := h.names(); len(names) {
	case 0:
		v.required(at, "what to do: %s", kinds)
	case 1:
	default:
		v.forbidden(at.Child(names[1]), "%s is there already: one of %s", names[0], kinds)
	}
	if h.exec != nil && len(h.exec.Command) == 0 {
		v.required(at.Child("exec", "command"), "at least one word")
	}
	if g := h.httpGet; g != nil {
		at := at.Child("httpGet")
		v.portReference(at.Child("port"), g.Port)
		oneOf(v, at.Child("scheme"), g.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
		for i, header := range g.HTTPHeaders {
			for _, why := range validation.IsHTTPHeaderName(header.Name) {
				v.invalid(at.Child("httpHeaders").Index(i).Child("name"), header.Name, "%s", why)
			}
		}
	}
	if h.tcpSocket != nil {
		v.portReference(at.Child("tcpSocket", "port"), h.tcpSocket.Port)
	}
	if h.grpc != nil {
		v.portNumber(at.Child("grpc", "port"), h.grpc.Port)
	}
}

func (v *violations) portReference(at *field.Path, port intstr.IntOrString) {
	if port.Type == intstr.Int {
		v.portNumber(at, port.IntVal)
		return
	}
	if why := validation.IsValidPortName(port.StrVal); len(why) > 0 {
		v.invalid(at, port.StrVal, "%s", strings.Join(why, "; "))
	}
}

func (v *violations) portNumber(at *field.Path, port int32) {
	within(v, at, &port, 1, 65535)
}
