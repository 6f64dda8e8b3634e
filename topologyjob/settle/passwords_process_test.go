// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// vault are the Secrets of a cluster, and who writes them.
type vault struct {
	mu      sync.Mutex
	cluster *v1alpha1.ValkeyCluster
	live    map[string]*corev1.Secret
	random  io.Reader
}

func newVault(t *testing.T, topology v1alpha1.Topology, version string) *vault {
	t.Helper()
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace, c.Spec.Topology, c.Spec.Version = "c", "shop", topology, version
	c.Default()
	v := &vault{cluster: c, live: map[string]*corev1.Secret{}, random: rand.NewChaCha8([32]byte{7})}
	v.write(t, secret.Keep)
	return v
}

func (v *vault) write(t *testing.T, rotation secret.Rotation) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	changes, err := secret.Decide(secret.Input{Cluster: v.cluster, Live: v.live, Rotation: rotation, Random: v.random})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		v.live[change.Secret.Name] = change.Secret
	}
}

func (v *vault) get(secretName, key string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return string(v.live[secretName].Data[key])
}

func (v *vault) held() map[string]setting.Held {
	v.mu.Lock()
	defer v.mu.Unlock()
	return setting.HeldBy(v.live["c-system"].Data, v.live["c-auth"].Data, v1alpha1.PasswordKey)
}

// dialer logs in as a Job does.
func (v *vault) dialer() client.Dialer {
	return client.Dialer{Username: name.UserOperator, Timeout: 10 * time.Second, Passwords: func() ([]string, error) {
		var all []string
		for _, suffix := range []string{acl.CurrentSuffix, acl.NextSuffix, acl.PreviousSuffix} {
			if password := v.get("c-system", name.UserOperator+suffix); password != "" {
				all = append(all, password)
			}
		}
		return all, nil
	}}
}

// mounted are what a Job reads.
func (v *vault) mounted(t *testing.T, version string) (Users, Links) {
	t.Helper()
	read := func(key string) map[string][]acl.User {
		text := v.get("c-acl", key)
		if text == "" {
			return nil
		}
		users, err := setting.ParseUsers(text)
		if err != nil {
			t.Fatal(err)
		}
		return map[string][]acl.User{version: users}
	}
	return Users{Data: read(acl.FileKey(version)), Sentinel: read(acl.SentinelFileKey(version)), Login: v.dialer().Login},
		Links{Replication: v.get("c-system", name.UserReplication+acl.CurrentSuffix), Sentinel: v.get("c-system", name.UserSentinel+acl.CurrentSuffix)}
}

// replica are the options of a data pod as start.sh gives them.
func (v *vault) data(version string, more ...string) servertest.Options {
	return servertest.Options{
		TCP: true, Files: map[string]string{"users.acl": v.get("c-acl", acl.FileKey(version))},
		Args: append([]string{
			"--aclfile", "users.acl", "--primaryuser", name.UserReplication, "--primaryauth", v.get("c-system", name.UserReplication+acl.CurrentSuffix),
			"--repl-diskless-sync-delay", "0",
		}, more...),
	}
}

// form starts a primary, a replica and, where there are any, a sentinel.
func (v *vault) form(t *testing.T, version string) *rig {
	t.Helper()
	r := &rig{dialer: v.dialer()}
	r.add(servertest.Start(t, version, v.data(version)), false)
	r.add(servertest.Start(t, version, v.data(version, "--replicaof", "127.0.0.1 "+itoa(r.servers[0].Port))), false)
	if !v.cluster.IsSentinel() {
		return r
	}
	password := v.get("c-system", name.UserSentinel+acl.CurrentSuffix)
	conf := fmt.Sprintf("sentinel monitor mymaster 127.0.0.1 %d 1\nsentinel auth-user mymaster _sentinel\nsentinel auth-pass mymaster %[2]s\n"+
		"sentinel sentinel-user _sentinel\nsentinel sentinel-pass %[2]s\nsentinel down-after-milliseconds mymaster 60000\naclfile users.acl\n", r.servers[0].Port, password)
	r.add(servertest.Start(t, version, servertest.Options{
		TCP: true, Sentinel: true, Conf: conf, Files: map[string]string{"users.acl": v.get("c-acl", acl.SentinelFileKey(version))},
	}), true)
	return r
}

