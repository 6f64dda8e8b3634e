// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/valkey-render/valkey-render/internal/credential"
	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/render/name"
)

// Options of Start.
type Options struct {
	// Dir is where everything is kept, see localpod.Options. A second trial with the
	// same directory goes on with the data and the passwords of the first.
	Dir string
	// Programs is the directory with valkey-server and valkey-cli.
	Programs string
	// Modules are the files of modules by their names in the spec.
	Modules map[string]string
	// OnNote hears what happens, one line at a time, from several goroutines.
	OnNote func(string)
}

// Trial is one cluster that runs.
type Trial struct {
	opts Options
	host *localpod.Host

	mu      sync.Mutex
	current Rendering
	secrets credential.Secrets
	took    time.Duration
}

// Start runs a cluster and returns once every server is ready. What it started is
// ended when it fails.
func Start(ctx context.Context, opts Options, r Rendering) (*Trial, error) {
	began := time.Now()
	t := &Trial{opts: opts, current: r}
	host, err := localpod.Open(localpod.Options{
		Dir: opts.Dir, Programs: opts.Programs, Modules: opts.Modules, Keep: true, OnEvent: t.event,
	})
	if err != nil {
		return nil, err
	}
	t.host = host
	if t.secrets, err = credential.Load(t.secretsDir(), r.Cluster.Namespace, t.labels()); err == nil {
		err = t.start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	t.took = time.Since(began)
	return t, nil
}

// Took is how long it took until every server was ready.
func (t *Trial) Took() time.Duration { return t.took }

func (t *Trial) start(ctx context.Context) error {
	if err := t.apply(t.current); err != nil {
		return err
	}
	if err := t.converge(ctx); err != nil {
		return err
	}
	return t.forgetPrimary()
}

// labels are those of Secrets that are ours.
func (t *Trial) labels() map[string]string {
	return name.Labels(t.current.Cluster.Name, name.ComponentCluster)
}

func (t *Trial) secretsDir() string { return filepath.Join(t.opts.Dir, "secrets") }

// apply hands the objects of a rendering, and the Secrets that it needs, to the pods.
func (t *Trial) apply(r Rendering) error {
	c := r.Cluster
	secrets, made, err := credential.Complete(credential.Input{
		Cluster: c, ACLs: r.ACLs, Have: t.secrets, Names: certificateNames(r), Addresses: t.host.Addresses(mostAddresses),
	})
	if err != nil {
		return err
	}
	if err := credential.Save(t.secretsDir(), secrets); err != nil {
		return err
	}
	for _, s := range made {
		t.note("Secret/%s is made up: %s", s, filepath.Join(t.secretsDir(), s))
	}
	t.secrets = secrets
	objects := append([]*unstructured.Unstructured{}, r.Objects...)
	for _, s := range secrets {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
		if err != nil {
			return err
		}
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return t.host.Apply(objects)
}

// mostAddresses is for how many pods a certificate is good.
const mostAddresses = 250

// certificateNames are those of the rendered Certificate, else those that it would have.
func certificateNames(r Rendering) []string {
	for _, o := range r.Objects {
		if o.GetKind() != "Certificate" {
			continue
		}
		if names, found, err := unstructured.NestedStringSlice(o.Object, "spec", "dnsNames"); found && err == nil {
			return names
		}
	}
	c := r.Cluster
	all := []string{name.Client(c.Name), name.Nodes(c.Name), name.Sentinel(c.Name), name.Primary(c.Name), name.Replicas(c.Name)}
	return name.CertificateNames(c.Namespace, c.ClusterDomain(), all, []string{name.Nodes(c.Name), name.Sentinel(c.Name)})
}

// Cluster is what runs, with its defaults.
func (t *Trial) Cluster() Rendering {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// Host runs the pods: to kill and freeze them.
func (t *Trial) Host() *localpod.Host { return t.host }

// Close ends every process. With keep the servers save their data and end in order,
// within ten seconds; else they are killed.
func (t *Trial) Close(keep bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var failed error
	if keep {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		failed = t.rememberPrimary(ctx)
		t.host.Shutdown(ctx)
	}
	return errors.Join(failed, t.host.Close())
}

func (t *Trial) note(format string, args ...any) {
	if t.opts.OnNote != nil {
		t.opts.OnNote(fmt.Sprintf(format, args...))
	}
}

func (t *Trial) event(e localpod.Event) {
	t.note("%s: %s", e.Pod, e.Message)
}
