// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Renaming says how a field of another spelling is called here.
//
// +kubebuilder:object:generate=false
type Renaming struct {
	// Right is the path of the right field, empty when nothing takes its place.
	Right string
	// Sentence is what to do instead, for a person.
	Sentence string
}

// Renamed returns the fields of other operators for Valkey, and the spellings
// that people try, that ValkeyCluster has under another name: by path, without
// indexes of lists. A loader looks an unknown field up here, and a field of the
// wrong type (auth: secret). What is a field here too and only wrong for the
// topology, such as replicas under Cluster, Validate reports.
func Renamed() map[string]Renaming {
	table := map[string]Renaming{}
	for _, part := range []map[string]Renaming{renamedTopology(), renamedStorage(), renamedAccess(), renamedPods()} {
		for path, renaming := range part {
			table[path] = renaming
		}
	}
	return table
}

func renamedTopology() map[string]Renaming {
	return map[string]Renaming{
		"spec.mode":               {"spec.topology", "the topology is spec.topology: Cluster, Replication, Sentinel or Standalone"},
		"spec.clusterMode":        {"spec.topology", "the topology is spec.topology: Cluster, Replication, Sentinel or Standalone"},
		"spec.size":               {"spec.shards", "the number of primaries is spec.shards with topology Cluster; without, spec.replicas counts all pods"},
		"spec.masters":            {"spec.shards", "the number of primaries is spec.shards"},
		"spec.primaries":          {"spec.shards", "the number of primaries is spec.shards"},
		"spec.nodes":              {"spec.shards", "a cluster has spec.shards primaries with spec.replicasPerShard replicas each"},
		"spec.clusterSize":        {"spec.shards", "the number of primaries is spec.shards"},
		"spec.replicaCount":       {"spec.replicas", "the number of pods is spec.replicas; topology Cluster has spec.replicasPerShard"},
		"spec.replicasPerPrimary": {"spec.replicasPerShard", "the number of replicas beside each primary is spec.replicasPerShard"},
		"spec.replicasPerMaster":  {"spec.replicasPerShard", "the number of replicas beside each primary is spec.replicasPerShard"},
		"spec.replicasPerNode":    {"spec.replicasPerShard", "the number of replicas beside each primary is spec.replicasPerShard"},
		"spec.perShardWorkload":   {"", "every shard has its own StatefulSet: remove the field"},
		"spec.workloadType":       {"", "every shard is a StatefulSet: remove the field"},
		"spec.autoReshard":        {"spec.rebalance.enabled", "whether slots move to new shards is spec.rebalance.enabled"},
		"spec.autoRebalance":      {"spec.rebalance.enabled", "whether slots move to new shards is spec.rebalance.enabled"},
		"spec.sentinel.enabled":   {"spec.topology", "Sentinel pods come with topology: Sentinel"},
		"spec.paused":             {"spec.suspend", "the reconciler starts nothing with spec.suspend: true"},
		"spec.pause":              {"spec.suspend", "the reconciler starts nothing with spec.suspend: true"},
		"spec.updateStrategy":     {"spec.rollout.mode", "who drives a roll is spec.rollout.mode: Orchestrated or StatefulSet"},
		"spec.nodeTimeout":        {"spec.failover.nodeTimeout", "cluster-node-timeout is spec.failover.nodeTimeout"},
		"spec.logging":            {"spec.config", "the log format is the directive log-format in spec.config"},
		"spec.logging.format":     {"spec.config", "the log format is the directive log-format in spec.config"},
	}
}

