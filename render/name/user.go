// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

// The system users. They exist also when auth is off, and no user's name may
// start with an underscore.
const (
	// UserOperator is who scripts and Jobs are.
	UserOperator = "_operator"
	// UserReplication is who a replica is to its primary.
	UserReplication = "_replication"
	// UserExporter is who the exporter is.
	UserExporter = "_exporter"
	// UserSentinel is who a Sentinel is to data pods.
	UserSentinel = "_sentinel"
)

// ExporterFile is the key of the system Secret with the exporter's password, a
// JSON object from ExporterKey to password, as redis_exporter reads it.
const ExporterFile = "exporter.json"

// ExporterAddress is the address that the exporter scrapes: its own pod's. With
// TLS its host is the name that the certificate must carry.
func ExporterAddress(port int32, tls bool) string {
	return exporterScheme(tls) + "localhost:" + itoa(port)
}

// ExporterKey is the key in ExporterFile under which redis_exporter looks up the
// password for ExporterAddress and UserExporter.
func ExporterKey(port int32, tls bool) string {
	return exporterScheme(tls) + UserExporter + "@localhost:" + itoa(port)
}

func exporterScheme(tls bool) string {
	if tls {
		return "rediss://"
	}
	return "redis://"
}
