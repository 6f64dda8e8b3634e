// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding

// Code names a kind of finding, for ever: VR and four digits.
type Code string

// Reading YAML.
const (
	// NotUTF8: source is not UTF-8.
	NotUTF8 Code = "VR0001"
	// ControlCharacter: control character in the source.
	ControlCharacter Code = "VR0002"
	// ByteOrderMark: byte order mark inside the source.
	ByteOrderMark Code = "VR0003"
	// TabIndentation: tab used for indentation.
	TabIndentation Code = "VR0004"
	// Syntax: not valid YAML.
	Syntax Code = "VR0005"
	// DuplicateKey: key given twice in one mapping.
	DuplicateKey Code = "VR0006"
	// TooLarge: source or document too large.
	TooLarge Code = "VR0007"
	// AliasExpansion: YAML aliases expand too far.
	AliasExpansion Code = "VR0008"
	// TooDeep: document nested too deep.
	TooDeep Code = "VR0009"
	// UnsupportedYAML: YAML feature that is not supported.
	UnsupportedYAML Code = "VR0010"
	// NotAnObject: document is not an object.
	NotAnObject Code = "VR0011"
	// NothingFound: no ValkeyCluster or ValkeyACL found.
	NothingFound Code = "VR0012"
	// Kustomization: kustomization cannot be built.
	Kustomization Code = "VR0013"
	// ResourceList: KRM ResourceList cannot be read.
	ResourceList Code = "VR0014"
	// Unreadable: source cannot be read.
	Unreadable Code = "VR0015"
)

// The schema, and rules of the spec.
const (
	// UnknownField: field is not in the schema.
	UnknownField Code = "VR0101"
	// WrongType: value of the wrong type.
	WrongType Code = "VR0102"
	// NeedsQuotes: text that YAML reads as something else.
	NeedsQuotes Code = "VR0103"
	// Null: field without a value.
	Null Code = "VR0104"
	// BadFormat: value that its type cannot read.
	BadFormat Code = "VR0105"
	// UnknownKind: apiVersion or kind that does not exist.
	UnknownKind Code = "VR0106"
	// ForeignObject: object of another kind among the specs.
	ForeignObject Code = "VR0107"
	// NameMissing: metadata.name missing.
	NameMissing Code = "VR0108"
	// GenerateName: metadata.generateName used.
	GenerateName Code = "VR0109"
	// Required: required field missing.
	Required Code = "VR0110"
	// NotSupported: value that is not among those allowed.
	NotSupported Code = "VR0111"
	// Invalid: value not allowed.
	Invalid Code = "VR0112"
	// Forbidden: field not allowed here.
	Forbidden Code = "VR0113"
	// Duplicate: entry given twice.
	Duplicate Code = "VR0114"
	// TooLong: too long or too many.
	TooLong Code = "VR0115"
	// Unchecked: value could not be checked.
	Unchecked Code = "VR0118"
	// RenamedField: field has another name here.
	RenamedField Code = "VR0119"
	// UnknownCommand: command or category does not exist in this version.
	UnknownCommand Code = "VR0120"
)

// Directives of valkey.conf and sentinel.conf.
const (
	// UnknownDirective: directive does not exist in this version.
	UnknownDirective Code = "VR0201"
	// DirectiveValue: value that the directive does not take.
	DirectiveValue Code = "VR0202"
	// ReservedDirective: directive that the renderer owns.
	ReservedDirective Code = "VR0203"
	// DuplicateDirective: directive given twice.
	DuplicateDirective Code = "VR0204"
	// SecretDirective: secret in the configuration.
	SecretDirective Code = "VR0206"
)

// Patches.
const (
	// PatchInvalid: patch cannot be read.
	PatchInvalid Code = "VR0301"
	// PatchNoTarget: patch matches no object.
	PatchNoTarget Code = "VR0302"
	// PatchProtected: patch touches what the cluster depends on.
	PatchProtected Code = "VR0303"
	// PatchFailed: patch cannot be applied.
	PatchFailed Code = "VR0304"
	// PatchDeletes: patch deletes an object that holds data or is needed.
	PatchDeletes Code = "VR0305"
)

// Names, and rules across the objects of one run.
const (
	// NameRefused: name not allowed.
	NameRefused Code = "VR0401"
	// SameObject: same object given twice.
	SameObject Code = "VR0402"
	// NameCollision: clusters whose objects would share names.
	NameCollision Code = "VR0403"
	// SameUser: ACL user defined twice for one cluster.
	SameUser Code = "VR0404"
	// NamespaceConflict: namespace differs from the one asked for.
	NamespaceConflict Code = "VR0405"
	// OutputCollision: two rendered objects with one identity.
	OutputCollision Code = "VR0406"
	// NamespaceMissing: namespace missing where the output has to name it.
	NamespaceMissing Code = "VR0407"
)

