// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// BackupSpec writes RDB files to S3.
type BackupSpec struct {
	// schedule in cron syntax, in UTC. Default "0 3 * * *".
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Schedule string `json:"schedule,omitempty"`
	// s3 is where backups go.
	S3 S3Spec `json:"s3"`
	// retention is how many backups are kept; 0 keeps all. Default 7.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Retention *int32 `json:"retention,omitempty"`
	// verify reads every object back. Default true.
	// +kubebuilder:default=true
	// +optional
	Verify *bool `json:"verify,omitempty"`
}

// S3Spec names a bucket.
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyId) || (has(self.encryption) && self.encryption == 'KMS')",fieldPath=".kmsKeyId",reason=FieldValueForbidden,message="needs encryption: KMS beside it"
// +kubebuilder:validation:XValidation:rule="!has(self.caSecret) || (has(self.endpoint) && self.endpoint.startsWith('https://'))",fieldPath=".caSecret",reason=FieldValueForbidden,message="needs an endpoint that begins with https://"
type S3Spec struct {
	// bucket name.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9][-.a-z0-9]*[a-z0-9]$`
	Bucket string `json:"bucket"`
	// endpoint URL. Absent: AWS.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// region of the bucket. Default us-east-1.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Region string `json:"region,omitempty"`
	// prefix of every key.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// credentialsSecret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Absent:
	// the pod's own identity.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	CredentialsSecret string `json:"credentialsSecret,omitempty"`
	// encryption on the server: AES256 or KMS.
	// +kubebuilder:validation:Enum=AES256;KMS
	// +optional
	Encryption string `json:"encryption,omitempty"`
	// kmsKeyId of the key for encryption KMS.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	KMSKeyID string `json:"kmsKeyId,omitempty"`
	// caSecret holds the CA of the endpoint; key defaults to ca.crt.
	// +optional
	CASecret *SecretKeyRef `json:"caSecret,omitempty"`
}

// RestoreSpec fills a new cluster from a backup.
type RestoreSpec struct {
	// s3 is where the backup is.
	S3 S3Spec `json:"s3"`
	// sourceKey of one RDB object, for topologies without slots.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	SourceKey string `json:"sourceKey,omitempty"`
	// manifestKey of a slot manifest, for topology Cluster.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	ManifestKey string `json:"manifestKey,omitempty"`
}
