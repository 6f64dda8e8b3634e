// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// Asker asks pods.
type Asker struct {
	// Pool holds the connections.
	Pool *node.Pool
	// Resolve looks up the address of a pod whose Host is a name.
	Resolve func(ctx context.Context, host string) (string, error)
	// Timeout bounds one pod, 2 s when 0, looking up its name included.
	Timeout time.Duration
	// Parallel is how many are asked at once, 128 when 0.
	Parallel int
	// Topology says what is asked of servers; "" is Cluster.
	Topology v1alpha1.Topology
	// Sentinels are asked as well.
	Sentinels []Pod
}

// Take asks all pods. It always returns a View: a pod that cannot be asked is a Problem in
// it. An ended context makes all that are left Unreachable.
func (a Asker) Take(ctx context.Context, pods []Pod) View {
	v := View{Topology: a.Topology, Answers: make([]Answer, len(pods))}
	if len(a.Sentinels) > 0 {
		v.Sentinels = make([]Sentinel, len(a.Sentinels))
	}
	parallel := a.Parallel
	if parallel == 0 {
		parallel = 128
	}
	node.Each(len(pods)+len(a.Sentinels), parallel, func(i int) {
		if i < len(pods) {
			v.Answers[i] = a.ask(ctx, pods[i])
		} else {
			v.Sentinels[i-len(pods)] = a.askSentinel(ctx, a.Sentinels[i-len(pods)])
		}
	})
	return v
}

func (a Asker) ask(ctx context.Context, pod Pod) Answer {
	ctx, cancel := context.WithTimeout(ctx, a.timeout())
	defer cancel()
	answer := Answer{Pod: pod}
	var conn node.Conn
	if answer.Address, conn, answer.Problem = a.connect(ctx, pod); answer.Problem != nil {
		return answer
	}
	fill := answer.fill
	if a.Topology != "" && a.Topology != v1alpha1.TopologyCluster {
		fill = answer.fillReplication
	}
	if err := fill(ctx, conn); err != nil {
		a.Pool.Drop(answer.Address, conn)
		return Answer{Pod: pod, Address: answer.Address, Problem: problem(err)}
	}
	return answer
}

func (a Asker) timeout() time.Duration {
	if a.Timeout == 0 {
		return 2 * time.Second
	}
	return a.Timeout
}

// connect looks up a pod's address and dials it.
func (a Asker) connect(ctx context.Context, pod Pod) (node.Address, node.Conn, *Problem) {
	ip := pod.Host
	if _, err := netip.ParseAddr(pod.Host); err != nil {
		if ip, err = a.resolve(ctx, pod.Host); err != nil {
			return node.Address{}, nil, &Problem{Unresolved, err.Error()}
		}
	}
	address := node.Address{IP: ip, Port: pod.Port, Name: pod.ServerName}
	if address.Name == "" && ip != pod.Host {
		address.Name = strings.TrimSuffix(pod.Host, ".")
	}
	conn, err := a.Pool.Get(ctx, address)
	if err != nil {
		return address, nil, problem(err)
	}
	return address, conn, nil
}

func (a Asker) resolve(ctx context.Context, host string) (string, error) {
	if a.Resolve == nil {
		return "", fmt.Errorf("name %s is no address, and names are not looked up", host)
	}
	ip, err := a.Resolve(ctx, host)
	if err != nil {
		return "", err
	}
	if _, err := netip.ParseAddr(ip); err != nil {
		return "", fmt.Errorf("name %s: %q is no address", host, ip)
	}
	return ip, nil
}

// unreadableError marks answers that make no sense.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return e.err.Error() }

func (e *unreadableError) Unwrap() error { return e.err }

// problem puts an error into one word.
func problem(err error) *Problem {
	p := &Problem{Code: Unreachable, Message: err.Error()}
	var (
		refused    *node.RefusedError
		unreadable *unreadableError
	)
	switch {
	case errors.Is(err, errCluster):
		p.Code = InCluster
	case errors.As(err, &unreadable):
		p.Code = Unreadable
	case !errors.As(err, &refused):
		if strings.Contains(err.Error(), "x509:") || strings.Contains(err.Error(), "tls:") {
			p.Code = Denied
		}
	case refused.Code() == "LOADING":
		p.Code = Loading
	case refused.Code() == "WRONGPASS", refused.Code() == "NOAUTH", refused.Code() == "NOPERM", refused.Code() == "DENIED":
		p.Code = Denied
	case strings.Contains(refused.Words, "cluster support disabled"):
		p.Code = NotCluster
	}
	return p
}

