// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// TestComposeIsPureAndParallel: the same input gives the same objects from any
// number of goroutines, the input stays as it is, and no two results share
// anything that can be written to.
func TestComposeIsPureAndParallel(t *testing.T) {
	for _, dir := range caseDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c, acls := readCase(t, dir)
			before := c.DeepCopy()
			const runs = 4
			var results [runs][]*unstructured.Unstructured
			var group sync.WaitGroup
			for i := range runs {
				group.Go(func() { results[i] = compose(t, c, acls) })
			}
			group.Wait()
			if !reflect.DeepEqual(before, c) {
				t.Errorf("the input changed: %s", cmp.Diff(before, c))
			}
			want := toYAML(t, results[1])
			for _, o := range results[0] {
				scribble(o.Object)
			}
			for i := 1; i < runs; i++ {
				if diff := cmp.Diff(string(want), string(toYAML(t, results[i]))); diff != "" {
					t.Errorf("run %d differs:\n%s", i, diff)
				}
			}
			if !reflect.DeepEqual(before, c) {
				t.Error("a result shares a part with the input")
			}
		})
	}
}

// scribble writes into every map and list.
func scribble(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, item := range v {
			scribble(item)
		}
		v["scribble"] = true
	case []any:
		for i, item := range v {
			scribble(item)
			v[i] = nil
		}
	}
}

func TestWhatCannotBeRenderedIsReported(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.ValkeyCluster)
		want   []string
	}{
		{"more config than the server takes", func(c *v1alpha1.ValkeyCluster) {
			big := strings.Repeat("x", 300<<10)
			c.Spec.Config = map[string]string{"proc-title-template": big, "notify-keyspace-events": big}
		}, []string{"ValkeyCluster/shop/orders: ", "spec.config: ", "a ConfigMap may have 1048576", "the annotations of an object may have 262144"}},
		{"a sentinel pod's annotations", func(c *v1alpha1.ValkeyCluster) {
			c.Spec.Topology = v1alpha1.TopologySentinel
			c.Spec.Pod = &v1alpha1.PodSpec{Annotations: map[string]string{"big": strings.Repeat("x", 300<<10)}}
		}, []string{"spec.pod.annotations: Too long: "}},
		{"a volume of ours", func(c *v1alpha1.ValkeyCluster) {
			c.Spec.Pod = &v1alpha1.PodSpec{Volumes: []corev1.Volume{{Name: "data"}}}
		}, []string{`spec.pod.volumes[0].name: "data" is a volume of the renderer`}},
		{"text that would be two directives", func(c *v1alpha1.ValkeyCluster) {
			c.Spec.Config = map[string]string{"databases": "4\x00", "tcp-backlog": "5\x00"}
		}, []string{"ValkeyCluster/shop/orders: ", "databases", "tcp-backlog"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &v1alpha1.ValkeyCluster{}
			cluster.Name, cluster.Namespace = "orders", "shop"
			c.change(cluster)
			cluster.Default()
			objects, err := Compose(cluster)
			if err == nil || objects != nil {
				t.Fatalf("no error, %d objects", len(objects))
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}
