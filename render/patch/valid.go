// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// problems says why the API server would refuse an object, or merge it wrongly:
// fields and types that it does not know, entries of one key, and the rules that
// a patch breaks most easily. Kinds whose types are not Kubernetes' own are only
// looked at from outside.
func problems(obj *unstructured.Unstructured) []string {
	var out []string
	values(&out, nil, obj.Object)
	metadata(&out, obj, "metadata")
	if at := template(obj); at != nil {
		metadata(&out, obj, append(slices.Clone(at), "metadata")...)
	}
	typed, why := decode(obj)
	if len(out) > 0 && len(why) == 1 && strings.HasPrefix(why[0], "quantities must match") {
		why = nil
	}
	if out = append(out, why...); len(out) > 0 {
		return out
	}
	switch o := typed.(type) {
	case *appsv1.StatefulSet:
		return statefulSet(o)
	case *batchv1.Job:
		return podSpec(field.NewPath("spec", "template", "spec"), &o.Spec.Template.Spec, nil)
	case *batchv1.CronJob:
		return podSpec(field.NewPath("spec", "jobTemplate", "spec", "template", "spec"), &o.Spec.JobTemplate.Spec.Template.Spec, nil)
	case *corev1.Service:
		return servicePorts(o)
	case *corev1.ConfigMap:
		return configMapKeys(o)
	case *policyv1.PodDisruptionBudget:
		if o.Spec.MinAvailable != nil && o.Spec.MaxUnavailable != nil {
			return []string{"spec has both minAvailable and maxUnavailable"}
		}
	}
	return nil
}

// decode reads an object into its type as the API server does when it is strict.
func decode(obj *unstructured.Unstructured) (any, []string) {
	var into any
	switch obj.GetAPIVersion() + " " + obj.GetKind() {
	case "apps/v1 StatefulSet":
		into = &appsv1.StatefulSet{}
	case "batch/v1 Job":
		into = &batchv1.Job{}
	case "batch/v1 CronJob":
		into = &batchv1.CronJob{}
	case "v1 Service":
		into = &corev1.Service{}
	case "v1 ConfigMap":
		into = &corev1.ConfigMap{}
	case "v1 " + kindClaim:
		into = &corev1.PersistentVolumeClaim{}
	case "policy/v1 " + kindBudget:
		into = &policyv1.PodDisruptionBudget{}
	case "networking.k8s.io/v1 NetworkPolicy":
		into = &networkingv1.NetworkPolicy{}
	case v1alpha1.GroupVersion().String() + " " + v1alpha1.KindCluster:
		into = &v1alpha1.ValkeyCluster{}
	case v1alpha1.GroupVersion().String() + " " + v1alpha1.KindACL:
		into = &v1alpha1.ValkeyACL{}
	default:
		return nil, foreign(obj)
	}
	raw, err := stdjson.Marshal(obj.Object)
	if err != nil {
		return nil, []string{err.Error()}
	}
	unknown, err := json.UnmarshalStrict(raw, into)
	if err != nil {
		return nil, []string{mistyped(raw, into, err)}
	}
	var why []string
	for _, e := range unknown {
		why = append(why, e.Error())
	}
	return into, why
}