func renamedStorage() map[string]Renaming {
	return map[string]Renaming{
		"spec.persistence":                  {"spec.storage", "volumes are spec.storage"},
		"spec.persistence.enabled":          {"spec.storage", "volumes are there when spec.storage is"},
		"spec.persistence.size":             {"spec.storage.size", "the size of a volume is spec.storage.size"},
		"spec.persistence.storageClassName": {"spec.storage.storageClassName", "the class of the volumes is spec.storage.storageClassName"},
		"spec.persistence.reclaimPolicy":    {"spec.storage.reclaimPolicy", "what becomes of the claims is spec.storage.reclaimPolicy"},
		"spec.storage.enabled":              {"spec.storage", "volumes are there when spec.storage is: remove the field, or the block"},
		"spec.storage.storageClass":         {"spec.storage.storageClassName", "the class of the volumes is spec.storage.storageClassName"},
		"spec.storage.accessModes":          {"spec.storage.accessMode", "one access mode is spec.storage.accessMode"},
		"spec.storage.storageSize":          {"spec.storage.size", "the size of a volume is spec.storage.size"},
		"spec.storage.persistence":          {"spec.storage.mode", "what is written is spec.storage.mode: rdb, aof, both or none"},
		"spec.storageClassName":             {"spec.storage.storageClassName", "the class of the volumes is spec.storage.storageClassName"},
		"spec.storageSize":                  {"spec.storage.size", "the size of a volume is spec.storage.size"},
		"spec.volumePermissions":            {"", "the pods' fsGroup makes volumes writable: remove the field"},
		"spec.maxmemory":                    {"spec.memory.maxmemoryPercent", "maxmemory follows the memory limit by spec.memory.maxmemoryPercent, or is set in spec.config"},
		"spec.maxmemoryPolicy":              {"spec.config", "the eviction policy is the directive maxmemory-policy in spec.config"},
		"spec.valkeyConfig":                 {"spec.config", "directives are spec.config"},
		"spec.configuration":                {"spec.config", "directives are spec.config"},
		"spec.backup.enabled":               {"spec.backup", "backups are made when spec.backup is there"},
		"spec.backup.image":                 {"", "backups need no image of their own: remove the field"},
		"spec.backup.awsCLIImage":           {"", "backups need no image of their own: remove the field"},
		"spec.restoreFrom.awsCLIImage":      {"", "restoring needs no image of its own: remove the field"},
	}
}

func renamedAccess() map[string]Renaming {
	return map[string]Renaming{
		"spec.auth":                                          {"spec.auth.existingSecret.name", "auth is on without the block; your own password is spec.auth.existingSecret: {name: …}"},
		"spec.auth.secretName":                               {"spec.auth.existingSecret.name", "the Secret of the password is spec.auth.existingSecret: {name: …}"},
		"spec.auth.secret":                                   {"spec.auth.existingSecret.name", "the Secret of the password is spec.auth.existingSecret: {name: …}"},
		"spec.auth.passwordSecret":                           {"spec.auth.existingSecret", "the Secret of the password is spec.auth.existingSecret: {name: …, key: …}"},
		"spec.auth.existingSecret":                           {"spec.auth.existingSecret.name", "the Secret has a name and a key: existingSecret: {name: …}"},
		"spec.auth.existingSecretKey":                        {"spec.auth.existingSecret.key", "the key of the password is spec.auth.existingSecret.key"},
		"spec.auth.password":                                 {"spec.auth.existingSecret", "a password belongs in a Secret that spec.auth.existingSecret names"},
		"spec.password":                                      {"spec.auth.existingSecret", "a password belongs in a Secret that spec.auth.existingSecret names"},
		"spec.users.resetpass":                               {"spec.users[].enabled", "a user that may not log in has enabled: false"},
		"spec.users.password":                                {"spec.users[].passwordSecret", "a password belongs in a Secret that passwordSecret names"},
		"spec.users.rules":                                   {"spec.users[].permissions", "free ACL rules are permissions"},
		"spec.users.passwordSecret.key":                      {"spec.users[].passwordSecret.keys", "the keys of passwords are a list: keys: […]"},
		"spec.users.channels.patterns":                       {"spec.users[].channels", "the patterns stand in channels itself: channels: […]"},
		"spec.users.channels":                                {"spec.users[].channels", "the patterns are a list: channels: […]"},
		"spec.tls":                                           {"spec.tls", "TLS is on when the block is there: tls: {} takes the Secret <cluster>-tls, tls: {issuerRef: {name: …}} asks cert-manager; without the block it is off"},
		"spec.tls.enabled":                                   {"spec.tls", "TLS is on when spec.tls is there: remove the field, or the block"},
		"spec.tls.existingSecret":                            {"spec.tls.secretName", "the Secret of the certificate is spec.tls.secretName"},
		"spec.tls.certificate":                               {"spec.tls.secretName", "the Secret of the certificate is spec.tls.secretName, an issuer spec.tls.issuerRef"},
		"spec.tls.mutualTLS":                                 {"spec.tls.clientAuth", "clients must present a certificate with spec.tls.clientAuth: Required"},
		"spec.networking.tls":                                {"spec.tls", "TLS is spec.tls; a Secret of your own is spec.tls.secretName"},
		"spec.networking.tls.certificates":                   {"spec.tls.secretName", "the Secret of the certificate is spec.tls.secretName"},
		"spec.networking.tls.certificates.server.secretName": {"spec.tls.secretName", "the Secret of the certificate is spec.tls.secretName"},
		"spec.port":                                          {"spec.networking.port", "the port of clients is spec.networking.port"},
		"spec.clusterDomain":                                 {"spec.networking.clusterDomain", "the DNS domain is spec.networking.clusterDomain"},
		"spec.service":                                       {"spec.networking.externalAccess", "access from outside is spec.networking.externalAccess; other changes to Services are spec.patches"},
	}
}

