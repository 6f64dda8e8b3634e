// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"net/url"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bucket and region names as S3 has them.
var (
	bucketForm = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])$`)
	regionForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

func (c *ValkeyCluster) validateBackup(v *violations, spec *field.Path) {
	if b := c.Spec.Backup; b != nil {
		path := spec.Child("backup")
		if b.Schedule != "" {
			if why := cronProblem(b.Schedule); why != "" {
				v.invalid(path.Child("schedule"), b.Schedule, "%s", why)
			}
		}
		if b.Retention != nil && *b.Retention < 0 {
			v.invalid(path.Child("retention"), *b.Retention, "must be at least 0, which keeps all")
		}
		b.S3.validate(v, path.Child("s3"))
	}
	r := c.Spec.RestoreFrom
	if r == nil {
		return
	}
	path := spec.Child("restoreFrom")
	r.S3.validate(v, path.Child("s3"))
	v.objectKey(path.Child("sourceKey"), r.SourceKey)
	v.objectKey(path.Child("manifestKey"), r.ManifestKey)
	switch {
	case !c.knownTopology():
	case c.IsCluster():
		if r.ManifestKey == "" {
			v.required(path.Child("manifestKey"), "topology Cluster is restored from the slot manifest of a backup")
		}
		if r.SourceKey != "" {
			v.forbidden(path.Child("sourceKey"), "topology Cluster has manifestKey")
		}
	default:
		if r.SourceKey == "" {
			v.required(path.Child("sourceKey"), "topology %s is restored from one RDB object", c.Spec.Topology)
		}
		if r.ManifestKey != "" {
			v.forbidden(path.Child("manifestKey"), "topology %s has sourceKey", c.Spec.Topology)
		}
	}
}

// objectKey reports what cannot be the key of an S3 object. Nothing set is fine.
func (v *violations) objectKey(path *field.Path, key string) {
	if strings.HasPrefix(key, "/") {
		v.invalid(path, key, "must not begin with '/': did you mean %s?", strings.TrimLeft(key, "/"))
	}
	v.printable(path, key)
}

func (s *S3Spec) validate(v *violations, path *field.Path) {
	switch {
	case s.Bucket == "":
		v.required(path.Child("bucket"), "name of a bucket")
	case len(s.Bucket) < 3 || len(s.Bucket) > 63 || !bucketForm.MatchString(s.Bucket) || strings.Contains(s.Bucket, ".."):
		v.invalid(path.Child("bucket"), s.Bucket, "must be 3 to 63 lower-case letters, digits, '-' and single dots, with a letter or digit at both ends")
	}
	if s.Region != "" && !regionForm.MatchString(s.Region) {
		v.invalid(path.Child("region"), s.Region, "must be like us-east-1")
	}
	v.objectKey(path.Child("prefix"), s.Prefix)
	v.subdomain(path.Child("credentialsSecret"), s.CredentialsSecret)
	oneOf(v, path.Child("encryption"), s.Encryption, "AES256", "KMS")
	if s.KMSKeyID != "" && s.Encryption != "KMS" {
		v.forbidden(path.Child("kmsKeyId"), "needs encryption: KMS beside it")
	}
	v.printable(path.Child("kmsKeyId"), s.KMSKeyID)
	v.secretRef(path.Child("caSecret"), s.CASecret)
	https := s.validateEndpoint(v, path.Child("endpoint"))
	if s.CASecret != nil && !https {
		v.forbidden(path.Child("caSecret"), "needs an endpoint that begins with https://")
	}
}

// validateEndpoint says whether the endpoint is reached over TLS.
func (s *S3Spec) validateEndpoint(v *violations, path *field.Path) (https bool) {
	if s.Endpoint == "" {
		return false
	}
	u, err := url.Parse(s.Endpoint)
	switch {
	case strings.Contains(s.Endpoint, "@"):
		v.invalid(path, notShown, "must be a host and a port alone: credentials belong in credentialsSecret")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		v.invalid(path, s.Endpoint, "must be a URL like https://s3.example.com:9000")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		v.invalid(path, s.Endpoint, "must end with the host and port; bucket and prefix are fields of their own")
	}
	return err == nil && u.Scheme == "https"
}
