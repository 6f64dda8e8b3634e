// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding

import "slices"

// Info describes a code. docs/findings.md has a section for each.
type Info struct {
	// Code is VR and four digits.
	Code Code
	// Severity is Warning for VR1xxx, Error otherwise.
	Severity Severity
	// Title says in a few words what was found.
	Title string
	// Help says in a sentence what to do about it.
	Help string
}

// Codes returns every code, in ascending order.
func Codes() []Info { return slices.Clone(registry[:]) }

// Lookup returns the description of a code.
func Lookup(code Code) (Info, bool) {
	i, found := slices.BinarySearchFunc(registry[:], code, func(info Info, code Code) int {
		switch {
		case info.Code < code:
			return -1
		case info.Code > code:
			return 1
		}
		return 0
	})
	if !found {
		return Info{}, false
	}
	return registry[i], true
}

// registry is sorted by code and never written; a test holds both.
var registry = [...]Info{
	{NotUTF8, Error, "source is not UTF-8", "Save the file as UTF-8 without a byte order mark."},
	{ControlCharacter, Error, "control character in the source", "Remove the character; in a value, write it as an escape in double quotes."},
	{ByteOrderMark, Error, "byte order mark inside the source", "Remove it: it comes from joining files that were saved with one."},
	{TabIndentation, Error, "tab used for indentation", "YAML is indented with spaces only."},
	{Syntax, Error, "not valid YAML", "Correct the line named; it is where the parser gave up, so the cause may be just above."},
	{DuplicateKey, Error, "key given twice in one mapping", "Keep one of the two: readers of YAML disagree about which one counts."},
	{TooLarge, Error, "source or document too large", "A source may have 1 MiB; split it into several files."},
	{AliasExpansion, Error, "YAML aliases expand too far", "Aliases may grow a document to ten times its size; write the values out."},
	{TooDeep, Error, "document nested too deep", "Flatten the document: nothing in the schema is nested this deep."},
	{UnsupportedYAML, Error, "YAML feature that is not supported", "Use plain mappings, lists and scalars: no own tags, no keys that are not text, no anchor that contains itself."},
	{NotAnObject, Error, "document is not an object", "A document is a mapping with apiVersion, kind and metadata."},
	{NothingFound, Error, "no ValkeyCluster or ValkeyACL found", "Name a file, directory or kustomization that holds one."},
	{Kustomization, Error, "kustomization cannot be built", "Correct the kustomization; only local files are read, and no plugins, charts or remote bases."},
	{ResourceList, Error, "KRM ResourceList cannot be read", "The function reads a config.kubernetes.io/v1 ResourceList from its input."},
	{Unreadable, Error, "source cannot be read", "Check that the file or directory exists and may be read."},
	{UnknownField, Error, "field is not in the schema", "Use the name suggested, or look it up with `valkey-render explain`."},
	{WrongType, Error, "value of the wrong type", "Give the type named; `valkey-render explain` shows the type of every field."},
	{NeedsQuotes, Error, "text that YAML reads as something else", "Put the value in double quotes: without them it is a number, a boolean or nothing."},
	{Null, Error, "field without a value", "Remove the line, or give the field a value; {} asks for the defaults of a block."},
	{BadFormat, Error, "value that its type cannot read", "Quantities look like 512Mi or 250m, durations like 5s or 1m30s."},
	{UnknownKind, Error, "apiVersion or kind that does not exist", "Use apiVersion valkey-render.dev/v1alpha1 with kind ValkeyCluster or ValkeyACL."},
	{ForeignObject, Error, "object of another kind among the specs", "Keep other manifests in other files, or have them ignored with --ignore-other-kinds."},
	{NameMissing, Error, "metadata.name missing", "Every name in the output is made from it."},
	{GenerateName, Error, "metadata.generateName used", "Give metadata.name: a name chosen by the API server cannot be rendered."},
	{Required, Error, "required field missing", "Give the field."},
	{NotSupported, Error, "value that is not among those allowed", "Use one of the values listed."},
	{Invalid, Error, "value not allowed", "Change the value as the message says."},
	{Forbidden, Error, "field not allowed here", "Remove the field, or change the one it contradicts."},
	{Duplicate, Error, "entry given twice", "Keep one of the two."},
	{TooLong, Error, "too long or too many", "Stay within the limit that the message names."},
	{Unchecked, Error, "value could not be checked", "This is a defect of valkey-render: please report it with the input."},
	{RenamedField, Error, "field has another name here", "Use the name given; docs/coming-from.md maps other operators' fields."},
	{UnknownCommand, Error, "command or category does not exist in this version", "Use the name suggested; a server does not start with an ACL command that it does not know."},
	{UnknownDirective, Error, "directive does not exist in this version", "Use the name suggested, or list the table with `valkey-render directives`."},
	{DirectiveValue, Error, "value that the directive does not take", "Use a value of the directive's type and range; `valkey-render directives` shows both."},
	{ReservedDirective, Error, "directive that the renderer owns", "Use the field named instead; the value must agree with the rest of the output."},
	{DuplicateDirective, Error, "directive given twice", "Names are case-insensitive and have aliases; keep one spelling."},
	{SecretDirective, Error, "secret in the configuration", "Put it into a Secret and refer to that; the output is kept in Git."},
	{PatchInvalid, Error, "patch cannot be read", "A patch is a strategic merge patch or a list of JSON 6902 operations."},
	{PatchNoTarget, Error, "patch matches no object", "Correct the target; `valkey-render build` without the patch shows what there is."},
	{PatchProtected, Error, "patch touches what the cluster depends on", "Use the field of the spec instead; docs/patches.md lists what is protected."},
	{PatchFailed, Error, "patch cannot be applied", "Its path must exist, its tests must hold, and the result must be an object that the API server takes."},
	{PatchDeletes, Error, "patch deletes an object that holds data or is needed", "Only budgets, network policies and monitoring objects may be deleted by a patch."},
	{NameRefused, Error, "name not allowed", "Use a DNS-1035 label of at most 40 characters without a reserved ending."},
	{SameObject, Error, "same object given twice", "Keep one of the two."},
	{NameCollision, Error, "clusters whose objects would share names", "Rename one of the two clusters."},
	{SameUser, Error, "ACL user defined twice for one cluster", "Keep the user in one place."},
	{NamespaceConflict, Error, "namespace differs from the one asked for", "Remove metadata.namespace or the option."},
	{OutputCollision, Error, "two rendered objects with one identity", "Rename the cluster, or remove the patch that renames an object."},
	{NamespaceMissing, Error, "namespace missing where the output has to name it", "Give metadata.namespace, or -n."},
	{BackupNotYet, Error, "backup is not rendered yet", "Remove spec.backup until a version that supports it."},
	{RestoreNotYet, Error, "restoreFrom is not rendered yet", "Remove spec.restoreFrom until a version that supports it."},
	{ReplicateNotYet, Error, "replicateFrom is not rendered yet", "Remove spec.replicateFrom until a version that supports it."},
	{ExternalAccessNotYet, Error, "externalAccess is not rendered yet", "Remove spec.networking.externalAccess until a version that supports it."},
	{GoldenDiffers, Error, "rendered object differs from the committed one", "Review the difference and run `valkey-render check --update`."},
	{GoldenMissing, Error, "rendered object is not committed", "Run `valkey-render check --update` and commit the file."},
	{GoldenExtra, Error, "committed object is no longer rendered", "Review the removal and run `valkey-render check --update`."},
	{ChangeRefused, Error, "change that a running cluster cannot follow", "Undo it, or move the data to a new cluster; --update --force accepts it when nothing runs."},
	{ShardRemoved, Error, "shard taken away with its data", "Raise spec.shards again, or have the reconciler drain the shard: jobs, deletionPolicy and hibernate must let it."},
	{StatusIgnored, Warning, "status given", "Remove it: status is written by the reconciler."},
	{ServerFieldIgnored, Warning, "metadata that the API server owns given", "Remove it: it comes from copying an object out of a cluster."},
	{UnknownCluster, Warning, "ValkeyACL of a cluster that is not in this run", "Correct spec.clusterRef.name, or render the cluster in the same run."},
	{ObjectIgnored, Warning, "objects of other kinds left out", "They were in the sources and are not part of the output."},
	{DeprecatedDirective, Warning, "directive under a deprecated name", "Use the name given."},
	{NoMajority, Warning, "no majority of primaries", "Use at least three shards: with fewer, no failover can be voted."},
	{NoReplica, Warning, "no replica to fail over to", "Data is unavailable while the pod is, and a budget may block drains."},
	{GracePeriodShort, Warning, "grace period too short", "Shutdown is cut off before the handover or the last save is done."},
	{NotPersisted, Warning, "Durable data that is not persisted", "Set storage and a mode other than none."},
	{SpreadUnmet, Warning, "spread that cannot be met", "Allow more nodes or zones, or do not ask for the spread."},
	{MemoryTooSmall, Warning, "memory limit and maxmemory do not fit together", "Leave room for buffers, forks and fragmentation."},
	{NoMemoryLimit, Warning, "no memory limit", "Without it maxmemory is not derived and the pod takes what the node has."},
	{UnexpandedVariable, Warning, "$(NAME) that nothing expands", "Remove it, or use a variable of the container."},
	{UnsafeSysctl, Warning, "sysctl that kubelets refuse by default", "Allow it on the nodes, or remove it."},
	{MutableTag, Warning, "image tag that can change", "Pin the image by digest or by a full version."},
	{NoStorageHeadroom, Warning, "volume too small for the data", "Persisting needs up to twice maxmemory during a rewrite."},
	{NopassUser, Warning, "user without a password", "Anyone who reaches the port can be this user."},
	{AuthDisabled, Warning, "authentication switched off", "Anyone who reaches the port can read and write everything."},
	{PlainBus, Warning, "cluster bus without TLS", "Replication and slot moves cross the network in the clear."},
	{ManyShards, Warning, "more than 250 shards in one application", "Split the output by shard range: Argo CD's status has a size limit."},
	{AcknowledgedAlone, Warning, "durable writes that one pod acknowledges alone", "Use two replicas: from then on a primary waits for one of them (min-replicas-to-write)."},
	{AllPodsRoll, Warning, "roll without an order", "Every shard is rolled at the same time."},
	{DataLossAllowed, Warning, "roll that may lose data", "The only copy of a shard is restarted."},
	{UnusedField, Warning, "field without effect", "Another field switches it off."},
	{EvictionContradicts, Warning, "eviction policy that contradicts the profile", "Use noeviction with profile Durable, and an eviction policy with Cache."},
	{UnprotectedDeletion, Warning, "deletion is not guarded", "deletionPolicy Allow lets a prune remove data."},
	{PatchFragile, Warning, "patch that depends on a position", "A JSON 6902 path with a list index can hit another item after an upgrade."},
	{BudgetDisabled, Warning, "no disruption budget", "Use mode Shard, so that a drain never takes every member of a shard."},
	{ClaimsDeleted, Warning, "claims are deleted with their StatefulSet", "Use Retain, unless the data may go whenever the workload goes; Delete needs Kubernetes 1.32."},
	{TakeoverLosesWrites, Warning, "takeover without a vote over durable data", "Use Manual: a person then decides what may be lost."},
	{ShardsStayEmpty, Warning, "new shards get no slots", "Enable the rebalance, or ask for a reshard by annotation after scaling out."},
	{MoreThreadsThanCPUs, Warning, "more I/O threads than CPUs", "Raise the CPU limit, or lower io-threads."},
	{RequestBelowLimit, Warning, "memory request below the limit", "Request what the limit allows, so that the pod is not the first to be evicted."},
	{CertificateWithoutLocalhost, Warning, "own certificate that must name localhost", "Add the DNS name localhost to the certificate: the exporter reaches its server under it."},
	{PatchIdle, Warning, "patch that changes nothing", "Remove the patch, or correct its target: what it asks for is rendered already."},
	{NotRestricted, Warning, "pods that Pod Security restricted refuses", "Remove it, or label the namespace for the level that is needed, and know who may change the pods."},
}