func renamedPods() map[string]Renaming {
	return map[string]Renaming{
		"spec.exporter":                         {"spec.metrics", "the exporter is spec.metrics"},
		"spec.exporter.enabled":                 {"spec.metrics.enabled", "the exporter is on with spec.metrics.enabled"},
		"spec.exporter.image":                   {"spec.metrics.image", "the image of the exporter is spec.metrics.image"},
		"spec.exporter.args":                    {"spec.metrics.args", "the arguments of the exporter are spec.metrics.args"},
		"spec.exporter.resources":               {"spec.metrics.resources", "the resources of the exporter are spec.metrics.resources"},
		"spec.exporter.securityContext":         {"spec.pod.containers", "the exporter is merged from the entry named exporter in spec.pod.containers"},
		"spec.metrics.serviceMonitor":           {"spec.metrics.podMonitor", "Prometheus finds the pods with spec.metrics.podMonitor: {}"},
		"spec.containers":                       {"spec.pod.containers", "containers are spec.pod.containers"},
		"spec.podSecurityContext":               {"spec.pod.securityContext", "the security context of the pods is spec.pod.securityContext"},
		"spec.containerSecurityContext":         {"spec.pod.containerSecurityContext", "the security context of the containers is spec.pod.containerSecurityContext"},
		"spec.securityContext":                  {"spec.pod.securityContext", "the security context of the pods is spec.pod.securityContext"},
		"spec.terminationGracePeriodSeconds":    {"spec.pod.terminationGracePeriodSeconds", "the grace period is spec.pod.terminationGracePeriodSeconds"},
		"spec.podLabels":                        {"spec.pod.labels", "labels of the pods are spec.pod.labels"},
		"spec.podAnnotations":                   {"spec.pod.annotations", "annotations of the pods are spec.pod.annotations"},
		"spec.volumes":                          {"spec.pod.volumes", "volumes are spec.pod.volumes"},
		"spec.serviceAccountName":               {"spec.pod.serviceAccountName", "the ServiceAccount is spec.pod.serviceAccountName"},
		"spec.nodeSelector":                     {"spec.scheduling.nodeSelector", "where pods run is spec.scheduling.nodeSelector"},
		"spec.tolerations":                      {"spec.scheduling.tolerations", "tolerations are spec.scheduling.tolerations"},
		"spec.affinity":                         {"spec.scheduling.affinity", "affinity is spec.scheduling.affinity"},
		"spec.topologySpreadConstraints":        {"spec.scheduling.topologySpreadConstraints", "spread constraints are spec.scheduling.topologySpreadConstraints, or spec.scheduling.node and zone"},
		"spec.priorityClassName":                {"spec.scheduling.priorityClassName", "the priority class is spec.scheduling.priorityClassName"},
		"spec.podDisruptionBudget":              {"spec.podDisruptionBudget.mode", "the budget is a block: podDisruptionBudget: {mode: Shard}, Cluster or Disabled"},
		"spec.podDisruptionBudget.enabled":      {"spec.podDisruptionBudget.mode", "no budget is spec.podDisruptionBudget.mode: Disabled"},
		"spec.podDisruptionBudget.minAvailable": {"spec.podDisruptionBudget.maxUnavailable", "a budget is given by maxUnavailable: minAvailable of all pods would block every drain for ever"},
		"spec.imagePullSecret":                  {"spec.imagePullSecrets", "pull secrets are a list: imagePullSecrets: [{name: …}]"},
		"spec.env":                              {"spec.pod.containers", "variables are those of the entry named server in spec.pod.containers"},
		"spec.kubernetesConfig":                 {"spec.image", "image and resources are spec.image and spec.resources"},
	}
}