// rotate does what is due until nothing is, as the reconciler and its Jobs do. It returns
// the stages that it went through.
func (v *vault) rotate(ctx context.Context, t *testing.T, r *rig, version string, dialer node.Dialer, asked *bool) ([]setting.Stage, Report) {
	t.Helper()
	var stages []setting.Stage
	for {
		stage := setting.StageOf(v.held(), SurveyPasswords(ctx, r.options(t, dialer)))
		if len(stages) == 0 || stages[len(stages)-1] != stage {
			stages = append(stages, stage)
		}
		rotation := secret.Due(stage)
		if stage == setting.Idle {
			if !*asked {
				return stages, Report{Result: outcome.Converged}
			}
			rotation, *asked = secret.Begin, false
		}
		v.write(t, rotation)
		switch stage {
		case setting.Accepting, setting.Switching, setting.Dropping:
			wanted, links := v.mounted(t, version)
			if report := Rotate(ctx, r.options(t, dialer), wanted, links); report.Result != outcome.Converged {
				return stages, report
			}
		}
	}
}

// writer is a client that logs in anew for each write, with what its Secret has.
func (v *vault) writer(t *testing.T, s *servertest.Server) (stop func() int64) {
	var writes atomic.Int64
	end, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-end:
				return
			default:
			}
			password := v.get("c-auth", v1alpha1.PasswordKey)
			c, err := s.Dial()
			if err != nil {
				t.Error(err)
				return
			}
			// What was right when it was read stays so for as long as this takes.
			if _, err := c.Do("AUTH", "default", password); err != nil {
				t.Errorf("write %d: %v", writes.Load(), err)
			}
			if _, err := c.Do("SET", "k", "v"); err != nil {
				t.Error(err)
			}
			c.Close()
			writes.Add(1)
		}
	}()
	return func() int64 {
		close(end)
		<-done
		return writes.Load()
	}
}

// reconnect breaks the link between a primary and its replica and waits for it.
func (v *vault) reconnect(t *testing.T, r *rig) {
	t.Helper()
	password := v.get("c-system", name.UserOperator+acl.CurrentSuffix)
	primary, err := as(t, r.servers[0], name.UserOperator, password)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := primary.Do("CLIENT", "KILL", "TYPE", "replica"); err != nil {
		t.Fatal(err)
	}
	replica, err := as(t, r.servers[1], name.UserOperator, password)
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	for {
		text, err := replica.Do("INFO", "replication")
		if err != nil {
			t.Fatal(err)
		}
		// Not the link from before: the primary sees a replica that is online again.
		seen, err := primary.Do("INFO", "replication")
		if err != nil {
			t.Fatal(err)
		}
		if node.ParseInfo(text.(string))["master_link_status"] == "up" && strings.Contains(seen.(string), "state=online") {
			return
		}
		if time.Since(before) > 30*time.Second {
			t.Fatalf("the link does not come back: %s", text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestProcessARotationRefusesNobody: a client that writes all the while, the replica and the
// sentinel, by old passwords and new (T10).
func TestProcessARotationRefusesNobody(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		v := newVault(t, v1alpha1.TopologySentinel, version)
		r := v.form(t, version)
		old := map[string]string{}
		for _, user := range acl.SystemUsers(v1alpha1.TopologySentinel) {
			old[user] = v.get("c-system", user+acl.CurrentSuffix)
		}
		oldDefault := v.get("c-auth", v1alpha1.PasswordKey)
		stop := v.writer(t, r.servers[0])
		asked := true
		stages, report := v.rotate(within(t), t, r, version, v.dialer(), &asked)
		want(t, report, outcome.Converged, "")
		// Before the replica is connected for the first time it is none of them.
		stages = stages[slices.Index(stages, setting.Idle):]
		if wanted := []setting.Stage{setting.Idle, setting.Accepting, setting.Accepted, setting.Switching, setting.Switched, setting.Dropping, setting.Idle}; !slices.Equal(stages, wanted) {
			t.Errorf("stages %v", stages)
		}
		t.Logf("%d writes, none refused", stop())
		for i, s := range r.servers {
			for user, password := range old {
				if _, err := as(t, s, user, password); err == nil {
					t.Errorf("server %d takes the old password of %s", i, user)
				}
			}
			if _, err := as(t, s, "default", oldDefault); err == nil {
				t.Errorf("server %d takes the old password of the default user", i)
			}
			for user := range old {
				if _, err := as(t, s, user, v.get("c-system", user+acl.CurrentSuffix)); err != nil {
					t.Errorf("server %d: %s: %v", i, user, err)
				}
			}
		}
		v.reconnect(t, r)
		for _, password := range old {
			if strings.Contains(r.said.String(), password) {
				t.Error("narration tells a password")
			}
		}
		if report := Rotate(within(t), r.options(t, v.dialer()), firstOf(v.mounted(t, version)), secondOf(v.mounted(t, version))); report.Counts["changed"]+report.Counts["links"] != 0 {
			t.Errorf("once more: %+v", report)
		}
	})
}

func firstOf(u Users, _ Links) Users  { return u }
func secondOf(_ Users, l Links) Links { return l }

// TestProcessARotationStoppedAnywhere: before every command that changes something, with a
// sentinel before every thirteenth, since that takes seconds each.
func TestProcessARotationStoppedAnywhere(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		for topology, stride := range map[v1alpha1.Topology]int{v1alpha1.TopologyReplication: 1, v1alpha1.TopologySentinel: 13} {
			t.Run(string(topology), func(t *testing.T) {
				t.Parallel()
				rotationStoppedAnywhere(t, topology, version, stride)
			})
		}
	})
}

