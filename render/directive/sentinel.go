// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/nearest"
)

// SentinelScope says what stands between a sentinel directive's name and value.
type SentinelScope string

const (
	// PerMaster directives name the master: "sentinel NAME MASTER VALUE".
	PerMaster SentinelScope = "master"
	// Global directives do not: "sentinel NAME VALUE".
	Global SentinelScope = "global"
	// Server directives are those of valkey.conf that Sentinel reads too: "NAME VALUE".
	Server SentinelScope = "server"
)

// SentinelDirective is a directive of sentinel.conf. Its Name is without the word
// sentinel.
type SentinelDirective struct {
	Directive
	Scope SentinelScope
	// Args is the shape of what follows the name, and the master.
	Args string
}

// sentinelState are directives that Sentinel itself writes into its file.
const sentinelState = "Sentinel keeps its own state there"

// sentinelTable is the same in all supported versions; the process test starts the
// servers with it. A server cannot be asked for its sentinel directives.
func sentinelTable() []SentinelDirective {
	milliseconds := func(name string, least int64, standard string) SentinelDirective {
		return SentinelDirective{Scope: PerMaster, Args: "<milliseconds>", Directive: Directive{
			Name: name, Type: Integer, Min: least, Max: 1<<31 - 1, Default: standard,
		}}
	}
	yesNo := func(name, standard string) SentinelDirective {
		return SentinelDirective{Scope: Global, Args: "yes|no", Directive: Directive{Name: name, Type: Bool, Default: standard}}
	}
	reserved := func(scope SentinelScope, name, args, reason, instead string) SentinelDirective {
		return SentinelDirective{Scope: scope, Args: args, Directive: Directive{
			Name: name, Type: Special, Reserved: reason, Instead: instead,
		}}
	}
	secret := func(d SentinelDirective) SentinelDirective { d.Secret = true; return d }
	old := func(d SentinelDirective, alias string) SentinelDirective { d.Aliases = []string{alias}; return d }
	downAfter := milliseconds("down-after-milliseconds", 1, "30000")
	downAfter.Reserved, downAfter.Instead = "when a primary counts as down has a field of its own", "spec.sentinel.downAfter"
	resolve := yesNo("resolve-hostnames", "no")
	resolve.Reserved, resolve.Instead = "follows from how pods are announced", "spec.networking.announce"
	announce := yesNo("announce-hostnames", "no")
	announce.Reserved, announce.Instead = resolve.Reserved, resolve.Instead
	scripts := yesNo("deny-scripts-reconfig", "yes")
	scripts.Reserved = "with no, a client could name a program for the pod to run"
	return []SentinelDirective{
		downAfter,
		milliseconds("failover-timeout", 1, "180000"),
		{Scope: PerMaster, Args: "<replicas>", Directive: Directive{
			Name: "parallel-syncs", Type: Integer, Min: 1, Max: 1<<31 - 1, Default: "1",
			Note: "how many replicas follow a new primary at the same time",
		}},
		old(milliseconds("primary-reboot-down-after-period", 0, "0"), "master-reboot-down-after-period"),
		scripts,
		resolve,
		announce,
		reserved(Global, "announce-ip", "<address>", "each pod announces its own address", "spec.networking.announce"),
		reserved(Global, "announce-port", "<port>", "pods announce the port they listen on", "spec.networking.port"),
		reserved(Global, "myid", "<40 hexadecimal digits>", "a replaced pod keeps the identity that its name gives it", ""),
		reserved(Global, "sentinel-user", "<user>", "sentinels talk to each other as a user of their own", ""),
		secret(reserved(Global, "sentinel-pass", "<password>", "passwords belong in a Secret", "")),
		reserved(PerMaster, "monitor", "<host> <port> <quorum>", "the primary is found at each start", "spec.sentinel.quorum"),
		reserved(PerMaster, "auth-user", "<user>", "sentinels talk to servers as a user of their own", ""),
		secret(reserved(PerMaster, "auth-pass", "<password>", "passwords belong in a Secret", "")),
		reserved(PerMaster, "notification-script", "<path>", "the image holds no script, and the root file system is read-only", ""),
		reserved(PerMaster, "client-reconfig-script", "<path>", "the image holds no script, and the root file system is read-only", ""),
		reserved(PerMaster, "rename-command", "<command> <name>", "commands keep their names; take them from users", "spec.users[].commands"),
		reserved(PerMaster, "known-replica", "<host> <port>", sentinelState, ""),
		reserved(PerMaster, "known-slave", "<host> <port>", sentinelState, ""),
		reserved(PerMaster, "known-sentinel", "<host> <port> <id>", sentinelState, ""),
		reserved(PerMaster, "config-epoch", "<number>", sentinelState, ""),
		reserved(PerMaster, "leader-epoch", "<number>", sentinelState, ""),
		reserved(Global, "current-epoch", "<number>", sentinelState, ""),
	}
}

