// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"embed"
	"fmt"

	"github.com/valkey-render/valkey-render/render/name"
)

//go:embed *.sh
var files embed.FS

// Names of the files that Kubernetes calls.
const (
	Start   = "start.sh"
	Probe   = "probe.sh"
	PreStop = "prestop.sh"
)

// The first argument of start.sh in a Sentinel pod.
const SentinelArgument = "sentinel"

// The arguments of probe.sh.
const (
	ProbeStartup   = "startup"
	ProbeLiveness  = "liveness"
	ProbeReadiness = "readiness"
)

// Where the pods mount what the scripts read and write.
const (
	// Root holds the mounts that are not data. The images own /etc/valkey.
	Root = "/valkey"
	// ScriptsDir holds Files.
	ScriptsDir = Root + "/scripts"
	// ConfigDir holds the downwardAPI file valkey.conf or sentinel.conf. probe.sh
	// takes a pod with a sentinel.conf here for a Sentinel pod.
	ConfigDir = Root + "/config"
	// LiveDir holds one file of live settings for each version, LiveFile.
	LiveDir = Root + "/live"
	// ACLDir holds two ACL files for each version, ACLFile and SentinelACLFile.
	ACLDir = Root + "/acl"
	// SystemDir holds the passwords of the system users, "<user>.current" and
	// during a rotation "<user>.next".
	SystemDir = Root + "/system"
	// TLSDir holds TLSCA, TLSCert and TLSKey.
	TLSDir = Root + "/tls"
	// ModulesDir is an emptyDir: init containers copy a ModuleFile each there.
	ModulesDir = Root + "/modules"
	// RunDir is an emptyDir: start.sh composes LiveInclude and AuthInclude there.
	RunDir = Root + "/run"
	// DataDir is the claim or emptyDir. The scripts keep what they remember in its
	// directory .valkey-render.
	DataDir = "/data"
)

// Names of files.
const (
	// ServerFile is the configuration of data pods, in ConfigDir.
	ServerFile = "valkey.conf"
	// SentinelFile is the configuration of Sentinel pods, in ConfigDir.
	SentinelFile = "sentinel.conf"
	// NodesFile is what a node of a Cluster knows of it, in DataDir. identity.sh
	// reads it.
	NodesFile = "nodes.conf"
	// TLSCA, TLSCert and TLSKey are in TLSDir, named as cert-manager names them.
	TLSCA   = "ca.crt"
	TLSCert = "tls.crt"
	TLSKey  = "tls.key"
)

// ModuleFile is where a module is in the server container.
func ModuleFile(module string) string { return ModulesDir + "/" + module + ".so" }

// Files that valkey.conf includes and start.sh writes.
const (
	// LiveInclude is the live file of the pod's version, or the last one that a
	// server started with.
	LiveInclude = RunDir + "/live.conf"
	// AuthInclude holds primaryuser and primaryauth, mode 0600. It does not exist
	// with topology Standalone.
	AuthInclude = RunDir + "/auth.conf"
)

// Names of the environment variables that the scripts read. All are strings as
// the pod template writes them; lists are separated by one space.
const (
	EnvPodName      = "POD_NAME"
	EnvPodNamespace = "POD_NAMESPACE"
	EnvPodIP        = "POD_IP"
	// EnvVersion is the minor version, "9.1".
	EnvVersion = "VALKEY_VERSION"
	// EnvTopology is a value of the API's Topology.
	EnvTopology = "VALKEY_TOPOLOGY"
	// EnvPort is the data port, also in Sentinel pods.
	EnvPort = "VALKEY_PORT"
	// EnvPersisted is yes or no: whether the data outlives the process.
	EnvPersisted = "VALKEY_PERSISTED"
	// EnvReplicas is the number of pods of the shard less one. It, EnvPeers and
	// EnvSentinels are set only where there is no MembersFile.
	EnvReplicas = "VALKEY_REPLICAS"
	// EnvTLS is yes or no.
	EnvTLS = "VALKEY_TLS"
	// EnvPeers lists the DNS names of the shard's pods in order of their ordinals,
	// this one included. In Sentinel pods: of the data pods.
	EnvPeers = "VALKEY_PEERS"
	// EnvSentinels lists the DNS names of the Sentinel pods. Topology Sentinel
	// only, in data and Sentinel pods.
	EnvSentinels = "VALKEY_SENTINELS"
	// EnvJobs is Reconciler or Rendered.
	EnvJobs = name.EnvJobs
	// EnvNodeTimeout is cluster-node-timeout in milliseconds, where it is not to be
	// taken from the live file.
	EnvNodeTimeout = "VALKEY_NODE_TIMEOUT_MS"
	// EnvGrace is terminationGracePeriodSeconds. prestop.sh ends five seconds
	// earlier and needs at least eight to do anything.
	EnvGrace = "VALKEY_GRACE_SECONDS"
	// EnvFQDN is the DNS name of this pod.
	EnvFQDN = "VALKEY_FQDN"
)

const (
	// ProbeTimeoutSeconds is the least timeoutSeconds of the probes: probe.sh ends
	// by itself within four seconds, with a reason.
	ProbeTimeoutSeconds = 5
	// RoleSeconds is how long start.sh may ask for a role before the server starts.
	// A startup probe's budget includes it. With topology Cluster a primary that
	// lost its data waits for the promotion of a replica: two node timeouts in the
	// usual case, 20 s for a pod that does not answer, at most ten node timeouts with
	// EnvJobs Rendered, else until a Job has acted; a container that is restarted
	// meanwhile goes on waiting.
	RoleSeconds = 10
	// QuorumPrefix and a number is a line of sentinel.conf: the quorum. The monitor
	// line itself is composed by start.sh, since no rendered text knows the primary.
	// Without the line the majority of EnvSentinels is used.
	QuorumPrefix = "# valkey-render: quorum "
)

// EndMarker is the last line, without its newline, of a configuration file that
// the scripts accept: file is its base name: ServerFile, LiveFile or
// SentinelFile. A file without it was emptied or cut short.
func EndMarker(file string) string { return "# valkey-render: end of " + file }

// LiveFile is the key of a version's live settings in ConfigMap <cluster>-live.
func LiveFile(version string) string { return version + ".conf" }

// MembersFile is the key in ConfigMap <cluster>-live that tells how many pods there
// are; Members is its content.
const MembersFile = "members"

// Members is the content of MembersFile for shards of replicas+1 pods and a number
// of Sentinel pods.
func Members(replicas, sentinels int32) string {
	return fmt.Sprintf("replicas %d\nsentinels %d\n%s\n", replicas, sentinels, EndMarker(MembersFile))
}

// ACLFile is the key of a version's users in Secret <cluster>-acl. start.sh
// refuses one without a line for the default user.
func ACLFile(version string) string { return version + ".acl" }

// SentinelACLFile is the key of the sentinels' users in Secret <cluster>-acl. A
// sentinel refuses to start with a file that names a command of data servers.
func SentinelACLFile(version string) string { return version + ".sentinel.acl" }

// Files are the scripts, content by name, for ConfigMap <cluster>-scripts. The
// map is the caller's own.
func Files() map[string]string {
	// Both calls read what is embedded and cannot fail.
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	out := make(map[string]string, len(entries))
	for _, entry := range entries {
		text, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		out[entry.Name()] = string(text)
	}
	return out
}
