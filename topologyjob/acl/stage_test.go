// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
	"github.com/valkey-render/valkey-render/topologyjob/settle"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Passwords of all system users, before and after a rotation.
const (
	password     = "pw"
	nextPassword = "next"
)

// stage is a cluster of a version and a topology with its system users, of which is noted
// what they send, and all that Jobs, scripts and the exporter do with it.
type stage struct {
	*clustertest.Cluster
	t        *testing.T
	version  string
	topology v1alpha1.Topology
	records  clustertest.Records
	operator client.Dialer
	// hasty has Jobs wait no longer than they must for what will not happen.
	hasty bool
}

func newStage(t *testing.T, version string, topology v1alpha1.Topology) *stage {
	t.Helper()
	return &stage{
		t: t, version: version, topology: topology,
		records: clustertest.Records{Data: &servertest.Recorder{}, Sentinels: &servertest.Recorder{}},
		operator: client.Dialer{
			Username: name.UserOperator, Timeout: 10 * time.Second,
			Passwords: func() ([]string, error) { return []string{password, nextPassword}, nil },
		},
	}
}

// input has the system users with these passwords. The default user needs none, so that
// tests can reach the servers.
func (s *stage) input(passwords ...string) acl.Input {
	s.t.Helper()
	in := acl.Input{Topology: s.topology, Open: true, Hashes: map[string][]string{}}
	for _, p := range passwords {
		hash, err := acl.Hash([]byte(p))
		must(s.t, err)
		for _, user := range acl.SystemUsers(s.topology) {
			in.Hashes[user] = append(in.Hashes[user], hash)
		}
	}
	return in
}

// args give a data server its users.
func (s *stage) args() []string {
	s.t.Helper()
	users, err := acl.DataUsers(s.version, s.input(password))
	must(s.t, err)
	args := []string{"--primaryuser", name.UserReplication, "--primaryauth", password}
	for _, u := range users {
		if u.Name != acl.DefaultUser {
			args = append(append(args, "--user", u.Name), u.Rules...)
		}
	}
	return args
}

// watch starts sentinels with their users, and one of the test's.
func (s *stage) watch() {
	s.t.Helper()
	text, err := acl.SentinelText(s.version, s.input(password))
	must(s.t, err)
	s.Watch(3, map[string]string{
		"users.acl":     text + "user tester on nopass +@all\n",
		"sentinel.conf": "aclfile users.acl\nsentinel sentinel-user " + name.UserSentinel + "\nsentinel sentinel-pass " + password + "\n",
	}, "AUTH", "tester", "any")
}

// job does what a Job of a kind does.
func (s *stage) job(kind converge.Kind) converge.Outcome {
	s.t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	options := s.Options(kind, s.operator)
	options.Login = s.operator.Login
	if s.hasty {
		options.Patience, options.Asker.Timeout = 2*time.Second, 2*time.Second
	}
	options.SentinelLogin = func() (node.Login, error) {
		return node.Login{User: name.UserSentinel, Passwords: []string{password, nextPassword}}, nil
	}
	out := converge.Run(ctx, options)
	if out.Result != converge.Converged {
		s.t.Fatalf("%s: %+v", kind, out)
	}
	s.t.Logf("%s took %s", kind, time.Since(began).Round(time.Millisecond))
	return out
}

// settings changes live directives and users, and rotates the passwords.
func (s *stage) settings() {
	s.t.Helper()
	live, err := setting.ParseLive(s.version, "maxmemory 1gb\n# valkey-render: end of "+s.version+".conf\n")
	must(s.t, err)
	s.settled(settle.Live(s.t.Context(), s.settling(), map[string]map[string]string{s.version: live}))
	wanted := s.wanted(password)
	wanted.ClientKill = true
	// One user more, that loses its password, and one less.
	for _, rules := range [][]string{{"on", "nopass"}, {"off"}, nil} {
		with := wanted
		if rules != nil {
			one := acl.User{Name: "app", Rules: rules}
			with.Data, with.Sentinel = s.and(wanted.Data, one), s.and(wanted.Sentinel, one)
		}
		s.settled(settle.ACL(s.t.Context(), s.settling(), with))
	}
	for _, known := range settle.SurveyPasswords(s.t.Context(), s.settling()) {
		if !known.Known {
			s.t.Errorf("passwords of a server are not known: %+v", known)
		}
	}
	s.settled(settle.Rotate(s.t.Context(), s.settling(), s.wanted(password, nextPassword), settle.Links{Replication: nextPassword, Sentinel: nextPassword}))
}

func (s *stage) and(users map[string][]acl.User, one acl.User) map[string][]acl.User {
	return map[string][]acl.User{s.version: append(append([]acl.User{}, users[s.version]...), one)}
}

func (s *stage) wanted(passwords ...string) settle.Users {
	s.t.Helper()
	data, err := acl.DataUsers(s.version, s.input(passwords...))
	must(s.t, err)
	sentinel, err := acl.SentinelUsers(s.version, s.input(passwords...))
	must(s.t, err)
	return settle.Users{
		Data: map[string][]acl.User{s.version: data}, Sentinel: map[string][]acl.User{s.version: sentinel}, Login: s.operator.Login,
	}
}

