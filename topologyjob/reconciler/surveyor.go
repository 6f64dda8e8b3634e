// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
	"github.com/valkey-render/valkey-render/topologyjob/settle"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Login is how a cluster's servers are talked to.
type Login struct {
	// Passwords of the operator's user, in the order in which they are tried.
	Passwords []string
	// TLS is nil without.
	TLS *Certificates
}

// String keeps passwords out of logs.
func (l Login) String() string { return name.UserOperator }

// Certificates are those of spec.tls, in PEM.
type Certificates struct {
	// Secret that they are in.
	Secret        string
	CA, Cert, Key []byte
}

// Surveyor asks the servers of clusters. Tests put a model of servers in the place of
// Servers.
type Surveyor interface {
	// Survey asks the pods of one cluster.
	Survey(ctx context.Context, cluster types.NamespacedName, login Login, who Asked) survey.View
	// Passwords asks each of them that runs what it knows of passwords.
	Passwords(ctx context.Context, cluster types.NamespacedName, login Login, who Asked) []setting.Passwords
	// Rest tells that a cluster is not asked again for a while, or ever.
	Rest(cluster types.NamespacedName)
}

// Asked says who is asked, and what.
type Asked struct {
	Topology        v1alpha1.Topology
	Pods, Sentinels []survey.Pod
}

// Servers asks real servers, over connections that stay while a cluster is not at rest.
type Servers struct {
	mu    sync.Mutex
	pools map[types.NamespacedName]*pool
}

var _ Surveyor = (*Servers)(nil)

// NewServers makes a Surveyor of real servers.
func NewServers() *Servers { return &Servers{pools: map[types.NamespacedName]*pool{}} }

// pool are the connections to one cluster with one login.
type pool struct {
	*node.Pool
	login [sha256.Size]byte
}

// Survey implements Surveyor.
func (s *Servers) Survey(ctx context.Context, cluster types.NamespacedName, login Login, who Asked) survey.View {
	p, err := s.pool(cluster, login)
	if err != nil {
		v := survey.View{Topology: who.Topology}
		for _, pod := range who.Pods {
			v.Answers = append(v.Answers, survey.Answer{Pod: pod, Problem: &survey.Problem{Code: survey.Denied, Message: err.Error()}})
		}
		return v
	}
	return survey.Asker{Pool: p.Pool, Topology: who.Topology, Sentinels: who.Sentinels}.Take(ctx, who.Pods)
}

// Passwords implements Surveyor.
func (s *Servers) Passwords(ctx context.Context, cluster types.NamespacedName, login Login, who Asked) []setting.Passwords {
	p, err := s.pool(cluster, login)
	if err != nil {
		// Who cannot be asked has told nothing.
		return make([]setting.Passwords, len(who.Pods)+len(who.Sentinels))
	}
	var pods []settle.Pod
	for i, pod := range slices.Concat(who.Pods, who.Sentinels) {
		pods = append(pods, settle.Pod{
			Name: pod.Name, Host: pod.Host, Port: pod.Port, ServerName: pod.ServerName,
			Sentinel: i >= len(who.Pods), Stopped: pod.Runs == survey.Stopped,
		})
	}
	return settle.SurveyPasswords(ctx, settle.Options{Pods: pods, Pool: p.Pool, Timeout: passwordsTimeout})
}

// passwordsTimeout is how long one server may take to tell what it knows of passwords.
const passwordsTimeout = 2 * time.Second

// Rest implements Surveyor.
func (s *Servers) Rest(cluster types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pools[cluster]; p != nil {
		p.Close()
		delete(s.pools, cluster)
	}
}

// pool returns the connections of a cluster; those of another login are closed.
func (s *Servers) pool(cluster types.NamespacedName, login Login) (*pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := login.sum()
	p := s.pools[cluster]
	if p != nil && p.login == sum {
		return p, nil
	}
	config, err := login.TLS.config()
	if err != nil {
		return nil, err
	}
	if p != nil {
		p.Close()
	}
	passwords := login.Passwords
	p = &pool{Pool: node.NewPool(client.Dialer{
		Username: name.UserOperator, TLS: config,
		Passwords: func() ([]string, error) { return passwords, nil },
	}), login: sum}
	s.pools[cluster] = p
	return p, nil
}

func (l Login) sum() [sha256.Size]byte {
	var b bytes.Buffer
	add := func(part []byte) { fmt.Fprintf(&b, "%d:%s", len(part), part) }
	for _, password := range l.Passwords {
		add([]byte(password))
	}
	if l.TLS != nil {
		add(l.TLS.CA)
		add(l.TLS.Cert)
		add(l.TLS.Key)
	}
	return sha256.Sum256(b.Bytes())
}

// String names them, and keeps the key out of logs.
func (c *Certificates) String() string { return "Secret " + c.Secret }

func (c *Certificates) config() (*tls.Config, error) {
	if c == nil {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(c.CA) {
		return nil, fmt.Errorf("%s: ca.crt holds no certificate", c)
	}
	pair, err := tls.X509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("%s: tls.crt and tls.key: %w", c, err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// loginOf reads a login from the Secrets of a cluster; false when there is none.
func loginOf(cluster string, tlsSecret string, secrets map[string]*corev1.Secret) (Login, bool) {
	system := secrets[name.SystemSecret(cluster)]
	if system == nil {
		return Login{}, false
	}
	var l Login
	for _, suffix := range []string{acl.CurrentSuffix, acl.NextSuffix, acl.PreviousSuffix} {
		if password := system.Data[name.UserOperator+suffix]; len(password) > 0 {
			l.Passwords = append(l.Passwords, string(password))
		}
	}
	if tlsSecret != "" {
		s := secrets[tlsSecret]
		if s == nil {
			return Login{}, false
		}
		l.TLS = &Certificates{Secret: tlsSecret, CA: s.Data["ca.crt"], Cert: s.Data["tls.crt"], Key: s.Data["tls.key"]}
	}
	return l, len(l.Passwords) > 0
}
