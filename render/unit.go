// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/advice"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/object"
	"github.com/valkey-render/valkey-render/render/patch"
)

// unit is one cluster with its ACLs, or ACLs whose cluster is rendered elsewhere.
type unit struct {
	origin finding.Origin
	// written is the cluster as it was read, effective the same with its defaults.
	// Both are nil without a cluster in the run.
	written, effective *v1alpha1.ValkeyCluster
	acls               []*v1alpha1.ValkeyACL
	// jobImage is the image of rendered Jobs.
	jobImage string
}

// outcome is what became of one unit.
type outcome struct {
	objects  []*unstructured.Unstructured
	findings finding.List
}

// key identifies a cluster in one run.
type key struct{ namespace, name string }

// plan gives every cluster its ACLs. set and effective are of one order.
func plan(set, effective load.Set, jobImage string) []unit {
	units := make([]unit, len(set.Clusters))
	at := make(map[key]int, len(units))
	for i, c := range set.Clusters {
		units[i] = unit{origin: c.Origin.Finding(), written: c.Object, effective: effective.Clusters[i].Object, jobImage: jobImage}
		at[key{c.Object.Namespace, c.Object.Name}] = i
	}
	for _, a := range set.ACLs {
		k := key{a.Object.Namespace, a.Object.Spec.ClusterRef.Name}
		i, known := at[k]
		if !known {
			i = len(units)
			at[k] = i
			units = append(units, unit{origin: a.Origin.Finding()})
		}
		units[i].acls = append(units[i].acls, a.Object)
	}
	return units
}

// compose renders a unit that is valid.
func (u unit) compose() outcome {
	objects, err := u.objects()
	if err != nil {
		return u.failed(err)
	}
	var findings finding.List
	if u.effective != nil && len(u.effective.Spec.Patches) > 0 {
		// Stamped before as well, so that a patch can add an annotation to any
		// object: the path of a JSON 6902 operation must exist.
		if err := stamp(objects, u.effective); err != nil {
			return u.failed(err)
		}
		patched, idle, errs := patch.Apply(objects, u.effective.Spec.Patches)
		if len(errs) > 0 {
			return outcome{findings: finding.FromFieldErrors(u.origin, errs)}
		}
		objects = patched
		findings = advise(u.origin, append(advice.Rendered(objects), advice.Idle(idle)...))
	}
	if err := object.NameJobs(objects); err != nil {
		return u.failed(err)
	}
	if err := stamp(objects, u.effective); err != nil {
		return u.failed(err)
	}
	return outcome{objects: objects, findings: findings}
}

// objects are the specs as written, or the Jobs in their place, and what runs the
// cluster.
func (u unit) objects() ([]*unstructured.Unstructured, error) {
	if u.effective == nil {
		var objects []*unstructured.Unstructured
		for _, a := range u.acls {
			o, err := object.ACL(a)
			if err != nil {
				return nil, err
			}
			objects = append(objects, o)
		}
		return objects, nil
	}
	objects, err := object.Compose(u.effective)
	if err != nil {
		return nil, err
	}
	if u.effective.EffectiveJobs() == v1alpha1.JobsRendered {
		// Nothing in the cluster reads the specs, or knows their kinds.
		jobs, err := object.Jobs(u.effective, u.acls, u.jobImage)
		return append(objects, jobs...), err
	}
	specs, err := object.Specs(u.written, u.acls)
	return append(objects, specs...), err
}

// failed reports what a unit could not be rendered for: an error of a field at its
// path, and what nobody foresaw as a defect.
func (u unit) failed(err error) outcome {
	fields, others := fieldErrors(err)
	findings := finding.FromFieldErrors(u.origin, fields)
	for _, other := range others {
		findings = append(findings, u.origin.New(finding.Unchecked, "", other.Error()))
	}
	return outcome{findings: findings}
}

// fieldErrors takes apart what errors.Join and %w put together.
func fieldErrors(err error) (fields field.ErrorList, others []error) {
	var joined interface{ Unwrap() []error }
	var one *field.Error
	switch {
	case errors.As(err, &joined):
		for _, part := range joined.Unwrap() {
			f, o := fieldErrors(part)
			fields, others = append(fields, f...), append(others, o...)
		}
	case errors.As(err, &one):
		fields = field.ErrorList{one}
	}
	if len(fields) == 0 {
		// The wrapped text says more than its parts.
		return nil, []error{err}
	}
	return fields, others
}
