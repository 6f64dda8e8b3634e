// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Group is the API group of every kind in this package.
	Group = "valkey-render.dev"
	// Version is the version of the API group in this package.
	Version = "v1alpha1"
	// KindCluster is the kind of a ValkeyCluster.
	KindCluster = "ValkeyCluster"
	// KindNode is the kind of a ValkeyNode.
	KindNode = "ValkeyNode"
	// KindACL is the kind of a ValkeyACL.
	KindACL = "ValkeyACL"
)

// GroupVersion returns valkey-render.dev/v1alpha1.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: Version}
}

// AddToScheme registers the kinds of this package with scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(),
		&ValkeyCluster{}, &ValkeyClusterList{},
		&ValkeyNode{}, &ValkeyNodeList{},
		&ValkeyACL{}, &ValkeyACLList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
