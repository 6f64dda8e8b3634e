// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// Endpoint is where servers of a topology without slots look for each other: an address or
// a name, and a port.
type Endpoint struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

// String is host:port.
func (e Endpoint) String() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// Fenced reports whether it leads nowhere: port 1 of the loopback address, which a server
// follows that may not be the primary and knows no other (see start.sh).
func (e Endpoint) Fenced() bool {
	return e.Port == 1 && (e.Host == "127.0.0.1" || e.Host == "::1")
}

// Replication is what a server without slots says of whom it follows and who follows it.
// Answer has its history (ReplicationID up to Offset) and its link (LinkUp).
type Replication struct {
	// Primary is whether it follows nobody.
	Primary bool `json:"primary"`
	// Follows is whom a replica was told to follow.
	Follows Endpoint `json:"follows,omitzero"`
	// Silence is how long a replica has not heard from there: since the last byte while the
	// link is up, since it broke, or since the server started when there never was a link.
	Silence time.Duration `json:"silence,omitempty"`
	// Linked is whether there ever was a link.
	Linked bool `json:"linked,omitempty"`
	// Syncing is whether a replica is taking a full copy.
	Syncing bool `json:"syncing,omitempty"`
	// FormerID is the history that its own began in, "" for none, and FormerOffset is how
	// far it follows that one.
	FormerID     string `json:"formerID,omitempty"`
	FormerOffset int64  `json:"formerOffset,omitempty"`
	// Priority is replica-priority; 0 is never to be promoted.
	Priority int `json:"priority"`
	// Replicas are those that are connected to it.
	Replicas []Follower `json:"replicas,omitempty"`
	// FailingOver is the state of a FAILOVER that is under way, else "".
	FailingOver string `json:"failingOver,omitempty"`
	// Announced is how others know it, where that is not its address.
	Announced Endpoint `json:"announced,omitzero"`
	// DiskError says what it last failed to write, "" when it does not fail.
	DiskError string `json:"diskError,omitempty"`
}

// Follower is a replica as its primary knows it.
type Follower struct {
	Endpoint
	// State is online once it is in sync.
	State  string `json:"state"`
	Offset int64  `json:"offset"`
}

// Names reports whether an endpoint is this pod's server.
func (a *Answer) Names(e Endpoint) bool {
	if e.Host == "" {
		return false
	}
	if r := a.Replication; r != nil && r.Announced.Host != "" && e == (Endpoint{r.Announced.Host, cmpPort(r.Announced.Port, a.Pod.Port)}) {
		return true
	}
	return named(e, a.Pod, a.Address)
}

// Endpoint is how others are told of this server: what it announces, else its address.
func (a *Answer) Endpoint() Endpoint {
	e := Endpoint{a.Address.IP, a.Address.Port}
	if r := a.Replication; r != nil {
		if r.Announced.Host != "" {
			e.Host = r.Announced.Host
		}
		e.Port = cmpPort(r.Announced.Port, e.Port)
	}
	return e
}

func cmpPort(announced, port int) int {
	if announced != 0 {
		return announced
	}
	return port
}

// named reports whether an endpoint is a pod's, by any name that it has.
func named(e Endpoint, pod Pod, address node.Address) bool {
	if e.Port != pod.Port {
		return false
	}
	host := strings.TrimSuffix(e.Host, ".")
	return slices.Contains([]string{strings.TrimSuffix(pod.Host, "."), pod.ServerName, address.IP}, host)
}

// At returns the answer of the pod that an endpoint leads to, nil if it is none of them. A
// pod that did not answer is found as well.
func (v *View) At(e Endpoint) *Answer {
	for i := range v.Answers {
		if v.Answers[i].Names(e) {
			return &v.Answers[i]
		}
	}
	return nil
}

