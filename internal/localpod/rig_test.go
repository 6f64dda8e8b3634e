// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/conftest"
	"github.com/valkey-render/valkey-render/internal/credential"
	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// rig is one cluster whose pods run here.
type rig struct {
	*localpod.Host
	t       testing.TB
	dir     string
	cluster *v1alpha1.ValkeyCluster
	secrets credential.Secrets
	opts    localpod.Options
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// spec reads one ValkeyCluster.
func spec(t testing.TB, text string) *v1alpha1.ValkeyCluster {
	t.Helper()
	set, findings := load.Parse([]load.Source{{Name: "cluster.yaml", Data: []byte(text)}}, load.Options{Namespace: "ns"})
	must(t, findings.Err())
	return set.Clusters[0].Object
}

// newRig renders a cluster for a version and starts its pods.
func newRig(t testing.TB, version string, c *v1alpha1.ValkeyCluster) *rig {
	t.Helper()
	// The directory of a test is too long.
	dir, err := os.MkdirTemp("", "pods")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &rig{t: t, dir: dir, opts: localpod.Options{
		Dir: dir, Programs: filepath.Join(servertest.Dir(t), version, "bin"),
		OnEvent: func(e localpod.Event) { t.Logf("%s: %s", e.Pod, e.Message) },
	}}
	r.cluster, _ = conftest.Reversion(c, version)
	r.open()
	r.apply()
	must(t, r.Start())
	return r
}

func (r *rig) open() {
	r.t.Helper()
	host, err := localpod.Open(r.opts)
	must(r.t, err)
	r.Host = host
	r.t.Cleanup(func() { _ = host.Close() })
}

// apply renders the cluster as it is now and hands the objects to the Host.
func (r *rig) apply() {
	r.t.Helper()
	result := render.Build(load.Set{Clusters: []load.Cluster{{Object: r.cluster}}}, render.Options{})
	must(r.t, result.Findings.Err())
	secrets, _, err := credential.Complete(credential.Input{
		Cluster: r.cluster, Have: r.secrets, Names: []string{"localhost"}, Addresses: r.Addresses(16),
	})
	must(r.t, err)
	r.secrets = secrets
	must(r.t, credential.Save(filepath.Join(r.dir, "secrets"), secrets))
	objects := result.Objects
	for _, s := range secrets {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
		must(r.t, err)
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	must(r.t, r.Apply(objects))
}

func (r *rig) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	r.t.Cleanup(cancel)
	return ctx
}

// await waits until all pods are ready.
func (r *rig) await() {
	r.t.Helper()
	must(r.t, r.Await(r.context()))
}

// do sends one command to a pod as the system user that Jobs are, or for another pod
// of Sentinel to its port. Errors are replies too.
func (r *rig) do(pod string, command ...string) string {
	r.t.Helper()
	port := r.cluster.Port()
	if strings.Contains(pod, "-sentinel-") {
		port = 26379
	}
	return r.as(name.UserOperator, r.secrets[name.SystemSecret(r.cluster.Name)].Data[name.UserOperator+".current"], pod, port, command...)
}

// client sends one command to a pod as the default user.
func (r *rig) client(pod string, command ...string) string {
	r.t.Helper()
	ref := r.cluster.AuthSecret()
	return r.as("default", r.secrets[ref.Name].Data[ref.Key], pod, r.cluster.Port(), command...)
}

func (r *rig) as(user string, password []byte, pod string, port int32, command ...string) string {
	conn, err := r.dial(net.JoinHostPort(r.Pod(pod).Address().String(), fmt.Sprint(port)))
	if err != nil {
		return "error: " + err.Error()
	}
	defer conn.Close()
	if _, err := conn.Do("AUTH", user, string(password)); err != nil {
		return "error: AUTH: " + err.Error()
	}
	reply, err := conn.Do(command...)
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint(reply)
}

// dial connects as a client that checks the server's name, and has a certificate.
func (r *rig) dial(address string) (*servertest.Client, error) {
	if !r.cluster.TLSEnabled() {
		return servertest.Dial("tcp", address)
	}
	data := r.secrets[r.cluster.TLSSecretName()].Data
	pair, err := tls.X509KeyPair(data[credential.ClientCert], data[credential.ClientKey])
	must(r.t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data[script.TLSCA])
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err != nil {
		return nil, err
	}
	return servertest.Over(conn), nil
}

// eventually waits for a reply that holds a text.
func (r *rig) eventually(text string, reply func() string) {
	r.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		last := reply()
		if strings.Contains(last, text) {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("no %q in %q", text, last)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// processes are the processes of this machine whose command line or directory is below
// the rig's.
func processes(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	entries, err := os.ReadDir("/proc")
	must(t, err)
	for _, entry := range entries {
		line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil {
			continue
		}
		cwd, err := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			continue
		}
		if strings.Contains(string(line), dir+"/") || strings.HasPrefix(cwd, dir+"/") {
			found = append(found, entry.Name()+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