// Parts of the spec that this version does not render yet.
const (
	// BackupNotYet: backup is not rendered yet.
	BackupNotYet Code = "VR0501"
	// RestoreNotYet: restoreFrom is not rendered yet.
	RestoreNotYet Code = "VR0502"
	// ReplicateNotYet: replicateFrom is not rendered yet.
	ReplicateNotYet Code = "VR0503"
	// ExternalAccessNotYet: externalAccess is not rendered yet.
	ExternalAccessNotYet Code = "VR0504"
)

// Golden directories.
const (
	// GoldenDiffers: rendered object differs from the committed one.
	GoldenDiffers Code = "VR0601"
	// GoldenMissing: rendered object is not committed.
	GoldenMissing Code = "VR0602"
	// GoldenExtra: committed object is no longer rendered.
	GoldenExtra Code = "VR0603"
	// ChangeRefused: change that a running cluster cannot follow.
	ChangeRefused Code = "VR0604"
	// ShardRemoved: shard taken away with its data.
	ShardRemoved Code = "VR0605"
)

// Warnings.
const (
	// StatusIgnored: status given.
	StatusIgnored Code = "VR1001"
	// ServerFieldIgnored: metadata that the API server owns given.
	ServerFieldIgnored Code = "VR1002"
	// UnknownCluster: ValkeyACL of a cluster that is not in this run.
	UnknownCluster Code = "VR1003"
	// ObjectIgnored: objects of other kinds left out.
	ObjectIgnored Code = "VR1004"
	// DeprecatedDirective: directive under a deprecated name.
	DeprecatedDirective Code = "VR1005"
	// NoMajority: no majority of primaries.
	NoMajority Code = "VR1101"
	// NoReplica: no replica to fail over to.
	NoReplica Code = "VR1102"
	// GracePeriodShort: grace period too short.
	GracePeriodShort Code = "VR1104"
	// NotPersisted: Durable data that is not persisted.
	NotPersisted Code = "VR1105"
	// SpreadUnmet: spread that cannot be met.
	SpreadUnmet Code = "VR1106"
	// MemoryTooSmall: memory limit and maxmemory do not fit together.
	MemoryTooSmall Code = "VR1107"
	// NoMemoryLimit: no memory limit.
	NoMemoryLimit Code = "VR1108"
	// UnexpandedVariable: $(NAME) that nothing expands.
	UnexpandedVariable Code = "VR1109"
	// UnsafeSysctl: sysctl that kubelets refuse by default.
	UnsafeSysctl Code = "VR1110"
	// MutableTag: image tag that can change.
	MutableTag Code = "VR1111"
	// NoStorageHeadroom: volume too small for the data.
	NoStorageHeadroom Code = "VR1112"
	// NopassUser: user without a password.
	NopassUser Code = "VR1113"
	// AuthDisabled: authentication switched off.
	AuthDisabled Code = "VR1114"
	// PlainBus: cluster bus without TLS.
	PlainBus Code = "VR1115"
	// ManyShards: more than 250 shards in one application.
	ManyShards Code = "VR1116"
	// AcknowledgedAlone: durable writes that one pod acknowledges by itself.
	AcknowledgedAlone Code = "VR1117"
	// AllPodsRoll: roll without an order.
	AllPodsRoll Code = "VR1118"
	// DataLossAllowed: roll that may lose data.
	DataLossAllowed Code = "VR1119"
	// UnusedField: field without effect.
	UnusedField Code = "VR1120"
	// EvictionContradicts: eviction policy that contradicts the profile.
	EvictionContradicts Code = "VR1121"
	// UnprotectedDeletion: deletion is not guarded.
	UnprotectedDeletion Code = "VR1122"
	// PatchFragile: patch that depends on a position.
	PatchFragile Code = "VR1123"
	// BudgetDisabled: no budget over pods that hold copies of each other.
	BudgetDisabled Code = "VR1124"
	// ClaimsDeleted: claims that go with their StatefulSet.
	ClaimsDeleted Code = "VR1125"
	// TakeoverLosesWrites: takeover without a vote over durable data.
	TakeoverLosesWrites Code = "VR1126"
	// ShardsStayEmpty: new shards that get no slots.
	ShardsStayEmpty Code = "VR1127"
	// MoreThreadsThanCPUs: more I/O threads than the CPU limit.
	MoreThreadsThanCPUs Code = "VR1128"
	// RequestBelowLimit: memory request below the limit.
	RequestBelowLimit Code = "VR1129"
	// CertificateWithoutLocalhost: the exporter asks for a name that an own
	// certificate may not have.
	CertificateWithoutLocalhost Code = "VR1130"
	// PatchIdle: patch that changes nothing.
	PatchIdle Code = "VR1131"
	// NotRestricted: pods that Pod Security "restricted" does not admit.
	NotRestricted Code = "VR1132"
)