// fill asks one pod, in one pipeline, and once more where that needs the version.
func (a *Answer) fill(ctx context.Context, conn node.Conn) error {
	replies := conn.Do(ctx,
		node.Cmd("CLUSTER", "MYID"), node.Cmd("CLUSTER", "NODES"), node.Cmd("CLUSTER", "INFO"),
		node.Cmd("INFO", "server", "replication", "persistence", "keyspace"),
		node.Cmd("CONFIG", "GET", "save"),
	)
	if err := node.FirstError(replies); err != nil {
		return err
	}
	var texts [4]string
	for i := range texts {
		text, err := replies[i].Text()
		if err != nil {
			return &unreadableError{err}
		}
		texts[i] = text
	}
	if err := a.read(texts, replies[4].Value); err != nil {
		return &unreadableError{err}
	}
	if err := a.countOpen(ctx, conn); err != nil {
		return err
	}
	if !AtomicMigration(a.Version) {
		return nil
	}
	reply := node.Ask(ctx, conn, "CLUSTER", "GETSLOTMIGRATIONS")
	if reply.Err != nil {
		return reply.Err
	}
	migrations, err := node.ParseMigrations(reply.Value)
	if err != nil {
		return &unreadableError{err}
	}
	a.Migrations = migrations
	return nil
}

// countOpen counts the keys of open slots, which say how far an interrupted move got.
func (a *Answer) countOpen(ctx context.Context, conn node.Conn) error {
	open := a.Own().Open
	if len(open) == 0 {
		return nil
	}
	commands := make([]node.Command, len(open))
	for i, o := range open {
		commands[i] = node.Cmd("CLUSTER", "COUNTKEYSINSLOT", strconv.Itoa(o.Slot))
	}
	a.OpenKeys = map[int]int64{}
	for i, reply := range conn.Do(ctx, commands...) {
		n, err := reply.Int()
		if err != nil {
			return err
		}
		a.OpenKeys[open[i].Slot] = n
	}
	return nil
}

func (a *Answer) read(texts [4]string, save any) error {
	a.ID = texts[0]
	nodes, err := node.ParseNodes(texts[1])
	if err != nil {
		return err
	}
	a.Nodes = nodes
	if own := a.Own(); own.ID != a.ID {
		return fmt.Errorf("CLUSTER MYID is %s and CLUSTER NODES says %s", a.ID, own.ID)
	}
	cluster, info := node.ParseInfo(texts[2]), node.ParseInfo(texts[3])
	a.StateOK = cluster["cluster_state"] == "ok"
	epoch, err := cluster.Int("cluster_current_epoch")
	if err != nil {
		return err
	}
	a.CurrentEpoch = uint64(epoch)
	a.Version = info.Version()
	if a.Keys, err = info.Keys(); err != nil {
		return err
	}
	a.ReplicationID = info["master_replid"]
	offset := "master_repl_offset"
	if info["role"] != "master" {
		a.LinkUp = info["master_link_status"] == "up"
		a.Syncing = info["master_sync_in_progress"] == "1"
		offset = "slave_repl_offset"
	}
	if a.Offset, err = info.Int(offset); err != nil {
		return err
	}
	now, err := info.Int("server_time_usec")
	if err != nil {
		return err
	}
	uptime, err := info.Int("uptime_in_seconds")
	if err != nil {
		return err
	}
	a.Now, a.Uptime = now/1000, time.Duration(uptime)*time.Second
	a.Persists = info["aof_enabled"] == "1" || savePoints(save)
	return nil
}

// savePoints reports whether CONFIG GET save names any.
func savePoints(reply any) bool {
	list, ok := reply.([]any)
	return ok && len(list) == 2 && list[1] != ""
}

// AtomicMigration reports whether a version such as 9.1.2 has CLUSTER MIGRATESLOTS.
func AtomicMigration(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 9
}