func (s *stage) settling() settle.Options {
	s.t.Helper()
	var pods []settle.Pod
	for _, p := range s.Places() {
		pods = append(pods, settle.Pod{Name: p.Name, Host: p.Host, Port: p.Port})
	}
	for _, p := range s.SentinelPlaces() {
		pods = append(pods, settle.Pod{Name: p.Name, Host: p.Host, Port: p.Port, Sentinel: true})
	}
	pool := node.NewPool(s.operator)
	s.t.Cleanup(pool.Close)
	return settle.Options{Pods: pods, Pool: pool, Clock: clustertest.Clock{}, Wait: true, Timeout: 20 * time.Second}
}

func (s *stage) settled(report settle.Report) {
	s.t.Helper()
	if report.Result != outcome.Converged {
		s.t.Fatalf("%+v", report)
	}
}

// probe runs the probes of a data pod until they succeed, as the kubelet does.
func (s *stage) probe(p *clustertest.Pod) { s.probeAt(p.Place, "config/valkey.conf") }

// probeAt is for a pod with a file of this name.
func (s *stage) probeAt(at survey.Pod, config string) {
	s.t.Helper()
	s.untilTaken(func() error {
		_, err := s.inContainer(at.Name, at.Port, config, script.Probe, script.ProbeReadiness)
		return err
	})
}

// inContainer runs a script as the container of a pod does, and returns what it said.
func (s *stage) inContainer(pod string, port int, config, name string, args ...string) (string, error) {
	s.t.Helper()
	root := s.t.TempDir()
	files := map[string]string{config: "", "system/_operator.current": password, "system/_operator.next": nextPassword}
	for file, text := range script.Files() {
		files["scripts/"+file] = text
	}
	for file, text := range files {
		must(s.t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o700))
		must(s.t, os.WriteFile(filepath.Join(root, file), []byte(text), 0o600))
	}
	must(s.t, os.MkdirAll(filepath.Join(root, "run"), 0o700))
	var peers, sentinels []string
	for _, p := range s.Places() {
		if strings.HasPrefix(pod, fmt.Sprintf("c-%d-", p.Shard)) {
			peers = append(peers, fmt.Sprintf("127.0.0.1:%d", p.Port))
		}
	}
	for _, p := range s.SentinelPlaces() {
		sentinels = append(sentinels, fmt.Sprintf("127.0.0.1:%d", p.Port))
	}
	cmd := exec.CommandContext(s.t.Context(), servertest.Tool(s.t, "dash"), append([]string{filepath.Join(root, "scripts", name)}, args...)...)
	cmd.Env = []string{"PATH=" + filepath.Dir(servertest.Program(s.t, s.version, "valkey-cli")) + ":" + os.Getenv("PATH"), "VALKEY_ROOT=" + root, "VALKEY_DATA=" + root}
	for key, value := range map[string]string{
		script.EnvPodName: pod, script.EnvPodIP: "127.0.0.1", script.EnvPort: strconv.Itoa(port), "VALKEY_SENTINEL_PORT": strconv.Itoa(port),
		script.EnvVersion: s.version, script.EnvTopology: string(s.topology), script.EnvReplicas: strconv.Itoa(int(s.Desired.Replicas)),
		script.EnvPeers: strings.Join(peers, " "), script.EnvSentinels: strings.Join(sentinels, " "), script.EnvGrace: "60",
	} {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s of %s: %w: %s", name, pod, err, said)
	}
	return string(said), err
}

// handsOver runs the preStop hook of a primary until its role has moved: the hook does
// nothing when no replica is in sync.
func (s *stage) handsOver(primary *clustertest.Pod) {
	s.t.Helper()
	var said string
	for deadline := time.Now().Add(2 * time.Minute); primary.Role() == "master"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is still the primary: %s", primary.Place.Name, said)
		}
		var err error
		said, err = s.inContainer(primary.Place.Name, primary.Place.Port, "config/valkey.conf", script.PreStop)
		must(s.t, err)
	}
}

// scrape sends what the exporter sends when it is asked for metrics, with the arguments that
// are rendered (redis_exporter 1.80). CONFIG GET, which it sends as well, it is refused.
func (s *stage) scrape(p *clustertest.Pod) {
	s.t.Helper()
	commands := []string{
		"AUTH _exporter " + password, "CLIENT SETNAME redis_exporter", "INFO ALL", "CLUSTER INFO",
		"LATENCY LATEST", "LATENCY HISTOGRAM", "SLOWLOG LEN", "SLOWLOG GET 10",
	}
	if s.topology != v1alpha1.TopologyCluster {
		commands = slices.DeleteFunc(commands, func(c string) bool { return c == "CLUSTER INFO" })
	}
	s.untilTaken(func() error {
		conn, err := servertest.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.Place.Port))
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		for _, command := range commands {
			if _, err := conn.Do(strings.Fields(command)...); err != nil {
				return fmt.Errorf("%s: %w", command, err)
			}
		}
		return nil
	})
}

// insist sends a command of the test until it is taken: a busy machine has servers take each
// other for dead for a while.
func (s *stage) insist(p *clustertest.Pod, words ...string) {
	s.t.Helper()
	s.untilTaken(func() error {
		_, err := p.Server.Do(words...)
		return err
	})
}

func (s *stage) untilTaken(do func() error) {
	s.t.Helper()
	var last error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if last = do(); last == nil {
			return
		}
	}
	s.t.Fatal(last)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a state that is promised.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not seen in time: %s", what)
		}
	}
}
