// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// fleet is a cluster whose servers and Secrets are there as far as passwords go.
type fleet struct {
	*world
	live    map[string]*corev1.Secret
	version int
	servers []setting.Passwords
	random  *rand.ChaCha8
	jobs    []string
}

func newFleet(t testing.TB) *fleet {
	f := &fleet{world: formed(1, 1), live: map[string]*corev1.Secret{}, random: rand.NewChaCha8([32]byte{3})}
	f.Tokens = map[string]string{}
	f.write(t, secret.Keep, false, 3)
	f.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.ACL, Token: f.Tokens[job.ACL]}}
	f.servers = make([]setting.Passwords, 2)
	f.obey(t)
	return f
}

func (f *fleet) input(step secret.Rotation, overlap bool) secret.Input {
	return secret.Input{Cluster: f.Cluster, Live: f.live, Rotation: step, Overlap: overlap, Random: f.random}
}

// write writes so many of the Secrets that are to be written.
func (f *fleet) write(t testing.TB, step secret.Rotation, overlap bool, most int) {
	t.Helper()
	changes, err := secret.Decide(f.input(step, overlap))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes[:min(most, len(changes))] {
		f.version++
		c.Secret.ResourceVersion = fmt.Sprint(f.version)
		f.live[c.Secret.Name] = c.Secret
	}
	f.Tokens[job.ACL] = f.live["c-acl"].ResourceVersion
}

// obey makes servers take the passwords of the ACL file, and links the current one.
func (f *fleet) obey(t testing.TB) {
	t.Helper()
	users, err := setting.ParseUsers(string(f.live["c-acl"].Data[acl.FileKey("9.1")]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.servers {
		f.servers[i] = setting.Passwords{Known: true, LinkUp: true, Logins: map[string]setting.Login{}}
		for _, u := range users {
			f.servers[i].Logins[u.Name] = setting.LoginOf(u)
		}
		if i > 0 {
			f.servers[i].Link = hash(t, string(f.live["c-system"].Data[name.UserReplication+acl.CurrentSuffix]))
		}
	}
}

func hash(t testing.TB, password string) string {
	t.Helper()
	h, err := acl.Hash([]byte(password))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// sees fills in what a reconciler gathers, and returns what it is to write.
func (f *fleet) sees() (secret.Rotation, bool) {
	f.Passwords = Passwords{}
	held := secret.Held(f.Cluster, f.live)
	for _, h := range held {
		f.Passwords.Marked = f.Passwords.Marked || h.Next != "" || h.Previous != ""
	}
	if secret.Replaced(f.Cluster, f.live) {
		f.Passwords.Replaced = f.live[f.Cluster.AuthSecret().Name].ResourceVersion
	}
	if Rotates(f.Input) {
		f.Passwords.Stage = setting.StageOf(held, f.servers)
		f.Passwords.Silent = len(f.servers) - len(slices.DeleteFunc(slices.Clone(f.servers), func(p setting.Passwords) bool { return !p.Known }))
	}
	return Secrets(f.Input)
}

// look is one look of a reconciler, which is killed after so many writes. Its Jobs are done
// at once.
func (f *fleet) look(t testing.TB, most int) {
	t.Helper()
	f.Now = f.Now.Add(10 * time.Second)
	step, overlap := f.sees()
	changes, err := secret.Decide(f.input(step, overlap))
	if err != nil {
		t.Fatal(err)
	}
	f.Secrets = len(changes)
	d := f.looks()
	f.Cluster.Status.Applied = d.Applied
	if d.Secrets {
		f.write(t, step, overlap, most)
	}
	for _, s := range d.Start {
		f.jobs = append(f.jobs, s.Kind)
		if s.Kind == job.ACL || s.Kind == job.Rotate {
			f.obey(t)
		}
		f.Cluster.Status.JobSerial = s.Serial
		f.Jobs = append(f.Jobs, job.Record{
			Name: s.name(f.Cluster), Kind: s.Kind, Input: s.Input(), Token: s.Token, Serial: s.Serial, Attempt: s.Attempt,
			Created: f.Now, Ended: f.Now, Outcome: &outcome.Outcome{Kind: s.Kind, Result: outcome.Converged},
		})
	}
}

// accepts fails the test when a server refuses a password of the default user.
func (f *fleet) accepts(t testing.TB, who, password string) {
	t.Helper()
	for i, s := range f.servers {
		if l := s.Logins[acl.DefaultUser]; !l.Nopass && !slices.Contains(l.Hashes, hash(t, password)) {
			t.Fatalf("server %d refuses %s at %s: %+v", i, who, f.action(actionRotate), f.Cluster.Status.Actions)
		}
	}
}

func (f *fleet) password() string {
	ref := f.Cluster.AuthSecret()
	return string(f.live[ref.Name].Data[ref.Key])
}

// TestARotationRefusesNobody: not who has read the password from its Secret just now, nor who
// did when it was another, until the overlap is over; wherever the reconciler is killed.
func TestARotationRefusesNobody(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			// Of the first looks each is killed after some of its writes.
			killed := rand.New(rand.NewPCG(seed, 1))
			f := newFleet(t)
			before := f.password()
			f.asks(v1alpha1.AnnotationRotatePassword, `{"token":"1","overlap":"3m"}`)
			var since time.Time
			for i := range 45 {
				most := 3
				if i < 20 {
					most = killed.IntN(4)
				}
				f.look(t, most)
				f.accepts(t, "the password of the Secret", f.password())
				if f.password() != before && since.IsZero() {
					since = f.Now
				}
				if since.IsZero() || f.Now.Sub(since) < 3*time.Minute {
					f.accepts(t, "the password of before", before)
				}
				for _, s := range f.servers[1:] {
					if !slices.Contains(f.servers[0].Logins[name.UserReplication].Hashes, s.Link) {
						t.Fatalf("a link has a password that its primary refuses: %+v", f.Cluster.Status.Actions)
					}
				}
			}
			if got := f.action(actionRotate); got != "Succeeded Dropping" || f.password() == before {
				t.Fatalf("%s after %v: %+v", got, f.jobs, f.Cluster.Status.Actions)
			}
			for _, s := range f.servers {
				if l := s.Logins[acl.DefaultUser]; !slices.Equal(l.Hashes, []string{hash(t, f.password())}) {
					t.Fatalf("servers still know %v", l.Hashes)
				}
			}
			if n := len(f.live["c-auth"].Data); n != 1 {
				t.Fatalf("%d passwords in the Secret", n)
			}
		})
	}
}

