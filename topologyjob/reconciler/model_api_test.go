// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// model stands in for the servers of clusters: blank, or formed as they are to be.
type model struct {
	mu     sync.Mutex
	formed map[types.NamespacedName]bool
	// primary is the index of the primary, of shards whose primary is not the first pod.
	primary map[string]int32
	// surveys are how often each cluster was asked with passwords.
	surveys map[types.NamespacedName]int
	// known is what its servers know of passwords.
	known map[types.NamespacedName]setting.Passwords
}

func newModel() *model {
	return &model{formed: map[types.NamespacedName]bool{}, surveys: map[types.NamespacedName]int{}, known: map[types.NamespacedName]setting.Passwords{}, primary: map[string]int32{}}
}

// obey makes servers know the passwords of Secrets.
func (m *model) obey(t testing.TB, key types.NamespacedName, files, system *corev1.Secret) {
	t.Helper()
	users, err := setting.ParseUsers(string(files.Data[acl.FileKey(v1alpha1.DefaultVersion)]))
	link, linkErr := acl.Hash(system.Data[name.UserReplication+acl.CurrentSuffix])
	if err := errors.Join(err, linkErr); err != nil {
		t.Error(err)
		return
	}
	p := setting.Passwords{Known: true, LinkUp: true, Link: link, Logins: map[string]setting.Login{}}
	for _, u := range users {
		p.Logins[u.Name] = setting.LoginOf(u)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[key] = p
}

// handOver makes the other of two pods the primary of each shard that a Job is to vacate.
func (m *model) handOver(key types.NamespacedName, args []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, arg := range args {
		pod, is := strings.CutPrefix(arg, "--vacate="+key.Name+"-")
		var shard, index int32
		if _, err := fmt.Sscanf(pod, "%d-%d", &shard, &index); is && err == nil {
			m.primary[fmt.Sprintf("%s/%d", key, shard)] = 1 - index
		}
	}
}

// Passwords implements Surveyor.
func (m *model) Passwords(_ context.Context, key types.NamespacedName, login Login, who Asked) []setting.Passwords {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []setting.Passwords
	for _, p := range who.Pods {
		if p.Host == "" {
			continue
		}
		known := m.known[key]
		if !slices.ContainsFunc(login.Passwords, func(password string) bool { return admits(known, password) }) {
			known = setting.Passwords{}
		}
		all = append(all, known)
	}
	return all
}

func (m *model) form(key types.NamespacedName, formed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.formed[key] = formed
}

// Rest implements Surveyor.
func (m *model) Rest(types.NamespacedName) {}

// Survey implements Surveyor: every pod with an address answers.
func (m *model) Survey(_ context.Context, key types.NamespacedName, login Login, who Asked) survey.View {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.surveys[key]++
	id := func(p survey.Pod) string { return fmt.Sprintf("%02x%02x%s", p.Shard, p.Index, strings.Repeat("0", 36)) }
	shards := int32(0)
	for _, p := range who.Pods {
		shards = max(shards, p.Shard+1)
	}
	v := survey.View{Topology: who.Topology}
	for _, p := range who.Pods {
		a := survey.Answer{Pod: p}
		if p.Host == "" || len(login.Passwords) == 0 {
			a.Problem = &survey.Problem{Code: survey.Unresolved, Message: "it has no address"}
			v.Answers = append(v.Answers, a)
			continue
		}
		a.ID, a.Version, a.StateOK = id(p), "9.1.2", true
		for _, other := range who.Pods {
			e := node.Entry{ID: id(other), Linked: true, Myself: other.Name == p.Name, Epoch: uint64(other.Shard) + 1}
			primary := m.primary[fmt.Sprintf("%s/%d", key, other.Shard)]
			if m.formed[key] && other.Index == primary {
				e.Slots = slot.Bootstrap(other.Shard, shards)
			}
			if m.formed[key] && other.Index != primary {
				e.Replica, e.Primary = true, id(survey.Pod{Shard: other.Shard, Index: primary})
			}
			if e.Myself || m.formed[key] {
				a.Nodes = append(a.Nodes, e)
			}
		}
		a.LinkUp = m.formed[key] && p.Index != m.primary[fmt.Sprintf("%s/%d", key, p.Shard)]
		v.Answers = append(v.Answers, a)
	}
	return v
}

// admits reports whether a server lets the operator in with a password.
func admits(known setting.Passwords, password string) bool {
	hash, err := acl.Hash([]byte(password))
	return err == nil && slices.Contains(known.Logins[name.UserOperator].Hashes, hash)
}