// sentinelServer are the directives of valkey.conf that matter to Sentinel.
func sentinelServer() []string {
	return []string{
		"crash-log-enabled", "log-format", "log-timestamp-format", "loglevel", "maxclients", "tcp-backlog",
		"tcp-keepalive", "timeout", "tls-ciphers", "tls-ciphersuites",
	}
}

// AllSentinel lists the directives of sentinel.conf for a version, sorted by name.
func AllSentinel(version string) []SentinelDirective {
	list := sentinelTable()
	for i := range list {
		list[i].Class, list[i].Since, list[i].Until = Restart, v1alpha1.Versions()[0], v1alpha1.Versions()[len(v1alpha1.Versions())-1]
	}
	for _, name := range sentinelServer() {
		if d, found := Lookup(version, name); found {
			d.Class = Restart
			list = append(list, SentinelDirective{Directive: d, Scope: Server, Args: "<" + string(d.Type) + ">"})
		}
	}
	slices.SortFunc(list, func(a, b SentinelDirective) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// LookupSentinel finds a directive of sentinel.conf, in any case, with or without
// the word sentinel before it.
func LookupSentinel(version, name string) (SentinelDirective, bool) {
	name = strings.TrimPrefix(strings.ToLower(name), "sentinel ")
	for _, d := range AllSentinel(version) {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, true
		}
	}
	return SentinelDirective{}, false
}

// CheckSentinel judges one directive of spec.sentinel.config: nil, or a *Problem.
func CheckSentinel(version, name, value string) error {
	d, found := LookupSentinel(version, name)
	if !found {
		return unknownSentinel(version, name)
	}
	if p := d.check(name, value); p != nil {
		return p
	}
	return nil
}

func unknownSentinel(version, name string) *Problem {
	bare := strings.TrimPrefix(strings.ToLower(name), "sentinel ")
	p := &Problem{Name: name, Kind: Unknown, Message: "unknown directive of sentinel.conf"}
	if bare == "quorum" {
		p.Message = "the quorum is a field; use spec.sentinel.quorum"
		return p
	}
	for _, other := range v1alpha1.Versions() {
		if d, found := LookupSentinel(other, bare); found {
			p.Message = otherVersions(version, d.Directive)
			return p
		}
	}
	var known []string
	for _, d := range AllSentinel(version) {
		known = append(known, d.Name)
	}
	if d, found := Lookup(version, bare); found && d.Reserved != "" {
		return d.check(name, "")
	} else if found {
		p.Message = "is of valkey.conf, and of no use to Sentinel; use spec.config"
	} else if near := nearest.Word(bare, known); near != "" {
		p.Message += fmt.Sprintf("; did you mean %q?", near)
	}
	return p
}

// SentinelLine writes a directive as a line of sentinel.conf, as Line does for
// valkey.conf; master is used by directives of that scope. Directives with several
// words (monitor) take SentinelWords.
func SentinelLine(master, name, value string) (string, error) {
	return SentinelWords(master, name, value)
}

// SentinelWords is SentinelLine for several words. It does not check the words
// otherwise; the name must be known.
func SentinelWords(master, name string, words ...string) (string, error) {
	d, found := LookupSentinel(v1alpha1.Versions()[len(v1alpha1.Versions())-1], name)
	if !found {
		return "", unknownSentinel(v1alpha1.Versions()[len(v1alpha1.Versions())-1], name)
	}
	switch d.Scope {
	case PerMaster:
		return Words("sentinel", append([]string{d.Name, master}, words...)...)
	case Global:
		return Words("sentinel", append([]string{d.Name}, words...)...)
	default:
		return Words(d.Name, words...)
	}
}