// TestARotationIsDoneOnce for a token, by rotate Jobs, and again for another.
func TestARotationIsDoneOnce(t *testing.T) {
	f := newFleet(t)
	f.asks(v1alpha1.AnnotationRotatePassword, "1")
	rest := func() { f.rest(t) }
	rest()
	first := f.password()
	if got, want := strings.Join(f.jobs, " "), "rotate rotate rotate"; got != want || f.action(actionRotate) != "Succeeded Dropping" {
		t.Errorf("%s, want %s: %+v", got, want, f.Cluster.Status.Actions)
	}
	rest()
	if f.password() != first {
		t.Error("it was rotated twice for one token")
	}
	f.asks(v1alpha1.AnnotationRotatePassword, "2")
	rest()
	if f.password() == first || f.action(actionRotate) != "Succeeded Dropping" {
		t.Errorf("another token: %+v", f.Cluster.Status.Actions)
	}
}

// rest looks until everything must have come to rest.
func (f *fleet) rest(t testing.TB) {
	t.Helper()
	for range 45 {
		f.look(t, 3)
	}
}

// TestARotationGoesOnThatNobodyRemembers: its annotation and its status are gone.
func TestARotationGoesOnThatNobodyRemembers(t *testing.T) {
	for _, looks := range []int{1, 2, 4, 5} {
		f := newFleet(t)
		f.asks(v1alpha1.AnnotationRotatePassword, "1")
		for range looks {
			f.look(t, 3)
		}
		f.Cluster.Annotations, f.Cluster.Status.Actions = nil, nil
		f.rest(t)
		if got := f.action(actionRotate); got != "Succeeded Dropping" {
			t.Errorf("after %d looks: %s: %+v", looks, got, f.Cluster.Status.Actions)
		}
	}
}

