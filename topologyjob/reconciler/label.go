// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
)

// label gives pods their roles, in order: the first that fails ends it, so that no label of
// a primary is added while another one's was not taken away.
func (r *Reconciler) label(ctx context.Context, g *gathered, list []decision.Label) error {
	for _, l := range list {
		done, err := r.patchPod(ctx, g.cluster.Namespace, l.Pod, l.UID, "labels", name.LabelRole, string(l.Role))
		if err != nil {
			return err
		}
		if done {
			log.FromContext(ctx).Info("labelled pod", "pod", l.Pod, "role", l.Role)
		}
	}
	return nil
}

// anotherObject reports whether a patch was refused since the object has another UID.
func anotherObject(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// patchPod sets a label or an annotation of a pod if it is still the one that was looked at:
// a patch with another UID is a conflict. That, or that it is gone, is no error: the next
// look sees another pod. done is whether it was patched.
func (r *Reconciler) patchPod(ctx context.Context, namespace, pod, uid, field, key, value string) (done bool, err error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": uid, field: map[string]string{key: value}}})
	if err != nil {
		return false, err
	}
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod}}
	err = r.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager))
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsNotFound(err), anotherObject(err):
		return false, nil
	}
	return false, fmt.Errorf("%s not patched: %w", name.Subject("Pod", namespace, pod), err)
}