func rotationStoppedAnywhere(t *testing.T, topology v1alpha1.Topology, version string, stride int) {
	v := newVault(t, topology, version)
	r := v.form(t, version)
	stop := v.writer(t, r.servers[0])
	asked := false
	commands := crashes(t, stride, v.dialer(), func() { asked = true }, func(ctx context.Context, dialer node.Dialer) Report {
		_, report := v.rotate(ctx, t, r, version, dialer, &asked)
		return report
	}, func() {
		if stage := setting.StageOf(v.held(), SurveyPasswords(within(t), r.options(t, v.dialer()))); stage != setting.Idle {
			t.Errorf("stage %s", stage)
		}
	})
	v.reconnect(t, r)
	t.Logf("%d commands, %d writes, none refused", commands, stop())
	// Three or four users of each server, twice, and what the operator's look takes.
	if commands < 20 {
		t.Errorf("a rotation takes %d commands only", commands)
	}
}

// TestProcessAPodThatStartsInBetween, with files of before a rotation and of after it.
func TestProcessAPodThatStartsInBetween(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		v := newVault(t, v1alpha1.TopologyReplication, version)
		r := &rig{dialer: v.dialer()}
		r.add(servertest.Start(t, version, v.data(version)), false)
		stale := v.data(version, "--replicaof", "127.0.0.1 "+itoa(r.servers[0].Port))
		r.add(servertest.Start(t, version, stale), false)
		port := r.servers[1].Port
		for _, rotation := range []secret.Rotation{secret.Begin, secret.Finish, secret.Forget} {
			v.write(t, rotation)
			// Nothing goes on while a pod may know none of the passwords of the files.
			r.servers[1].Stop()
			once := r.options(t, v.dialer())
			once.Wait = false
			wanted, links := v.mounted(t, version)
			want(t, Rotate(within(t), once, wanted, links), outcome.Blocked, PodsUnreachable, "c-0-1: ")
			// Files of a stage that is over are as good, as long as passwords overlap.
			files := stale
			if rotation == secret.Forget {
				files = v.data(version, "--replicaof", "127.0.0.1 "+itoa(r.servers[0].Port))
			}
			files.TCP, files.Args = false, append(slices.Clone(files.Args), "--port", itoa(port))
			r.servers[1] = servertest.Start(t, version, files)
			want(t, Rotate(within(t), r.options(t, v.dialer()), wanted, links), outcome.Converged, "")
		}
		v.reconnect(t, r)
		if stage := setting.StageOf(v.held(), SurveyPasswords(within(t), r.options(t, v.dialer()))); stage != setting.Idle {
			t.Errorf("stage %s", stage)
		}
	})
}