// TestARotationWaitsForPodsThatDoNotTell, and begins no Job that could only wait for them.
func TestARotationWaitsForPodsThatDoNotTell(t *testing.T) {
	f := newFleet(t)
	f.asks(v1alpha1.AnnotationRotatePassword, "1")
	f.look(t, 3)
	f.servers[1].Known = false
	f.rest(t)
	if len(f.jobs) > 0 || f.action(actionRotate) != "Running Accepting" {
		t.Errorf("%v, %s", f.jobs, f.action(actionRotate))
	}
	f.servers[1].Known = true
	f.rest(t)
	if f.action(actionRotate) != "Succeeded Dropping" {
		t.Errorf("%v, %s", f.jobs, f.action(actionRotate))
	}
}

// TestARotationThatIsAskedForWrongly says so.
func TestARotationThatIsAskedForWrongly(t *testing.T) {
	for _, value := range []string{`{"token":""}`, `{"tokens":"1"}`, `{`, `{"token":"1","overlap":"soon"}`, `{"token":"1","overlap":"-1s"}`} {
		f := newFleet(t)
		f.asks(v1alpha1.AnnotationRotatePassword, value)
		f.rest(t)
		if len(f.jobs) > 0 || f.action(actionRotate) != "Failed" {
			t.Errorf("%s: %v, %+v", value, f.jobs, f.Cluster.Status.Actions)
		}
	}
}

// TestClientsAreEndedWhenThatIsAskedFor.
func TestClientsAreEndedWhenThatIsAskedFor(t *testing.T) {
	for value, want := range map[string]bool{`{"token":"1","clientKill":true}`: true, "1": false} {
		f := newFleet(t)
		f.asks(v1alpha1.AnnotationRotatePassword, value)
		f.look(t, 3)
		f.Now = f.Now.Add(10 * time.Second)
		f.sees()
		d := Decide(f.Input)
		if len(d.Start) != 1 || slices.Contains(d.Start[0].Args, "--client-kill") != want {
			t.Errorf("%s: %+v", value, d.Start)
		}
	}
}

// TestAReplacedPasswordIsFollowed: who has overwritten the one in a Secret of his own finds
// both valid for a while.
func TestAReplacedPasswordIsFollowed(t *testing.T) {
	f := &fleet{world: formed(1, 1), live: map[string]*corev1.Secret{}, random: rand.NewChaCha8([32]byte{3})}
	f.Cluster.Spec.Auth = &v1alpha1.AuthSpec{ExistingSecret: &v1alpha1.SecretKeyRef{Name: "mine", Key: "pw"}}
	mine := func(password string) {
		f.version++
		s := &corev1.Secret{Data: map[string][]byte{"pw": []byte(password)}}
		s.Name, s.Namespace, s.ResourceVersion = "mine", "shop", fmt.Sprint(f.version)
		f.live["mine"] = s
	}
	mine("one")
	f.Tokens = map[string]string{}
	f.write(t, secret.Keep, false, 3)
	f.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.ACL, Token: f.Tokens[job.ACL]}}
	f.servers = make([]setting.Passwords, 2)
	f.obey(t)
	f.rest(t)
	if len(f.jobs) > 0 || len(f.Cluster.Status.Actions) > 0 {
		t.Fatalf("%v, %+v", f.jobs, f.Cluster.Status.Actions)
	}
	mine("two")
	replaced := f.Now
	for f.Now.Sub(replaced) < Overlap {
		f.look(t, 3)
		f.accepts(t, "the password of before", "one")
		if f.Now.Sub(replaced) > 30*time.Second {
			f.accepts(t, "the new password", "two")
		}
	}
	if got := f.action(actionFollow); got != "Running" {
		t.Errorf("%s", got)
	}
	f.rest(t)
	if got := f.action(actionFollow); got != "Succeeded" {
		t.Errorf("%s: %v", got, f.jobs)
	}
	if l := f.servers[0].Logins[acl.DefaultUser]; !slices.Equal(l.Hashes, []string{hash(t, "two")}) {
		t.Errorf("servers know %v", l.Hashes)
	}
	// Passwords of system users are rotated beside it, and his is left alone.
	f.asks(v1alpha1.AnnotationRotatePassword, "1")
	mine("three")
	before := string(f.live["c-system"].Data[name.UserOperator+acl.CurrentSuffix])
	f.look(t, 3)
	f.look(t, 3)
	f.accepts(t, "the password of before", "two")
	f.rest(t)
	if string(f.live["c-system"].Data[name.UserOperator+acl.CurrentSuffix]) == before || f.password() != "three" {
		t.Errorf("%+v", f.Cluster.Status.Actions)
	}
	f.accepts(t, "the new password", "three")
}
