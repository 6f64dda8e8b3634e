// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Order is a Job that is to be started.
type Order struct {
	// Kind of the work.
	Kind string
	// Why, for people: the line of the plan, or of what asked for it.
	Why string
	// Args are the arguments of the work, without credentials. No secret is in them.
	Args []string
	// Token tells what it applies from what it applied before, "" for work on the topology.
	Token string
	// Epoch is what makes the same arguments another try: the generation of the spec,
	// and the token of the annotation that asks for a retry.
	Epoch string
}

// Input is a hash of everything that was asked for: the same input that fails is tried
// again only so often.
func (o Order) Input() string {
	h := sha256.New()
	for _, part := range append([]string{o.Kind, o.Token, o.Epoch}, o.Args...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// The flags that are read back: those that name a pod, and the number of shards.
const podFlag, sentinelFlag, shardsFlag = "--pod=", "--sentinel=", "--shards="

// Topology are the arguments of a Job that works on the servers of a cluster.
func Topology(d plan.Desired, port int32, domain string, present int32, pods, sentinels []survey.Pod) []string {
	args := []string{
		"--topology=" + string(d.Topology), shardsFlag + strconv.Itoa(int(d.Shards)), "--replicas=" + strconv.Itoa(int(d.Replicas)),
		"--node-timeout=" + d.NodeTimeout.String(), "--port=" + strconv.Itoa(int(port)), "--pod-domain=" + domain,
	}
	add := func(there bool, arg string) {
		if there {
			args = append(args, arg)
		}
	}
	add(d.Durable, "--durable")
	add(d.Initialized, "--initialized")
	add(d.Takeover, "--takeover")
	add(len(d.AcceptLoss) > 0, "--accept-slot-loss="+d.AcceptLoss.String())
	add(d.Spread != plan.SpreadNone, "--spread="+string(d.Spread))
	add(present > d.Shards, "--present-shards="+strconv.Itoa(int(present)))
	add(d.RebalanceEnabled, "--rebalance")
	add(d.BatchSlots > 0, "--batch-slots="+strconv.Itoa(d.BatchSlots))
	add(d.MaxConcurrent > 0, "--max-concurrent="+strconv.Itoa(d.MaxConcurrent))
	if r := d.Reshard; r != nil {
		slots := strconv.Itoa(r.Count)
		if len(r.Slots) > 0 {
			slots = r.Slots.String()
		}
		args = append(args, fmt.Sprintf("--reshard=from=%d,to=%d,slots=%s", r.From, r.To, slots))
	}
	add(d.Primary != "", "--primary="+d.Primary)
	add(d.Keep != "", "--keep="+d.Keep)
	add(d.Detection > 0, "--detection="+d.Detection.String())
	add(d.Quorum > 0, "--quorum="+strconv.Itoa(d.Quorum))
	for _, pod := range sentinels {
		args = append(args, sentinelFlag+place(pod))
	}
	for _, pod := range d.Vacate {
		args = append(args, "--vacate="+pod)
	}
	for _, pod := range pods {
		args = append(args, podFlag+place(pod))
	}
	return args
}

// Setting are the arguments of a Job that sets something on servers.
func Setting(port int32, domain string, pods, sentinels []survey.Pod) []string {
	args := []string{"--port=" + strconv.Itoa(int(port)), "--pod-domain=" + domain}
	for _, pod := range pods {
		args = append(args, podFlag+place(pod))
	}
	for _, pod := range sentinels {
		args = append(args, sentinelFlag+place(pod))
	}
	return args
}

// place is a pod as --pod takes it. One without an address is named too: a Job that did
// not know of it would take what its server was for a member that is gone for good.
func place(p survey.Pod) string {
	parts := []string{p.Name + "=" + p.Host}
	for _, f := range []struct{ key, value string }{
		{"uid", p.UID}, {"runs", string(p.Runs)}, {"node", p.Node}, {"zone", p.Zone},
	} {
		if f.value != "" {
			parts = append(parts, f.key+"="+f.value)
		}
	}
	return strings.Join(parts, ",")
}
