// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SecretKeyRef names one key of a Secret in the cluster's namespace.
type SecretKeyRef struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// key in the Secret.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}

// AuthSpec configures the default user.
// +kubebuilder:validation:XValidation:rule="self.enabled || !has(self.existingSecret)",fieldPath=".existingSecret",reason=FieldValueForbidden,message="auth is not enabled"
type AuthSpec struct {
	// enabled asks clients for a password. Default true.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// existingSecret holds the password; key defaults to `password`. Absent: the
	// Secret <cluster>-auth with a password made in the cluster.
	// +optional
	ExistingSecret *SecretKeyRef `json:"existingSecret,omitempty"`
}

// UserSpec is an ACL user.
// +kubebuilder:validation:XValidation:rule="!has(self.nopass) || !self.nopass || !has(self.passwordSecret)",fieldPath=".passwordSecret",reason=FieldValueForbidden,message="a user with nopass has no password"
// +kubebuilder:validation:XValidation:rule="(has(self.nopass) && self.nopass) || (has(self.passwordSecret) && has(self.passwordSecret.keys)) || self.name.matches('^[-._a-zA-Z0-9]+$')",fieldPath=".name",message="the user's name cannot be a key of a Secret: set passwordSecret.keys"
type UserSpec struct {
	// name of the user. Not `default`, not starting with an underscore.
	// +kubebuilder:validation:XValidation:rule="self != 'default'",message="is the default user, which spec.auth describes"
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._@:+-]*$`
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name"`
	// enabled lets the user log in. Default true.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// passwordSecret holds the user's passwords. A missing Secret or an empty
	// password is an error, never a user without password.
	// +optional
	PasswordSecret *UserPasswordSecret `json:"passwordSecret,omitempty"`
	// nopass lets the user log in with any password. Excludes passwordSecret.
	// +optional
	Nopass bool `json:"nopass,omitempty"`
	// commands that the user may and may not run.
	// +optional
	Commands *UserCommands `json:"commands,omitempty"`
	// keys are patterns of the keys the user may touch.
	// +optional
	Keys *UserKeys `json:"keys,omitempty"`
	// channels are patterns of the pub/sub channels the user may use.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[^\x00-\x20\x7f]+$`
	// +optional
	Channels []string `json:"channels,omitempty"`
	// permissions are further ACL rules, as ACL SETUSER takes them, added last:
	// no passwords, no on, off, nopass, reset or resetpass.
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]*$`
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Permissions string `json:"permissions,omitempty"`
}

// UserPasswordSecret names keys of a Secret; each holds one valid password, or
// its SHA-256 as `#` and 64 hex digits. Several keys let a password be rotated.
type UserPasswordSecret struct {
	// name of the Secret. Default <cluster>-users.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Name string `json:"name,omitempty"`
	// keys in the Secret. Default: the user's name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[-._a-zA-Z0-9]+$`
	// +optional
	Keys []string `json:"keys,omitempty"`
}

// UserCommands are commands, categories (@read) and subcommands (config|get).
type UserCommands struct {
	// allow lists what the user may run.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^(@[a-z][a-z0-9_-]*|[a-z][a-z0-9._-]*([|][a-z0-9._-]+)?)$`
	// +optional
	Allow []string `json:"allow,omitempty"`
	// deny lists what the user may not run; it is applied after allow.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^(@[a-z][a-z0-9_-]*|[a-z][a-z0-9._-]*([|][a-z0-9._-]+)?)$`
	// +optional
	Deny []string `json:"deny,omitempty"`
}

