// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestWithoutTaken(t *testing.T) {
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	const service = `
metadata: {name: cache, annotations: {ours: a, theirs: b}, labels: {theirs: b, both: c}}
spec:
  sessionAffinity: ClientIP
  selector: {app: x}
  externalIPs: [1.1.1.1, 2.2.2.2]
  ports: [{name: a, port: 1, protocol: TCP}, {name: b, port: 2, protocol: TCP, nodePort: 30000}, {name: c, port: 3, protocol: TCP, nodePort: 30001}]
`
	const ours = `{"f:metadata":{"f:annotations":{"f:ours":{}},"f:labels":{"f:both":{}}},"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}}`
	const theirs = `{"f:metadata":{"f:annotations":{".":{},"f:theirs":{}},"f:labels":{".":{},"f:theirs":{},"f:both":{}}},"f:spec":{"f:sessionAffinity":{},"f:selector":{},` +
		`"f:externalIPs":{"v:\"1.1.1.1\"":{}},"f:ports":{".":{},"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:name":{}},` +
		`"k:{\"port\":2,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}},"k:{\"port\":3,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}}`
	const third = `{"f:spec":{"f:ports":{"k:{\"port\":3,\"protocol\":\"TCP\"}":{"f:nodePort":{}}}}}`
	o := parsed(t, "apiVersion: v1\nkind: Service\n"+service)
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	o.SetManagedFields([]metav1.ManagedFieldsEntry{entry(FieldManager, apply, ours), entry("helm", update, theirs), entry("controller", update, third)})
	o.SetAnnotations(map[string]string{"ours": "a", "theirs": "b", "meta.helm.sh/release-name": "x"})
	before := o.DeepCopy()
	got, err := withoutTaken(o)
	if err != nil {
		t.Fatal(err)
	}
	got.SetManagedFields(nil)
	text, err := yaml.Marshal(got.Object)
	if err != nil {
		t.Fatal(err)
	}
	// What has no owner stays where an item of it does; an item goes as a whole, but
	// for what others have in it.
	want := `apiVersion: v1
kind: Service
metadata:
  annotations:
    ours: a
  labels:
    both: c
  name: cache
spec:
  externalIPs:
  - 2.2.2.2
  ports:
  - name: a
    port: 1
    protocol: TCP
  - nodePort: 30001
    protocol: TCP
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(before.Object, o.Object); diff != "" {
		t.Errorf("the object itself was changed\n%s", diff)
	}
}
