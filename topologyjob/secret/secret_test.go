// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// newCluster is shop/cache with its defaults.
func newCluster(change func(*v1alpha1.ValkeyCluster)) *v1alpha1.ValkeyCluster {
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace = "cache", "shop"
	if change != nil {
		change(c)
	}
	c.Default()
	return c
}

// random is the same in every run.
func random() io.Reader { return rand.NewChaCha8([32]byte{1}) }

// apply is a server that has what was written.
func apply(live map[string]*corev1.Secret, changes []Change) map[string]*corev1.Secret {
	out := map[string]*corev1.Secret{}
	for n, s := range live {
		out[n] = s.DeepCopy()
	}
	for _, change := range changes {
		s := change.Secret.DeepCopy()
		s.ResourceVersion += "1"
		out[s.Name] = s
	}
	return out
}

func decide(t testing.TB, in Input) []Change {
	t.Helper()
	changes, err := Decide(in)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// foreign is a Secret that somebody else made.
func foreign(called string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{Data: map[string][]byte{}}
	s.Namespace, s.Name, s.ResourceVersion = "shop", called, "7"
	for k, v := range data {
		s.Data[k] = []byte(v)
	}
	return s
}

// text is what is said of changes: names and keys.
func text(changes []Change) []string {
	var out []string
	for _, c := range changes {
		verb := "update "
		if c.Creates() {
			verb = "create "
		}
		out = append(out, verb+c.Secret.Name+": "+strings.Join(c.Keys, " "))
	}
	return out
}

func TestEverySecretIsMadeOnce(t *testing.T) {
	system := "create cache-system: _exporter.current _operator.current _replication.current _sentinel.current exporter.json"
	files := "create cache-acl: 8.0.acl 8.1.acl 9.0.acl 9.1.acl"
	for _, test := range []struct {
		name   string
		change func(*v1alpha1.ValkeyCluster)
		live   []*corev1.Secret
		want   []string
	}{
		{"defaults", nil, nil, []string{"create cache-auth: password", system, files}},
		{"without auth", func(c *v1alpha1.ValkeyCluster) {
			c.Spec.Auth = &v1alpha1.AuthSpec{Enabled: new(false)}
		}, nil, []string{system, files}},
		{"with a Secret of the user", func(c *v1alpha1.ValkeyCluster) {
			c.Spec.Auth = &v1alpha1.AuthSpec{ExistingSecret: &v1alpha1.SecretKeyRef{Name: "mine", Key: "pw"}}
		}, []*corev1.Secret{foreign("mine", map[string]string{"pw": "x"})}, []string{system, files}},
		{"with a Secret of the user that has the name of ours", func(c *v1alpha1.ValkeyCluster) {
			c.Spec.Auth = &v1alpha1.AuthSpec{ExistingSecret: &v1alpha1.SecretKeyRef{Name: "cache-auth"}}
		}, []*corev1.Secret{foreign("cache-auth", map[string]string{"password": "x"})}, []string{system, files}},
		{
			"sentinel", func(c *v1alpha1.ValkeyCluster) { c.Spec.Topology = v1alpha1.TopologySentinel }, nil,
			[]string{"create cache-auth: password", system, "create cache-acl: 8.0.acl 8.0.sentinel.acl 8.1.acl 8.1.sentinel.acl 9.0.acl 9.0.sentinel.acl 9.1.acl 9.1.sentinel.acl"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := Input{Cluster: newCluster(test.change), Random: random(), Live: map[string]*corev1.Secret{}}
			for _, s := range test.live {
				in.Live[s.Name] = s
			}
			changes := decide(t, in)
			if diff := cmp.Diff(test.want, text(changes)); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			for _, change := range changes {
				s := change.Secret
				if s.Namespace != "shop" || s.Type != corev1.SecretTypeOpaque || !isOurs(in.Cluster, s) {
					t.Errorf("%s/%s of type %s has labels %v", s.Namespace, s.Name, s.Type, s.Labels)
				}
			}
			in.Live, in.Random = apply(in.Live, changes), nil
			if again := decide(t, in); len(again) > 0 {
				t.Errorf("a second run writes %v", text(again))
			}
		})
	}
}

func TestPasswordsDiffer(t *testing.T) {
	changes := decide(t, Input{Cluster: newCluster(nil), Random: random()})
	seen := map[string]string{}
	for _, change := range changes[:2] {
		for key, value := range change.Secret.Data {
			if key == name.ExporterFile {
				continue
			}
			if len(value) != 52 || strings.Trim(string(value), "abcdefghijklmnopqrstuvwxyz234567") != "" {
				t.Errorf("%s: %d characters, or others than letters and digits", key, len(value))
			}
			if other := seen[string(value)]; other != "" {
				t.Errorf("%s and %s are the same", key, other)
			}
			seen[string(value)] = key
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d passwords", len(seen))
	}
}

func TestNothingWithoutRandomness(t *testing.T) {
	_, err := Decide(Input{Cluster: newCluster(nil), Random: bytes.NewReader(make([]byte, 40))})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

// TestAMissingKeyIsAddedAndTheRestKept: as by a later version with one more user.
func TestAMissingKeyIsAddedAndTheRestKept(t *testing.T) {
	in := Input{Cluster: newCluster(nil), Random: random()}
	in.Live = apply(nil, decide(t, in))
	system := in.Live["cache-system"]
	before := system.DeepCopy()
	delete(system.Data, "_sentinel.current")
	system.Data["exporter.json"] = []byte("{}")
	system.Labels["team"] = "shop"
	delete(system.Labels, name.LabelPartOf)
	changes := decide(t, in)
	if diff := cmp.Diff([]string{"update cache-system: _sentinel.current exporter.json"}, text(changes)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	got := changes[0].Secret
	if got.ResourceVersion != before.ResourceVersion || got.Labels["team"] != "shop" || got.Labels[name.LabelPartOf] != name.PartOf {
		t.Errorf("resourceVersion %s, labels %v", got.ResourceVersion, got.Labels)
	}
	delete(got.Data, "_sentinel.current")
	delete(before.Data, "_sentinel.current")
	if !cmp.Equal(before.Data, got.Data) {
		t.Error("another key has changed")
	}
}

func TestWhatBlocksIsToldAllAtOnce(t *testing.T) {
	c := newCluster(func(c *v1alpha1.ValkeyCluster) {
		c.Spec.Users = []v1alpha1.UserSpec{
			{Name: "app", PasswordSecret: &v1alpha1.UserPasswordSecret{Name: "app", Keys: []string{"one", "two"}}},
			{Name: "job"},
			{Name: "off", Enabled: new(false)},
			{Name: "open", Nopass: true},
		}
	})
	in := Input{Cluster: c, Random: random(), Live: map[string]*corev1.Secret{
		"app":          foreign("app", map[string]string{"two": ""}),
		"cache-auth":   foreign("cache-auth", map[string]string{"password": "hunter2"}),
		"cache-system": foreign("cache-system", nil),
	}}
	_, err := Decide(in)
	blocked, ok := errors.AsType[*BlockedError](err)
	if !ok {
		t.Fatal(err)
	}
	want := []Problem{
		{Foreign, "Secret/shop/cache-auth: exists and its labels do not say that it is ours: rename or delete it, or name it in spec.auth.existingSecret"},
		{Foreign, "Secret/shop/cache-system: exists and its labels do not say that it is ours: rename or delete it"},
		{Missing, "Secret/shop/app: has no key one"},
		{Missing, "Secret/shop/app: key two: is empty"},
		{Missing, "Secret/shop/cache-users: does not exist"},
	}
	if diff := cmp.Diff(want, blocked.Problems); diff != "" || blocked.Passing() {
		t.Errorf("passing %t (-want +got)\n%s", blocked.Passing(), diff)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("a password is shown")
	}
	delete(in.Live, "cache-auth")
	delete(in.Live, "cache-system")
	if _, err = Decide(in); !strings.HasPrefix(err.Error(), "ValkeyCluster/shop/cache: Secret/shop/app: has no key one\n") {
		t.Errorf("%v", err)
	}
	if blocked, ok = errors.AsType[*BlockedError](err); !ok || !blocked.Passing() {
		t.Errorf("what is only missing does not pass: %v", err)
	}
}

// TestALostPasswordIsNotMadeAgain: the servers that run know only the old one.
func TestALostPasswordIsNotMadeAgain(t *testing.T) {
	in := Input{Cluster: newCluster(nil), Random: random()}
	made := apply(nil, decide(t, in))
	in.Live = map[string]*corev1.Secret{"cache-auth": made["cache-auth"], "cache-acl": made["cache-acl"]}
	_, err := Decide(in)
	blocked, ok := errors.AsType[*BlockedError](err)
	// _sentinel is in no file of a Cluster.
	if !ok || len(blocked.Problems) != 1 || blocked.Problems[0].Reason != Lost || blocked.Passing() ||
		!strings.Contains(err.Error(), "Secret/shop/cache-system: _exporter.current, _operator.current, _replication.current: gone") {
		t.Errorf("%v", err)
	}
	delete(in.Live, "cache-acl")
	if got := text(decide(t, in)); len(got) != 2 || !strings.HasPrefix(got[0], "create cache-system") {
		t.Errorf("without the files %v", got)
	}
	// The password of the default user may be made again: nobody is locked out for
	// good, since the operator can set it.
	in.Live = map[string]*corev1.Secret{"cache-system": made["cache-system"], "cache-acl": made["cache-acl"]}
	if got := text(decide(t, in)); len(got) != 2 || got[0] != "create cache-auth: password" {
		t.Errorf("without the default user's password %v", got)
	}
}

func TestARotationHasBothPasswordsInBetween(t *testing.T) {
	in := Input{Cluster: newCluster(nil), Random: random()}
	in.Live = apply(nil, decide(t, in))
	old := in.Live["cache-system"].DeepCopy()
	hashes := func() int {
		users := strings.Split(string(in.Live["cache-acl"].Data[acl.FileKey("9.1")]), "\n")
		i := slices.IndexFunc(users, func(line string) bool { return strings.HasPrefix(line, "user _operator ") })
		return strings.Count(users[i], " #")
	}
	step := func(rotation Rotation, writes, valid int) {
		t.Helper()
		in.Rotation = rotation
		changes := decide(t, in)
		in.Live = apply(in.Live, changes)
		if len(changes) != writes || hashes() != valid {
			t.Errorf("rotation %d writes %v, and %d passwords are valid", rotation, text(changes), hashes())
		}
	}
	step(Finish, 0, 1)
	step(Forget, 0, 1)
	step(Begin, 3, 2)
	step(Begin, 0, 2)
	step(Forget, 0, 2)
	step(Keep, 0, 2)
	next := in.Live["cache-system"].Data["_operator.next"]
	if !bytes.Equal(in.Live["cache-system"].Data["_operator.current"], old.Data["_operator.current"]) || len(next) == 0 {
		t.Error("the current password has changed, or there is no next one")
	}
	step(Finish, 3, 2)
	system := in.Live["cache-system"].Data
	if !bytes.Equal(system["_operator.current"], next) || system["_operator.next"] != nil ||
		!bytes.Contains(system[name.ExporterFile], system["_exporter.current"]) {
		t.Error("the next password is not the current one, or the exporter has another")
	}
	if !bytes.Equal(system["_operator.previous"], old.Data["_operator.current"]) {
		t.Error("the previous password is another one")
	}
	step(Finish, 0, 2)
	// One that has not been forgotten yet is no time for another rotation.
	step(Begin, 0, 2)
	step(Forget, 3, 1)
	if auth := in.Live["cache-auth"].Data; len(auth) != 1 || len(in.Live["cache-system"].Data) != len(old.Data) {
		t.Errorf("%d passwords of the default user, %d of others", len(auth), len(in.Live["cache-system"].Data))
	}
	step(Keep, 0, 1)
}

// TestAReplacedPasswordOverlaps: the default user's, which its owner has overwritten, as
// long as that is asked for.
func TestAReplacedPasswordOverlaps(t *testing.T) {
	in := Input{Random: random(), Live: map[string]*corev1.Secret{}}
	in.Cluster = newCluster(func(c *v1alpha1.ValkeyCluster) {
		c.Spec.Auth = &v1alpha1.AuthSpec{ExistingSecret: &v1alpha1.SecretKeyRef{Name: "mine", Key: "pw"}}
	})
	valid := func(overlap bool, data map[string]string) int {
		in.Overlap = overlap
		in.Live["mine"] = foreign("mine", data)
		in.Live = apply(in.Live, decide(t, in))
		line, _, _ := strings.Cut(string(in.Live["cache-acl"].Data[acl.FileKey("9.1")]), "\n")
		return strings.Count(line, " #")
	}
	for i, step := range []struct {
		overlap bool
		data    map[string]string
		want    int
	}{
		{true, map[string]string{"pw": "one"}, 1},
		{true, map[string]string{"pw": "two"}, 2},
		{true, map[string]string{"pw": "two"}, 2},
		{false, map[string]string{"pw": "two"}, 1},
		// The owner can say the next one before, and the previous one after.
		{false, map[string]string{"pw": "two", "pw.next": "three"}, 2},
		{false, map[string]string{"pw": "three", "pw.previous": "two"}, 2},
		{false, map[string]string{"pw": "three"}, 1},
	} {
		if got := valid(step.overlap, step.data); got != step.want {
			t.Errorf("step %d: %d passwords are valid, want %d", i, got, step.want)
		}
	}
}

func TestUsersThatCollideAreBadInput(t *testing.T) {
	c := newCluster(func(c *v1alpha1.ValkeyCluster) { c.Spec.Users = []v1alpha1.UserSpec{{Name: "app"}} })
	a := &v1alpha1.ValkeyACL{Spec: v1alpha1.ValkeyACLSpec{Users: []v1alpha1.UserSpec{{Name: "app"}}}}
	a.Name, a.Namespace, a.Spec.ClusterRef.Name = "more", "shop", "cache"
	_, err := Names(c, []*v1alpha1.ValkeyACL{a})
	_, again := Decide(Input{Cluster: c, ACLs: []*v1alpha1.ValkeyACL{a}, Random: random()})
	for _, err := range []error{err, again} {
		if _, ok := errors.AsType[*UsersError](err); !ok || !strings.Contains(err.Error(), `user "app": in spec.users of ValkeyCluster cache and in ValkeyACL more`) {
			t.Errorf("%v", err)
		}
	}
}
