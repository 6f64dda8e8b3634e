// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/conftest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// attempt is one Trial with its directory.
type attempt struct {
	*Trial
	t    *testing.T
	opts Options
}

// parse reads the one cluster of a text, with its ACLs.
func parse(t *testing.T, text string) load.Set {
	t.Helper()
	set, findings := load.Parse([]load.Source{{Name: "cluster.yaml", Data: []byte(text)}}, load.Options{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	return set
}

// rendered renders it for a version.
func rendered(t *testing.T, set load.Set, version string) Rendering {
	t.Helper()
	for i, c := range set.Clusters {
		set.Clusters[i].Object, _ = conftest.Reversion(c.Object, version)
	}
	r, err := Render(set, Override{})
	if err == nil {
		err = r.Findings.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func begin(t *testing.T, version string, r Rendering) *attempt {
	t.Helper()
	// The directory of a test is too long.
	dir, err := os.MkdirTemp("", "trial")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	a := &attempt{t: t, opts: Options{
		Dir: dir, Programs: filepath.Join(servertest.Dir(t), version, "bin"), OnNote: func(text string) { t.Log(text) },
	}}
	a.again(r)
	return a
}

// again starts a Trial in the same directory.
func (a *attempt) again(r Rendering) {
	a.t.Helper()
	started, err := Start(a.context(), a.opts, r)
	if err != nil {
		a.t.Fatal(err)
	}
	a.Trial = started
	a.t.Cleanup(func() { _ = started.Close(false) })
}

func (a *attempt) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	a.t.Cleanup(cancel)
	return ctx
}

// do sends one command, as an application that knows no more than the Connection, to
// the server of an address. Errors are replies too.
func (a *attempt) do(address string, words ...string) string {
	a.t.Helper()
	c := a.Connection(a.context())
	conn, err := c.dial(address)
	if err != nil {
		return "error: " + err.Error()
	}
	defer conn.Close()
	if c.PasswordFile != "" {
		password, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			a.t.Fatal(err)
		}
		if _, err := conn.Do("AUTH", c.Username, string(password)); err != nil {
			return "error: AUTH: " + err.Error()
		}
	}
	reply, err := conn.Do(words...)
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint(reply)
}

// dial connects with the files that a Connection names.
func (o Connection) dial(address string) (*servertest.Client, error) {
	if o.CAFile == "" {
		return servertest.Dial("tcp", address)
	}
	ca, err := os.ReadFile(o.CAFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if o.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		return nil, err
	}
	return servertest.Over(conn), nil
}

// everywhere sends a command to every primary and joins the replies.
func (a *attempt) everywhere(words ...string) string {
	a.t.Helper()
	var replies []string
	for _, s := range a.Servers(a.context()) {
		if s.Role == "primary" && (s.Slots != "" || !a.Cluster().Cluster.IsCluster()) {
			replies = append(replies, a.do(s.Address, words...))
		}
	}
	return strings.Join(replies, "\n")
}

// write writes a key that some primary takes.
func (a *attempt) write(key string) {
	a.t.Helper()
	if got := a.everywhere("SET", key, "value of "+key); !strings.Contains(got, "OK") {
		a.t.Fatalf("SET %s: %s", key, got)
	}
}

// has fails unless some primary has the key. A server of a busy machine may not answer at
// once.
func (a *attempt) has(key string) {
	a.t.Helper()
	err := await(a.context(), func() error {
		if got := a.everywhere("GET", key); !strings.Contains(got, "value of "+key) {
			return fmt.Errorf("GET %s: %s", key, got)
		}
		return nil
	})
	if err != nil {
		a.t.Error(err)
	}
}

// roles counts the servers of each role, as "primary 3, replica 3".
func (a *attempt) roles() string {
	a.t.Helper()
	counts := map[string]int{}
	for _, s := range a.Servers(a.context()) {
		counts[s.Role]++
	}
	var parts []string
	for _, role := range []string{"primary", "replica", "sentinel", "unknown"} {
		if counts[role] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", role, counts[role]))
		}
	}
	return strings.Join(parts, ", ")
}

// owned fails unless the primaries, in the order of the pods, own so many slots.
func (a *attempt) owned(want string) {
	a.t.Helper()
	err := await(a.context(), func() error {
		var counts []string
		for _, s := range a.Servers(a.context()) {
			if s.Role != "primary" {
				continue
			}
			slots, err := slot.Parse(s.Slots)
			if err != nil {
				return err
			}
			counts = append(counts, fmt.Sprint(slots.Count()))
		}
		if got := strings.Join(counts, " "); got != want {
			return fmt.Errorf("slots of the shards: %s, not %s", got, want)
		}
		return nil
	})
	if err != nil {
		a.t.Error(err)
	}
}

// refused fails unless a change is not followed, for a reason.
func (a *attempt) refused(next Rendering, reason string) {
	a.t.Helper()
	err := a.Follow(a.context(), next)
	if !errors.Is(err, ErrNotFollowed) || !strings.Contains(err.Error(), reason) {
		a.t.Errorf("%v, not %q", err, reason)
	}
}