// mistyped names the field of a wrong type, which only the standard library's
// error has.
func mistyped(raw []byte, into any, err error) string {
	var wrong *stdjson.UnmarshalTypeError
	if errors.As(stdjson.Unmarshal(raw, into), &wrong) && wrong.Field != "" {
		return fmt.Sprintf("%s is %s; %s is needed", wrong.Field, inWords(wrong.Value), inWords(wrong.Type.Kind().String()))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// inWords names a type of JSON or Go as YAML does.
func inWords(kind string) string {
	switch kind {
	case "object", "map", "struct":
		return "a mapping"
	case "array", "slice":
		return "a list"
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "int32", "int64":
		return "a whole number"
	}
	return kind
}

// foreign looks at an object of a type that is not Kubernetes' own.
func foreign(obj *unstructured.Unstructured) []string {
	var why []string
	for key, value := range obj.Object {
		_, isMapping := value.(map[string]any)
		switch {
		case key == "apiVersion", key == "kind":
		case key != "metadata" && key != "spec":
			why = append(why, fmt.Sprintf("unknown field %q", key))
		case !isMapping:
			why = append(why, key+" is not a mapping")
		}
	}
	for _, part := range []string{"labels", "annotations"} {
		if _, _, err := unstructured.NestedStringMap(obj.Object, "metadata", part); err != nil {
			why = append(why, "metadata."+part+" is not a mapping of text to text")
		}
	}
	slices.Sort(why)
	return why
}

// values looks for what its place cannot hold: nulls in lists, which take the
// place of an item (in mappings they are absent fields and were removed), and
// quantities that are none.
func values(out *[]string, at *field.Path, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			switch key {
			case "labels", "annotations", "data", "matchLabels", "nodeSelector":
				continue
			case "limits", "requests":
				amounts, _ := v[key].(map[string]any)
				for _, called := range sortedKeys(amounts) {
					amount(out, at.Child(key).Key(called), amounts[called])
				}
			case "sizeLimit", "divisor":
				amount(out, at.Child(key), v[key])
			}
			values(out, at.Child(key), v[key])
		}
	case []any:
		for i, item := range v {
			if item == nil {
				*out = append(*out, at.Index(i).String()+" is null")
			}
			values(out, at.Index(i), item)
		}
	}
}

func amount(out *[]string, at *field.Path, v any) {
	switch v.(type) {
	case string, int64, float64:
		if _, err := resource.ParseQuantity(fmt.Sprint(v)); err == nil {
			return
		}
	}
	*out = append(*out, fmt.Sprintf("%s is %v, which is no quantity", at, v))
}

// metadata checks the form of labels and annotations, and their size.
func metadata(out *[]string, obj *unstructured.Unstructured, path ...string) {
	at := field.NewPath(path[0], path[1:]...)
	// Of another type they are named by decode or foreign.
	labels, _, _ := unstructured.NestedStringMap(obj.Object, append(slices.Clone(path), "labels")...)
	annotations, _, _ := unstructured.NestedStringMap(obj.Object, append(slices.Clone(path), "annotations")...)
	errs := metav1validation.ValidateLabels(labels, at.Child("labels"))
	errs = append(errs, validation.ValidateAnnotations(annotations, at.Child("annotations"))...)
	for _, e := range errs {
		*out = append(*out, e.Error())
	}
}

func servicePorts(s *corev1.Service) []string {
	d := duplicates{seen: map[string]bool{}}
	at := field.NewPath("spec", "ports")
	for _, port := range s.Spec.Ports {
		d.add(at, "name", port.Name)
		d.add(at, "port", fmt.Sprintf("%d/%s", port.Port, orTCP(port.Protocol)))
		for _, why := range utilvalidation.IsValidPortNum(int(port.Port)) {
			d.why = append(d.why, at.String()+": "+why)
		}
		if len(s.Spec.Ports) > 1 && port.Name == "" {
			d.why = append(d.why, at.String()+": one of several has no name")
		}
	}
	return d.why
}

func configMapKeys(c *corev1.ConfigMap) []string {
	var why []string
	size := 0
	keys := map[string]bool{}
	for key, text := range c.Data {
		keys[key] = true
		size += len(text)
	}
	for key, bytes := range c.BinaryData {
		if keys[key] {
			why = append(why, fmt.Sprintf("key %q is in both data and binaryData", key))
		}
		keys[key] = true
		size += len(bytes)
	}
	for _, key := range sorted(keys) {
		for _, wrong := range utilvalidation.IsConfigMapKey(key) {
			why = append(why, fmt.Sprintf("key %q: %s", key, wrong))
		}
	}
	slices.Sort(why)
	if size > corev1.MaxSecretSize {
		why = append(why, fmt.Sprintf("data has %d bytes; %d are allowed", size, corev1.MaxSecretSize))
	}
	return why
}