// fillReplication asks a server of a topology without slots, in one pipeline.
func (a *Answer) fillReplication(ctx context.Context, conn node.Conn) error {
	replies := conn.Do(ctx,
		node.Cmd("INFO", "server", "replication", "persistence", "keyspace", "cluster"),
		node.Cmd("CONFIG", "GET", "save"),
		node.Cmd("CONFIG", "GET", "replica-announce-*"),
	)
	if err := node.FirstError(replies); err != nil {
		return err
	}
	text, err := replies[0].Text()
	if err != nil {
		return &unreadableError{err}
	}
	if err := a.Read(node.ParseInfo(text)); err != nil {
		return &unreadableError{err}
	}
	a.Persists = a.Persists || savePoints(replies[1].Value)
	announced := node.Pairs(replies[2].Value)
	a.Replication.Announced.Host = announced["replica-announce-ip"]
	a.Replication.Announced.Port, _ = strconv.Atoi(announced["replica-announce-port"])
	return nil
}

// errCluster is that a server has slots where none should have.
var errCluster = errors.New("runs in cluster mode")

// Read takes over what INFO of a server of a topology without slots says: the sections
// server, replication, persistence, keyspace and cluster.
func (a *Answer) Read(info node.Info) error {
	if info["cluster_enabled"] == "1" {
		return errCluster
	}
	var problems []error
	number := func(name string) int64 {
		n, err := info.Int(name)
		problems = append(problems, err)
		return n
	}
	a.ID, a.Version, a.ReplicationID = info["run_id"], info.Version(), info["master_replid"]
	if a.ID == "" || a.ReplicationID == "" {
		problems = append(problems, errors.New("INFO has no run_id or no master_replid"))
	}
	keys, err := info.Keys()
	problems = append(problems, err)
	a.Keys = keys
	a.Now, a.Uptime = number("server_time_usec")/1000, time.Duration(number("uptime_in_seconds"))*time.Second
	a.Persists = info["aof_enabled"] == "1"
	r := &Replication{Primary: info["role"] == "master", Priority: 100}
	a.Replication = r
	if state := info["master_failover_state"]; state != "no-failover" {
		r.FailingOver = state
	}
	if id := info["master_replid2"]; strings.Trim(id, "0") != "" {
		r.FormerID, r.FormerOffset = id, number("second_repl_offset")-1
	}
	for _, status := range []string{"rdb_last_bgsave_status", "aof_last_bgrewrite_status", "aof_last_write_status"} {
		if value := info[status]; value != "" && value != "ok" {
			r.DiskError = status + ":" + value
		}
	}
	r.Replicas, err = followers(info)
	problems = append(problems, err)
	if r.Primary {
		a.Offset = number("master_repl_offset")
	} else {
		a.readReplica(info, number)
	}
	return errors.Join(problems...)
}

func (a *Answer) readReplica(info node.Info, number func(string) int64) {
	r := a.Replication
	a.Offset = number("slave_repl_offset")
	r.Follows = Endpoint{info["master_host"], int(number("master_port"))}
	r.Priority = int(number("slave_priority"))
	r.Syncing = info["master_sync_in_progress"] == "1"
	a.LinkUp = info["master_link_status"] == "up"
	seconds := number("master_last_io_seconds_ago")
	if !a.LinkUp {
		seconds = number("master_link_down_since_seconds")
	}
	r.Linked = seconds >= 0
	r.Silence = time.Duration(seconds) * time.Second
	if !r.Linked {
		r.Silence = a.Uptime
	}
}

// followers reads lines such as
// "slave0:ip=10.0.0.2,port=6379,state=online,offset=70,lag=1,type=replica".
func followers(info node.Info) ([]Follower, error) {
	var list []Follower
	for i := 0; ; i++ {
		line, found := info["slave"+strconv.Itoa(i)]
		if !found {
			return list, nil
		}
		fields := map[string]string{}
		for part := range strings.SplitSeq(line, ",") {
			key, value, _ := strings.Cut(part, "=")
			fields[key] = value
		}
		port, err := strconv.Atoi(fields["port"])
		if err != nil {
			return nil, fmt.Errorf("INFO slave%d:%s: %w", i, line, err)
		}
		offset, err := strconv.ParseInt(fields["offset"], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("INFO slave%d:%s: %w", i, line, err)
		}
		list = append(list, Follower{Endpoint{fields["ip"], port}, fields["state"], offset})
	}
}
