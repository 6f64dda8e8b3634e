// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/name"
)

// Jobs returns what a cluster with jobs: Rendered has in place of its ValkeyCluster
// and ValkeyACLs: its Jobs, and what they may do. image is that of the programs.
// Jobs have their final names after NameJobs.
func Jobs(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL, image string) ([]*unstructured.Unstructured, error) {
	rendered, err := job.Render(c, acls, image)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name.Subject(v1alpha1.KindCluster, c.Namespace, c.Name), err)
	}
	var s sink
	add(&s, rendered.Account)
	add(&s, rendered.Role)
	add(&s, rendered.Binding)
	for _, j := range rendered.Jobs {
		j.Annotations = verbatim()
		s.check(annotationsFit(field.NewPath("spec", "users"), j.Spec.Template.Annotations))
		add(&s, j)
	}
	if err := errors.Join(s.problems...); err != nil {
		return nil, fmt.Errorf("%s: %w", name.Subject(v1alpha1.KindCluster, c.Namespace, c.Name), err)
	}
	return s.objects, nil
}

// NameJobs gives rendered Jobs their names, which follow from all that is in them. It
// comes after everything that changes one.
func NameJobs(objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		if o.GetKind() != "Job" {
			continue
		}
		named, err := job.Rename(o.GetName(), o.Object["spec"])
		if err != nil {
			return err
		}
		o.SetName(named)
	}
	return nil
}
