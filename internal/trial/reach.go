// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// sentinelPort is where Sentinel pods listen.
const sentinelPort = 26379

// dialer connects as a Job does: as the system user for it.
func (t *Trial) dialer() (client.Dialer, error) {
	d := client.Dialer{
		Username: name.UserOperator,
		Passwords: func() ([]string, error) {
			data := t.secrets[name.SystemSecret(t.current.Cluster.Name)].Data
			return []string{string(data[name.UserOperator+acl.CurrentSuffix]), string(data[name.UserOperator+acl.NextSuffix])}, nil
		},
	}
	secret := t.current.Cluster.TLSSecretName()
	if secret == "" {
		return d, nil
	}
	data := t.secrets[secret].Data
	pair, err := tls.X509KeyPair(data[script.TLSCert], data[script.TLSKey])
	if err != nil {
		return d, fmt.Errorf("certificate of Secret %s: %w", secret, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data[script.TLSCA]) {
		return d, fmt.Errorf("certificate of Secret %s: %s holds none", secret, script.TLSCA)
	}
	d.TLS = &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return d, nil
}

// isSentinel says whether a pod is one of the sentinels.
func (t *Trial) isSentinel(p *localpod.Pod) bool {
	return p.StatefulSet() == name.SentinelStatefulSet(t.current.Cluster.Name)
}

// address is where a pod's server listens.
func (t *Trial) address(p *localpod.Pod) node.Address {
	port := int(t.current.Cluster.Port())
	if t.isSentinel(p) {
		port = sentinelPort
	}
	return node.Address{IP: p.Address().String(), Port: port}
}

// connect dials a pod.
func (t *Trial) connect(ctx context.Context, p *localpod.Pod) (node.Conn, error) {
	d, err := t.dialer()
	if err != nil {
		return nil, err
	}
	conn, err := d.Dial(ctx, t.address(p))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name(), err)
	}
	return conn, nil
}

// ask sends one command to a pod. The error says which pod and command.
func (t *Trial) ask(ctx context.Context, p *localpod.Pod, words ...string) (node.Reply, error) {
	conn, err := t.connect(ctx, p)
	if err != nil {
		return node.Reply{}, err
	}
	defer conn.Close()
	reply := node.Ask(ctx, conn, words...)
	if reply.Err != nil {
		return reply, fmt.Errorf("%s: %s: %w", p.Name(), node.Cmd(words...), reply.Err)
	}
	return reply, nil
}

// info is a pod's INFO.
func (t *Trial) info(ctx context.Context, p *localpod.Pod) (node.Info, error) {
	reply, err := t.ask(ctx, p, "INFO")
	if err != nil {
		return nil, err
	}
	text, err := reply.Text()
	if err != nil {
		return nil, fmt.Errorf("%s: INFO: %w", p.Name(), err)
	}
	return node.ParseInfo(text), nil
}

// hopelessError is a fault that waiting does not end.
type hopelessError struct{ err error }

func (e *hopelessError) Error() string { return e.err.Error() }
func (e *hopelessError) Unwrap() error { return e.err }

// await repeats a check until it says nothing, and returns what it said last when ctx
// is done.
func await(ctx context.Context, check func() error) error {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		last := check()
		if _, hopeless := errors.AsType[*hopelessError](last); hopeless || last == nil {
			return last
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), last)
		case <-time.After(pause):
		}
	}
}

// dataPods are the pods of data servers, and sentinels those of the others.
func (t *Trial) dataPods() (data, sentinels []*localpod.Pod) {
	for _, p := range t.host.Pods() {
		if t.isSentinel(p) {
			sentinels = append(sentinels, p)
		} else {
			data = append(data, p)
		}
	}
	return data, sentinels
}
