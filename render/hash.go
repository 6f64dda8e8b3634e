// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/order"
)

// hashLength is how many hex digits of the SHA-256 an annotation carries. 64 bits
// are ample against accidents, and the hash guards against nothing else.
const hashLength = 16

// stamp gives every object of one unit the annotation valkey-render.dev/render-hash.
// An object's hash covers its own content, so that a change shows in the objects it
// touches and nowhere else; the ValkeyCluster's covers what its spec means and the
// hashes of all the others, so that one annotation tells whether what is live is
// what was rendered. cluster has its defaults; it is nil where there is none.
func stamp(objects []*unstructured.Unstructured, cluster *v1alpha1.ValkeyCluster) error {
	order.Sort(objects)
	all := sha256.New()
	sums := map[string]string{}
	var own *unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == v1alpha1.KindCluster {
			own = o
			continue
		}
		forget(o)
		sum, err := contentHash(o)
		if err != nil {
			return err
		}
		fmt.Fprintf(all, "%s %s\n", subject(o), sum)
		sums[o.GetKind()+"/"+o.GetName()] = sum
		if err := annotate(o, v1alpha1.AnnotationRenderHash, sum); err != nil {
			return err
		}
	}
	if own == nil || cluster == nil {
		return nil
	}
	sum, err := cluster.SpecHash()
	if err != nil {
		return fmt.Errorf("%s hash failed: %w", subject(own), err)
	}
	fmt.Fprintln(all, sum)
	return errors.Join(
		annotate(own, v1alpha1.AnnotationRenderHash, hex.EncodeToString(all.Sum(nil))[:hashLength]),
		annotate(own, v1alpha1.AnnotationSpecHash, sum),
		annotate(own, v1alpha1.AnnotationObjectsHash, name.ObjectsHash(cluster, func(o name.Object) string { return sums[o.Kind+"/"+o.Name] })),
	)
}

// forget takes an earlier stamp off, and the annotations with it when there is no
// other, so that the hash is that of an object never stamped.
func forget(o *unstructured.Unstructured) {
	annotations := o.GetAnnotations()
	if _, stamped := annotations[v1alpha1.AnnotationRenderHash]; !stamped {
		return
	}
	delete(annotations, v1alpha1.AnnotationRenderHash)
	if len(annotations) == 0 {
		annotations = nil
	}
	o.SetAnnotations(annotations)
}

// contentHash is the hash of an object as JSON, whose keys encoding/json sorts.
func contentHash(o *unstructured.Unstructured) (string, error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(o.Object); err != nil {
		return "", fmt.Errorf("%s hash failed: %w", subject(o), err)
	}
	return hex.EncodeToString(h.Sum(nil))[:hashLength], nil
}

func annotate(o *unstructured.Unstructured, key, sum string) error {
	if err := unstructured.SetNestedField(o.Object, sum, "metadata", "annotations", key); err != nil {
		return fmt.Errorf("%s annotate failed: %w", subject(o), err)
	}
	return nil
}

func subject(o *unstructured.Unstructured) string {
	return name.Subject(o.GetKind(), o.GetNamespace(), o.GetName())
}