// UserKeys are key patterns.
type UserKeys struct {
	// readWrite patterns (~pattern).
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[^\x00-\x20\x7f]+$`
	// +optional
	ReadWrite []string `json:"readWrite,omitempty"`
	// readOnly patterns (%R~pattern).
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[^\x00-\x20\x7f]+$`
	// +optional
	ReadOnly []string `json:"readOnly,omitempty"`
	// writeOnly patterns (%W~pattern).
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[^\x00-\x20\x7f]+$`
	// +optional
	WriteOnly []string `json:"writeOnly,omitempty"`
}

// TLSClientAuth says whether clients must present a certificate.
// +kubebuilder:validation:Enum=Off;Optional;Required
type TLSClientAuth string

const (
	// TLSClientAuthOff ignores client certificates.
	TLSClientAuthOff TLSClientAuth = "Off"
	// TLSClientAuthOptional verifies a client certificate when one is given.
	TLSClientAuthOptional TLSClientAuth = "Optional"
	// TLSClientAuthRequired refuses clients without a valid certificate.
	TLSClientAuthRequired TLSClientAuth = "Required"
)

// TLSSpec configures TLS.
type TLSSpec struct {
	// secretName of the Secret with ca.crt, tls.crt and tls.key. Default
	// <cluster>-tls.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SecretName string `json:"secretName,omitempty"`
	// issuerRef asks cert-manager for the certificate: a Certificate is rendered
	// that fills secretName.
	// +optional
	IssuerRef *IssuerRef `json:"issuerRef,omitempty"`
	// clientAuth says whether clients must present a certificate: Off, Optional
	// (default) or Required.
	// +kubebuilder:default=Optional
	// +optional
	ClientAuth TLSClientAuth `json:"clientAuth,omitempty"`
	// clusterBus encrypts the cluster bus. Default true. Immutable.
	// +kubebuilder:default=true
	// +optional
	ClusterBus *bool `json:"clusterBus,omitempty"`
	// minVersion of the protocol: "1.2" (default) or "1.3".
	// +kubebuilder:default="1.2"
	// +kubebuilder:validation:Enum="1.2";"1.3"
	// +optional
	MinVersion string `json:"minVersion,omitempty"`
	// reload serves a renewed certificate without a restart. Default true.
	// +kubebuilder:default=true
	// +optional
	Reload *bool `json:"reload,omitempty"`
}

// IssuerRef names a cert-manager issuer.
// +kubebuilder:validation:XValidation:rule="self.group != 'cert-manager.io' || self.kind in ['Issuer', 'ClusterIssuer']",fieldPath=".kind",message="must be Issuer or ClusterIssuer"
type IssuerRef struct {
	// name of the issuer.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// kind of the issuer. Default Issuer.
	// +kubebuilder:default=Issuer
	// +optional
	Kind string `json:"kind,omitempty"`
	// group of the issuer. Default cert-manager.io.
	// +kubebuilder:default=cert-manager.io
	// +optional
	Group string `json:"group,omitempty"`
}

// Announce says how a node names itself to clients and peers.
// +kubebuilder:validation:Enum=ip;hostname
type Announce string

const (
	// AnnounceIP announces the pod's IP.
	AnnounceIP Announce = "ip"
	// AnnounceHostname announces the pod's DNS name.
	AnnounceHostname Announce = "hostname"
)

// NetworkingSpec holds ports, names and address families.
type NetworkingSpec struct {
	// port that clients connect to, the same with TLS. The cluster bus listens
	// on port+10000. Default 6379. Immutable.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=55535
	// +kubebuilder:validation:XValidation:rule="self != 9121",message="is the exporter's port"
	// +optional
	Port *int32 `json:"port,omitempty"`
	// clusterDomain of the Kubernetes cluster. Default cluster.local.
	// +kubebuilder:validation:MaxLength=91
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	ClusterDomain string `json:"clusterDomain,omitempty"`
	// ipFamily of pods and Services: IPv4 or IPv6. Absent: the cluster's own.
	// Immutable while set.
	// +kubebuilder:validation:Enum=IPv4;IPv6
	// +optional
	IPFamily string `json:"ipFamily,omitempty"`
	// externalAccess gives every pod an address outside the cluster.
	// +optional
	ExternalAccess *ExternalAccessSpec `json:"externalAccess,omitempty"`
	// announce says how nodes name themselves: ip or hostname. Default: hostname
	// with TLS (certificates carry names), else ip.
	// +optional
	Announce Announce `json:"announce,omitempty"`
}

// ExternalAccessSpec gives every pod an address outside the cluster.
type ExternalAccessSpec struct {
	// type of the per-pod Services: LoadBalancer or NodePort.
	// +kubebuilder:validation:Enum=LoadBalancer;NodePort
	Type string `json:"type"`
	// annotations of the per-pod Services.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// hostnameTemplate of the announced names, with {pod}, {shard} and {index}.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	HostnameTemplate string `json:"hostnameTemplate,omitempty"`
}

// ReplicateFromSpec follows a primary outside of this cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.caSecret) || (has(self.tls) && self.tls)",fieldPath=".caSecret",reason=FieldValueForbidden,message="needs tls: true beside it"
type ReplicateFromSpec struct {
	// host of the primary.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host"`
	// port of the primary. Default 6379.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
	// tls connects by TLS.
	// +optional
	TLS bool `json:"tls,omitempty"`
	// passwordSecret holds the primary's password; key defaults to `password`.
	// +optional
	PasswordSecret *SecretKeyRef `json:"passwordSecret,omitempty"`
	// caSecret holds the CA that signed the primary's certificate; key defaults
	// to ca.crt. Needs tls here and spec.tls.
	// +optional
	CASecret *SecretKeyRef `json:"caSecret,omitempty"`
}

// ValkeyACLSpec adds users to a cluster.
type ValkeyACLSpec struct {
	// clusterRef names the ValkeyCluster, in the same namespace. Immutable.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterRef is immutable"
	ClusterRef ClusterRef `json:"clusterRef"`
	// users to add. A name that spec.users of the cluster has too is an error.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Users []UserSpec `json:"users"`
}

// ClusterRef names a ValkeyCluster.
type ClusterRef struct {
	// name of the ValkeyCluster.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('-([0-9]+|nodes|primary|replicas|sentinel|live|scripts|bus)$')",message="must not end as names of another cluster's objects do"
	Name string `json:"name"`
}

// ValkeyACLStatus is what the reconciler did with a ValkeyACL.
type ValkeyACLStatus struct {
	// observedGeneration is the generation that the status speaks of; -1 before
	// the first look.
	// +kubebuilder:default=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// users is how many users are in effect.
	// +optional
	Users int32 `json:"users,omitempty"`
	// appliedNodes is on how many nodes they are.
	// +optional
	AppliedNodes int32 `json:"appliedNodes,omitempty"`
	// conditions: Ready.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ValkeyACL adds ACL users to a ValkeyCluster. Deleting it removes them.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vkacl
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=".spec.clusterRef.name"
// +kubebuilder:printcolumn:name="Users",type=integer,JSONPath=".status.users"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type ValkeyACL struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what is asked for.
	Spec ValkeyACLSpec `json:"spec"`
	// status is what the reconciler did.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status ValkeyACLStatus `json:"status,omitzero"`
}

// ValkeyACLList is a list of ValkeyACL.
// +kubebuilder:object:root=true
type ValkeyACLList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ValkeyACL `json:"items"`
}
