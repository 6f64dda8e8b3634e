// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	rendered "github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// Annotations of a Job.
const (
	// AnnotationKind is its kind.
	AnnotationKind = v1alpha1.Group + "/job-kind"
	// AnnotationInput is the hash of its input.
	AnnotationInput = v1alpha1.Group + "/job-input"
	// AnnotationAttempt counts Jobs of the same input, from 1.
	AnnotationAttempt = v1alpha1.Group + "/job-attempt"
	// AnnotationSerial is its number.
	AnnotationSerial = v1alpha1.Group + "/job-serial"
	// AnnotationDeadline is how long its process works at most.
	AnnotationDeadline = v1alpha1.Group + "/job-deadline"
	// AnnotationToken is what it applies.
	AnnotationToken = v1alpha1.Group + "/job-token"
	// AnnotationWhy says for people what it was started for.
	AnnotationWhy = v1alpha1.Group + "/job-why"
)

// kept is how long a Job stays that nobody has deleted.
const kept = 24 * time.Hour

// Place is where and as whom apply Jobs run.
type Place struct {
	// Namespace is the reconciler's own: in that of a cluster nobody but its users may make
	// an account.
	Namespace string
	// Account may do what an apply needs.
	Account string
}

// Name is the name of a Job. Those of kind apply are all in one namespace.
func Name(c *v1alpha1.ValkeyCluster, kind string, serial int64) string {
	if kind == Apply {
		sum := sha256.Sum256([]byte(c.Namespace))
		kind += "-" + hex.EncodeToString(sum[:])[:6]
	}
	return name.Job(c.Name, kind, serial)
}

// Object is the Job of an order. c has its defaults.
func Object(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL, o Order, serial int64, attempt int32, image string, place Place) (*batchv1.Job, error) {
	ttl := kept
	p := rendered.Params{
		Cluster: c, Kind: o.Kind, Name: Name(c, o.Kind, serial), Image: image,
		Args: append(rendered.Login(c), o.Args...), System: true,
		Deadline: Deadline(o.Kind), Margin: Margin(o.Kind), TTL: &ttl,
		Annotations: map[string]string{
			AnnotationKind: o.Kind, AnnotationInput: o.Input(), AnnotationAttempt: strconv.Itoa(int(attempt)),
			AnnotationSerial: strconv.FormatInt(serial, 10), AnnotationDeadline: Deadline(o.Kind).String(), AnnotationWhy: clip(o.Why),
			AnnotationToken: o.Token,
		},
		Owner: owner(c),
	}
	var err error
	switch {
	case o.Kind == Apply:
		p.Args, p.System, p.Owner = append([]string{"--owner=" + string(c.UID)}, o.Args...), false, nil
		p.Namespace, p.Account = place.Namespace, place.Account
		p.Spec, err = rendered.ApplyInput(c, acls)
	case c.IsSentinel():
		// What sentinels are told is in the spec alone.
		p.Spec, err = rendered.ConvergeInput(c)
		p.Args = append(p.Args, "--sentinel-password-file="+rendered.SystemDir+"/"+name.UserSentinel+acl.NextSuffix)
	}
	if err != nil {
		return nil, err
	}
	return rendered.New(p), nil
}

// owner makes objects go with the cluster.
func owner(c *v1alpha1.ValkeyCluster) *metav1.OwnerReference {
	return metav1.NewControllerRef(c, v1alpha1.GroupVersion().WithKind(v1alpha1.KindCluster))
}

// clip keeps what is said in an annotation short.
func clip(text string) string {
	const most = 400
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}
