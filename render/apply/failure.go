// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ObjectError is a request about one object that failed.
type ObjectError struct {
	// ID is the object.
	ID ID
	// Verb is what was tried: read, apply, delete, write.
	Verb string
	// Err is what the server or the connection said.
	Err error
}

// Error implements error: the object first, then what to do where that is known.
func (e *ObjectError) Error() string {
	return fmt.Sprintf("%s: %s failed: %s", e.ID, e.Verb, explain(e.Err))
}

func (e *ObjectError) Unwrap() error { return e.Err }

// ErrRefused is wrapped by errors that are an answer: the server, or a rule of
// this package, does not take an object. Asking again gives the same.
var ErrRefused = errors.New("refused")

// IsRefusal reports whether an error is an answer about objects, rather than a
// server that could not be asked.
func IsRefusal(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range joined.Unwrap() {
			if !IsRefusal(part) {
				return false
			}
		}
		return true
	}
	if errors.Is(err, ErrRefused) {
		return true
	}
	status, ok := answer(err)
	return ok && status.Code != 401 && status.Code != 429 && status.Code < 500 || meta.IsNoMatchError(err)
}

// answer is what the server said, if it said anything.
func answer(err error) (metav1.Status, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return metav1.Status{}, false
	}
	return status.Status(), true
}

// explain puts into words what an error means for who runs apply.
func explain(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the time ran out; the same command goes on where this one stopped"
	case errors.Is(err, context.Canceled):
		return "interrupted; the same command goes on where this one stopped"
	case isLost(err):
		return "the API server does not answer: " + withoutURL(err) + "; the same command goes on where this one stopped"
	case apierrors.IsTooManyRequests(err):
		return "the API server is overloaded and has been asked " + fmt.Sprint(retries+1) + " times; the same command goes on where this one stopped: " + err.Error()
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept these credentials: " + err.Error()
	case meta.IsNoMatchError(err):
		return notInstalled(err)
	}
	status, ok := answer(err)
	if !ok {
		return err.Error()
	}
	return explainStatus(status, err)
}

func explainStatus(status metav1.Status, err error) string {
	message := status.Message
	if message == "" {
		message = err.Error()
	}
	details := status.Details
	switch {
	case status.Reason == metav1.StatusReasonForbidden && message == "unknown":
		// The server's words are lost where the client asks it what kinds there are.
		return "the API server does not let this user ask what kinds there are: does the kubeconfig have credentials?"
	case status.Reason == metav1.StatusReasonNotFound && details != nil && details.Kind == "namespaces":
		return fmt.Sprintf("namespace %s does not exist: make it first", details.Name)
	case status.Reason == metav1.StatusReasonNotFound && details != nil && details.Name == "":
		return "the server has no such kind: " + message
	case status.Reason == metav1.StatusReasonConflict, status.Reason == metav1.StatusReasonAlreadyExists:
		return "it has changed since it was read: is another apply running? " + message
	case apierrors.HasStatusCause(err, "NamespaceTerminating"):
		return "its namespace is being deleted"
	case strings.Contains(message, "failed calling webhook"):
		return "an admission webhook cannot be reached, and none may pass without it: " + message
	case strings.Contains(message, "admission webhook"), strings.Contains(message, "ValidatingAdmissionPolicy"):
		return "denied: " + message
	case strings.Contains(message, "field not declared in schema"), strings.Contains(message, "unknown field"):
		return "the server does not know a field: is a CRD, or the server, older than this program? " + message
	case status.Reason == metav1.StatusReasonInvalid && details != nil && len(details.Causes) > 0:
		return causes(details.Causes)
	}
	return message
}

// causes names every field that the server refuses.
func causes(all []metav1.StatusCause) string {
	var out []string
	for _, c := range all {
		if c.Field == "" {
			out = append(out, c.Message)
			continue
		}
		out = append(out, c.Field+": "+c.Message)
	}
	return strings.Join(out, "; ")
}

// notInstalled says how to get a kind that the server does not have.
func notInstalled(err error) string {
	kind := schema.GroupKind{}
	if e, ok := errors.AsType[*meta.NoKindMatchError](err); ok {
		kind = e.GroupKind
	}
	advice := map[string]string{
		"valkey-render.dev":     "install its CRDs: charts/valkey-reconciler, or the files of api/crd",
		"cert-manager.io":       "install cert-manager, or name a Secret in spec.tls.secretName instead of an issuerRef",
		"monitoring.coreos.com": "install the Prometheus operator, or leave podMonitor and prometheusRule out of spec.metrics",
	}[kind.Group]
	if advice == "" {
		advice = "install its CRD"
	}
	return fmt.Sprintf("the server has no kind %s of %s: %s", kind.Kind, kind.Group, advice)
}

// withoutURL leaves out the query of a request, which says nothing to anyone.
func withoutURL(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err.Error()
	}
	return err.Error()
}
