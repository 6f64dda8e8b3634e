// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
)

// fill sets every field below v to something, so that nothing is left out of
// what is compared.
func fill(v reflect.Value) {
	switch ptr := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*ptr = resource.MustParse("1Gi")
		return
	case *metav1.Time:
		*ptr = metav1.Unix(1, 0)
		return
	case *metav1.Duration:
		ptr.Duration = time.Second
		return
	case *intstr.IntOrString:
		*ptr = intstr.FromString("10%")
		return
	case *metav1.FieldsV1:
		ptr.SetRawBytes([]byte("{}"))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint('x')
	}
}

// shared returns the path of memory that two values both point to.
func shared(a, b reflect.Value, path string) string {
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if !a.IsNil() && a.Pointer() == b.Pointer() {
			return path
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			return shared(a.Elem(), b.Elem(), path)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).IsExported() {
				if at := shared(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); at != "" {
					return at
				}
			}
		}
	case reflect.Slice:
		for i := range a.Len() {
			if at := shared(a.Index(i), b.Index(i), path+"[]"); at != "" {
				return at
			}
		}
	}
	return ""
}

func TestCopiesShareNothingAndSurviveJSON(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{KindCluster, KindNode, KindACL, KindCluster + "List", KindNode + "List", KindACL + "List"} {
		object, err := scheme.New(GroupVersion().WithKind(kind))
		if err != nil {
			t.Fatal(err)
		}
		fill(reflect.ValueOf(object).Elem())
		clone := object.DeepCopyObject()
		if diff := cmp.Diff(object, clone); diff != "" {
			t.Errorf("%s: the copy differs (-object +copy):\n%s", kind, diff)
		}
		if at := shared(reflect.ValueOf(object), reflect.ValueOf(clone), kind); at != "" {
			t.Errorf("%s is shared with the copy", at)
		}
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		back, err := scheme.New(GroupVersion().WithKind(kind))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(object, back); diff != "" {
			t.Errorf("%s: JSON loses something (-before +after):\n%s", kind, diff)
		}
	}
}

// TestCopiesOfNothing covers what generated code does with nil.
func TestCopiesOfNothing(t *testing.T) {
	var filled ValkeyCluster
	fill(reflect.ValueOf(&filled).Elem())
	visit(t, reflect.ValueOf(&filled), map[reflect.Type]bool{})
	visit(t, reflect.ValueOf(&ValkeyACL{}), map[reflect.Type]bool{})
	visit(t, reflect.ValueOf(&ValkeyNode{}), map[reflect.Type]bool{})
}

// visit copies every type of this package below v, nil first.
func visit(t *testing.T, v reflect.Value, seen map[reflect.Type]bool) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Type()] {
			return
		}
		seen[v.Type()] = true
		if deepCopy := reflect.Zero(v.Type()).MethodByName("DeepCopy"); deepCopy.IsValid() && v.Elem().Type().PkgPath() == reflect.TypeFor[ValkeyCluster]().PkgPath() {
			if got := deepCopy.Call(nil)[0]; !got.IsNil() {
				t.Errorf("a copy of a nil %s is not nil", v.Type())
			}
			v.MethodByName("DeepCopy").Call(nil)
		}
		visit(t, v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Field(i).CanAddr() {
				visit(t, v.Field(i).Addr(), seen)
				visit(t, v.Field(i), seen)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(t, v.Index(i).Addr(), seen)
		}
	}
}

// TestExplicitFalseSurvives: what a person turned off stays off through the API
// server's defaults, a typed read and a typed write.
func TestExplicitFalseSurvives(t *testing.T) {
	const off = `
metadata: {name: cache}
spec:
  auth: {enabled: false}
  users: [{name: a, enabled: false}]
  tls: {clusterBus: false, reload: false}
  networkPolicy: {busPolicy: false}
  metrics: {podMonitor: {enabled: false}, prometheusRule: {enabled: false}, dashboard: {enabled: false}}
  rebalance: {enabled: false}
  rollout: {allowDataLoss: false}
  backup: {s3: {bucket: abc}, verify: false, retention: 0}
  replicasPerShard: 0
`
	server := newAPIServer(t, crd.ValkeyCluster())
	stored := server.read(t, complete(t, KindCluster, []byte(off)))
	for range 2 {
		var c ValkeyCluster
		data, err := json.Marshal(stored)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(err)
		}
		c.Default()
		s := c.Spec
		for name, value := range map[string]*bool{
			"auth.enabled": s.Auth.Enabled, "users[0].enabled": s.Users[0].Enabled,
			"tls.clusterBus": s.TLS.ClusterBus, "tls.reload": s.TLS.Reload, "networkPolicy.busPolicy": s.NetworkPolicy.BusPolicy,
			"podMonitor.enabled": s.Metrics.PodMonitor.Enabled, "prometheusRule.enabled": s.Metrics.PrometheusRule.Enabled,
			"dashboard.enabled": s.Metrics.Dashboard.Enabled, "rebalance.enabled": s.Rebalance.Enabled,
			"rollout.allowDataLoss": s.Rollout.AllowDataLoss, "backup.verify": s.Backup.Verify,
		} {
			if value == nil || *value {
				t.Errorf("%s is no longer false", name)
			}
		}
		if *s.Backup.Retention != 0 || *s.ReplicasPerShard != 0 {
			t.Errorf("retention %d, replicasPerShard %d, want 0", *s.Backup.Retention, *s.ReplicasPerShard)
		}
		if data, err = yaml.Marshal(c); err != nil {
			t.Fatal(err)
		}
		stored = server.read(t, complete(t, KindCluster, data))
	}
}

// TestStatusBeginsUnobserved: a status is unobserved until somebody wrote it, and
// what they wrote comes back.
func TestStatusBeginsUnobserved(t *testing.T) {
	server := newAPIServer(t, crd.ValkeyCluster())
	read := func(text string) ValkeyClusterStatus {
		data, err := json.Marshal(server.read(t, complete(t, KindCluster, []byte(text))))
		if err != nil {
			t.Fatal(err)
		}
		var c ValkeyCluster
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(err)
		}
		return c.Status
	}
	unseen := ValkeyClusterStatus{ObservedGeneration: -1, State: StateInitializing}
	for _, text := range []string{"{}", "status: {}", "status: {shards: 0, readyShards: 0}"} {
		if diff := cmp.Diff(unseen, read(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	seen := ValkeyClusterStatus{ObservedGeneration: 3, State: StateReady, Shards: 3, DrainedShards: []int32{0}}
	data, err := yaml.Marshal(ValkeyCluster{Status: seen})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seen, read(string(data))); diff != "" {
		t.Errorf("a written status changes (-want +got):\n%s", diff)
	}
	// A client that knows no status writes none.
	if data, err = json.Marshal(ValkeyCluster{}); err != nil || string(data) != "{}" {
		t.Errorf("an empty object is %s (%v), want {}", data, err)
	}
}
