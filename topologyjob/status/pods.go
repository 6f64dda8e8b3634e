// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// How long something may take before it is told as trouble: what passes by itself within
// seconds would only flicker.
const (
	schedulingGrace = 5 * time.Second
	creationGrace   = 10 * time.Second
	objectGrace     = 10 * time.Second
	linkGrace       = 15 * time.Second
)

// after reports whether a moment is so long ago, and asks to be called again when it is not.
func (x *computation) after(moment time.Time, grace time.Duration) bool {
	left := moment.Add(grace).Sub(x.now.Time)
	if left <= 0 {
		return true
	}
	if left += time.Second; x.recheck == 0 || left < x.recheck {
		x.recheck = left
	}
	return false
}

// podTrouble is the worst that keeps a pod from running and that only somebody can put
// right, nil when there is nothing.
func (x *computation) podTrouble() *finding {
	for _, look := range []func() *finding{x.unschedulable, x.imagePull, x.containerFailing, x.notCreated} {
		if f := look(); f != nil {
			return f
		}
	}
	return nil
}

// perPod collects what is wrong with pods, in order of their names.
func (x *computation) perPod(say func(*Pod) string) string {
	var names []string
	for n := range x.pods {
		names = append(names, n)
	}
	slices.Sort(names)
	var list []string
	for _, n := range names {
		if p := x.pods[n]; !p.Deleting {
			if text := say(p); text != "" {
				list = append(list, text)
			}
		}
	}
	return some(list)
}

// unschedulable: the scheduler finds no node for a pod.
func (x *computation) unschedulable() *finding {
	text := x.perPod(func(p *Pod) string {
		if p.Unschedulable == "" || !x.after(p.Created, schedulingGrace) {
			return ""
		}
		return fmt.Sprintf("pod %s: %s", p.Name, p.Unschedulable)
	})
	if text == "" {
		return nil
	}
	return &finding{v1alpha1.ReasonPodUnschedulable, "No node for " + text + ". Add nodes, or relax spec.scheduling, resources or the volume's zone"}
}

// imagePull: the image of a container cannot be had.
func (x *computation) imagePull() *finding {
	text := x.perPod(func(p *Pod) string {
		switch p.Waiting {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable":
			return fmt.Sprintf("pod %s, container %s, image %s: %s", p.Name, p.WaitingContainer, p.WaitingImage, cmp.Or(p.WaitingMessage, p.Waiting))
		}
		return ""
	})
	if text == "" {
		return nil
	}
	return &finding{v1alpha1.ReasonImagePullFailed, text + ". Check the image's name and tag, spec.imagePullSecrets, and that nodes reach the registry"}
}

// containerFailing: a container does not start, or ends again and again.
func (x *computation) containerFailing() *finding {
	text := x.perPod(func(p *Pod) string {
		switch p.Waiting {
		case "CrashLoopBackOff":
			exit := ""
			if p.LastExit != nil {
				exit = fmt.Sprintf(", last exit code %d", *p.LastExit)
			}
			return fmt.Sprintf("pod %s, container %s ends again and again%s: kubectl -n %s logs %s -c %s --previous",
				p.Name, p.WaitingContainer, exit, x.c.Namespace, p.Name, p.WaitingContainer)
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PostStartHookError":
			return fmt.Sprintf("pod %s, container %s: %s: %s", p.Name, p.WaitingContainer, p.Waiting, p.WaitingMessage)
		}
		return ""
	})
	if text == "" {
		return nil
	}
	return &finding{v1alpha1.ReasonPodFailing, text}
}

// notCreated: a StatefulSet has fewer pods than it asks for, and makes none.
func (x *computation) notCreated() *finding {
	var quota, list []string
	for _, s := range x.sorted() {
		if s.Deleting || s.Pods >= s.Replicas || !x.longMissing(s) {
			continue
		}
		text := fmt.Sprintf("StatefulSet %s has %d of %d pods", s.Name, s.Pods, s.Replicas)
		if s.CreateFailed != "" {
			text += ": " + s.CreateFailed
		}
		if strings.Contains(s.CreateFailed, "exceeded quota") {
			quota = append(quota, text)
			continue
		}
		list = append(list, text)
	}
	switch {
	case len(quota) > 0:
		return &finding{v1alpha1.ReasonQuotaExceeded, some(quota) + ". Raise the ResourceQuota of the namespace, or ask for less"}
	case len(list) > 0:
		return &finding{v1alpha1.ReasonPodsNotCreated, some(list) + ". A quota, an admission policy or a missing claim keeps them away: kubectl -n " +
			x.c.Namespace + " describe statefulset; kubectl -n " + x.c.Namespace + " get events --field-selector reason=FailedCreate"}
	}
	return nil
}

// longMissing is whether a pod of a StatefulSet has been missing for long: since its
// ValkeyNode is not ready, which the first look at it begins to count, or for a Sentinel
// since the StatefulSet was made.
func (x *computation) longMissing(s *StatefulSet) bool {
	for index := range s.Replicas {
		pod := name.SentinelPod(x.c.Name, index)
		if !s.Sentinel {
			pod = name.Pod(x.c.Name, s.Shard, index)
		}
		if x.pods[pod] != nil {
			continue
		}
		since := s.Created
		if !s.Sentinel {
			since = x.now.Time
			if node := x.nodes[pod]; node != nil {
				if ready := find(node.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Status == "False" {
					since = ready.LastTransitionTime.Time
				}
			}
		}
		return x.after(since, creationGrace)
	}
	return false
}

// sorted are the StatefulSets by name.
func (x *computation) sorted() []*StatefulSet {
	var list []*StatefulSet
	for _, s := range x.sets {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *StatefulSet) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// scaledDown and scaledUp: a StatefulSet of a wanted shard asks for another number of pods
// than the spec does, though what is live was rendered for it. Pods that are taken away are
// why a primary is down, so that is told first.
func (x *computation) scaledDown() *finding {
	return x.scaled(func(asks, wanted int32) bool { return asks < wanted })
}

func (x *computation) scaledUp() *finding {
	return x.scaled(func(asks, wanted int32) bool { return asks > wanted })
}

func (x *computation) scaled(differs func(asks, wanted int32) bool) *finding {
	if !x.o.Rendering.Current || x.awaiting() != nil {
		return nil
	}
	var list []string
	for _, s := range x.sorted() {
		wanted := x.c.PodsPerShard()
		if s.Sentinel {
			wanted = x.c.SentinelReplicas()
		}
		if x.c.Spec.Hibernate {
			wanted = 0
		}
		if s.Deleting || !differs(s.Replicas, wanted) || !s.Sentinel && s.Shard >= x.c.ShardCount() {
			continue
		}
		list = append(list, fmt.Sprintf("StatefulSet %s asks for %d pods, the spec for %d", s.Name, s.Replicas, wanted))
	}
	if len(list) == 0 {
		return nil
	}
	return &finding{v1alpha1.ReasonScaledByHand, some(list) + ". Change the spec, or scale it back: " + x.applyAgain()}
}

// applyAgain says how rendered objects come back.
func (x *computation) applyAgain() string {
	if x.c.EffectiveDelivery() == v1alpha1.DeliveryGitOps {
		return "apply the rendered manifests again (Argo CD: sync; Flux: reconcile; kubectl apply --server-side)"
	}
	return fmt.Sprintf("kubectl -n %s annotate valkeycluster %s %s=$(date +%%s) --overwrite has them applied again", x.c.Namespace, x.c.Name, v1alpha1.AnnotationRetry)
}
