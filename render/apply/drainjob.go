// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/name"
)

// A drain is given up early: unlike with a Job that came with manifests, somebody waits for
// it and can start it again, which goes on where it stopped.
const (
	drainDeadline = 6 * time.Hour
	drainMargin   = 10 * time.Minute
	drainRetries  = 1
)

// kindDrain is the kind of work, as names of Jobs have it.
const kindDrain = "drain"

// drainJob is the converge Job as it is rendered, with the image, the login and the patches
// that it has, told to empty the shards that are there beyond those that are rendered. The
// shards that are there have so many replicas now.
func drainJob(c Cluster, present int32, replicas int64) (*unstructured.Unstructured, error) {
	i := slices.IndexFunc(c.Objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "Job" && strings.HasPrefix(o.GetName(), name.RenderedJob(c.Name, job.KindConverge, ""))
	})
	if i < 0 {
		return nil, errors.New("no converge Job is rendered")
	}
	from := c.Objects[i]
	j := &unstructured.Unstructured{Object: map[string]any{"apiVersion": from.GetAPIVersion(), "kind": from.GetKind()}}
	j.SetNamespace(from.GetNamespace())
	j.SetLabels(from.GetLabels())
	spec, _, err := unstructured.NestedMap(from.Object, "spec")
	if err != nil {
		return nil, err
	}
	j.Object["spec"] = spec
	if err := errors.Join(
		tellDrain(j, present), atPresent(j, replicas),
		unstructured.SetNestedField(j.Object, int64(drainRetries), "spec", "backoffLimit"),
		unstructured.SetNestedField(j.Object, int64((1+drainRetries)*(drainDeadline+drainMargin).Seconds()), "spec", "activeDeadlineSeconds"),
	); err != nil {
		return nil, err
	}
	named, err := job.Rename(name.RenderedJob(c.Name, kindDrain, "hash"), j.Object["spec"])
	if err != nil {
		return nil, err
	}
	j.SetName(named)
	return j, nil
}

// tellDrain changes the arguments of a converge Job to those of a drain.
func tellDrain(j *unstructured.Unstructured, present int32) error {
	path := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(j.Object, path...)
	if err != nil {
		return err
	}
	told := false
	for _, item := range containers {
		container, _ := item.(map[string]any)
		if container["name"] != job.ContainerName {
			continue
		}
		args, _ := container["args"].([]any)
		for i, arg := range args {
			switch text, _ := arg.(string); {
			case text == "--kind="+job.KindConverge:
				args[i], told = "--kind="+kindDrain, true
			case strings.HasPrefix(text, "--deadline="):
				args[i] = fmt.Sprintf("--deadline=%ds", int64(drainDeadline.Seconds()))
			}
		}
		container["args"] = append(args, fmt.Sprintf("--present-shards=%d", present))
	}
	if !told {
		return errors.New("the rendered converge Job has no argument --kind=converge")
	}
	return unstructured.SetNestedSlice(j.Object, containers, path...)
}

// atPresent puts into the spec that a Job reads how many replicas there are: the same change
// may add some, which nobody has made yet.
func atPresent(j *unstructured.Unstructured, replicas int64) error {
	path := []string{"spec", "template", "metadata", "annotations", v1alpha1.AnnotationSpec}
	text, found, err := unstructured.NestedString(j.Object, path...)
	if err != nil || !found {
		return errors.Join(err, fmt.Errorf("the rendered converge Job needs the annotation %s", v1alpha1.AnnotationSpec))
	}
	var input map[string]any
	if err := yaml.Unmarshal([]byte(text), &input); err != nil {
		return fmt.Errorf("annotation %s: %w", v1alpha1.AnnotationSpec, err)
	}
	if err := unstructured.SetNestedField(input, replicas, "spec", "replicasPerShard"); err != nil {
		return err
	}
	data, err := yaml.Marshal(input)
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(j.Object, string(data), path...)
}
