// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// DefaultPort is the port that clients connect to.
	DefaultPort = 6379
	// BusPortOffset is what the server adds to its port for the cluster bus.
	BusPortOffset = 10000
	// DefaultClusterDomain is the DNS domain of most Kubernetes clusters.
	DefaultClusterDomain = "cluster.local"
	// DefaultTLSVersion is the lowest TLS version that is accepted.
	DefaultTLSVersion = "1.2"
	// DefaultIssuerKind is the kind of an issuer that names none.
	DefaultIssuerKind = "Issuer"
	// DefaultIssuerGroup is the API group of an issuer that names none.
	DefaultIssuerGroup = "cert-manager.io"
)

// AuthEnabled says whether the default user needs a password; absent is on.
func (c *ValkeyCluster) AuthEnabled() bool {
	return c.Spec.Auth == nil || deref(c.Spec.Auth.Enabled, true)
}

// AuthSecret returns the Secret and key of the default user's password:
// existingSecret, else <cluster>-auth, which the reconciler makes.
func (c *ValkeyCluster) AuthSecret() SecretKeyRef {
	if c.Spec.Auth == nil || c.Spec.Auth.ExistingSecret == nil {
		return SecretKeyRef{Name: c.Name + "-auth", Key: PasswordKey}
	}
	return c.Spec.Auth.ExistingSecret.withKey(PasswordKey)
}

// withKey returns the reference with key filled in when it names none.
func (r SecretKeyRef) withKey(key string) SecretKeyRef {
	if r.Key == "" {
		r.Key = key
	}
	return r
}

// IsEnabled says whether the user may log in; absent is yes.
func (u *UserSpec) IsEnabled() bool { return deref(u.Enabled, true) }

// Password returns the Secret and the keys that hold the passwords of a user of
// the named cluster: by default the key <user> of Secret <cluster>-users. It is
// nil for a user without password.
func (u *UserSpec) Password(cluster string) *UserPasswordSecret {
	if u.Nopass {
		return nil
	}
	secret := UserPasswordSecret{Name: cluster + "-users", Keys: []string{u.Name}}
	if u.PasswordSecret == nil {
		return &secret
	}
	if u.PasswordSecret.Name != "" {
		secret.Name = u.PasswordSecret.Name
	}
	if len(u.PasswordSecret.Keys) > 0 {
		secret.Keys = append([]string(nil), u.PasswordSecret.Keys...)
	}
	return &secret
}

// TLSEnabled says whether the server speaks TLS, and only TLS.
func (c *ValkeyCluster) TLSEnabled() bool { return c.Spec.TLS != nil }

// TLSSecretName returns the Secret with ca.crt, tls.crt and tls.key; empty
// without TLS.
func (c *ValkeyCluster) TLSSecretName() string {
	switch {
	case c.Spec.TLS == nil:
		return ""
	case c.Spec.TLS.SecretName == "":
		return c.Name + "-tls"
	default:
		return c.Spec.TLS.SecretName
	}
}

// TLSClientAuth says whether clients must present a certificate: Optional by
// default, Off without TLS.
func (c *ValkeyCluster) TLSClientAuth() TLSClientAuth {
	switch {
	case c.Spec.TLS == nil:
		return TLSClientAuthOff
	case c.Spec.TLS.ClientAuth == "":
		return TLSClientAuthOptional
	default:
		return c.Spec.TLS.ClientAuth
	}
}

// TLSMinVersion returns the lowest TLS version, as "1.2".
func (c *ValkeyCluster) TLSMinVersion() string {
	if c.Spec.TLS == nil || c.Spec.TLS.MinVersion == "" {
		return DefaultTLSVersion
	}
	return c.Spec.TLS.MinVersion
}

// ClusterBusTLS says whether the cluster bus is encrypted.
func (c *ValkeyCluster) ClusterBusTLS() bool {
	return c.Spec.TLS != nil && c.IsCluster() && deref(c.Spec.TLS.ClusterBus, true)
}

// TLSReload says whether a renewed certificate is served without a restart.
func (c *ValkeyCluster) TLSReload() bool {
	return c.Spec.TLS != nil && deref(c.Spec.TLS.Reload, true)
}

// Port returns the port that clients connect to, with TLS and without.
func (c *ValkeyCluster) Port() int32 {
	if c.Spec.Networking == nil {
		return DefaultPort
	}
	return deref(c.Spec.Networking.Port, DefaultPort)
}

// BusPort returns the port of the cluster bus.
func (c *ValkeyCluster) BusPort() int32 { return c.Port() + BusPortOffset }

// ClusterDomain returns the DNS domain of the Kubernetes cluster.
func (c *ValkeyCluster) ClusterDomain() string {
	if c.Spec.Networking == nil || c.Spec.Networking.ClusterDomain == "" {
		return DefaultClusterDomain
	}
	return c.Spec.Networking.ClusterDomain
}

// Announce says how nodes name themselves: by default hostname with TLS, whose
// certificates carry names, else ip.
func (c *ValkeyCluster) Announce() Announce {
	switch {
	case c.Spec.Networking != nil && c.Spec.Networking.Announce != "":
		return c.Spec.Networking.Announce
	case c.TLSEnabled():
		return AnnounceHostname
	default:
		return AnnounceIP
	}
}

// NetworkPolicyEnabled says whether a policy restricts who may connect.
func (c *ValkeyCluster) NetworkPolicyEnabled() bool {
	return c.Spec.NetworkPolicy != nil && c.Spec.NetworkPolicy.Enabled
}

// BusPolicyEnabled says whether the rule is rendered that only pods of the same
// cluster reach the cluster bus.
func (c *ValkeyCluster) BusPolicyEnabled() bool {
	return c.Spec.NetworkPolicy == nil || deref(c.Spec.NetworkPolicy.BusPolicy, true)
}

// AllowFrom returns who may connect under the network policy: by default every
// pod of the namespace.
func (c *ValkeyCluster) AllowFrom() []networkingv1.NetworkPolicyPeer {
	if c.Spec.NetworkPolicy == nil || len(c.Spec.NetworkPolicy.AllowFrom) == 0 {
		return []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}
	}
	return c.Spec.NetworkPolicy.AllowFrom
}
