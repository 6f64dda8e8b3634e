// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Rendered Jobs have nobody who starts another one when they fail, so they are
// patient: a pod waits for what it needs, and others follow it.
const (
	renderedRetries  = 6
	secretsDeadline  = 10 * time.Minute
	convergeDeadline = time.Hour
)

// Rendered are the Jobs of a cluster with jobs: Rendered, with what they may do.
type Rendered struct {
	Account *corev1.ServiceAccount
	Role    *rbacv1.Role
	Binding *rbacv1.RoleBinding
	Jobs    []*batchv1.Job
}

// Render makes them. c has its defaults; acls of other clusters are left out. The
// Jobs have names of their own only after Rename.
func Render(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL, image string) (Rendered, error) {
	account := name.JobAccount(c.Name, KindSecrets)
	meta := func() metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: account, Namespace: c.Namespace, Labels: name.Labels(c.Name, name.ComponentJob)}
	}
	input, err := secretsInput(c, acls)
	if err != nil {
		return Rendered{}, err
	}
	r := Rendered{
		Account: &corev1.ServiceAccount{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta(),
			AutomountServiceAccountToken: new(false),
		},
		Role: &rbacv1.Role{
			TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"}, ObjectMeta: meta(),
			Rules: secretsRules(c, acls),
		},
		Binding: &rbacv1.RoleBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"}, ObjectMeta: meta(),
			// The namespace of the account is that of the binding, where it is applied.
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: c.Namespace}},
			RoleRef:  rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: account},
		},
		Jobs: []*batchv1.Job{New(Params{
			Cluster: c, Kind: KindSecrets, Name: unnamed(c, KindSecrets), Image: image, Spec: input,
			Deadline: secretsDeadline, Retries: renderedRetries, Account: account,
		})},
	}
	if c.IsCluster() {
		input, err := ConvergeInput(c)
		if err != nil {
			return Rendered{}, err
		}
		r.Jobs = append(r.Jobs, New(Params{
			Cluster: c, Kind: KindConverge, Name: unnamed(c, KindConverge), Image: image, Spec: input, Args: Login(c),
			Deadline: convergeDeadline, Retries: renderedRetries, System: true,
		}))
	}
	return r, nil
}

// Login are the arguments with which a Job that has Params.System logs in to servers.
// The next and the previous password of a rotation are there during one only.
func Login(c *v1alpha1.ValkeyCluster) []string {
	args := []string{
		"--password-file=" + SystemDir + "/" + name.UserOperator + ".current",
		"--password-file=" + SystemDir + "/" + name.UserOperator + ".next",
	}
	// Without a reconciler nothing rotates passwords.
	if c.Spec.Jobs != v1alpha1.JobsRendered {
		args = append(args, "--password-file="+SystemDir+"/"+name.UserOperator+".previous")
	}
	if c.IsSentinel() {
		// What sentinels log in with is set on those that watch nothing.
		args = append(args, "--sentinel-password-file="+SystemDir+"/"+name.UserSentinel+".current")
	}
	if c.TLSEnabled() {
		args = append(args, "--tls-ca="+TLSDir+"/ca.crt", "--tls-cert="+TLSDir+"/tls.crt", "--tls-key="+TLSDir+"/tls.key")
	}
	return args
}

// secretsRules are what the secrets Job may do: see the Secrets that it writes or
// that the spec refers to, and write its own. RBAC cannot limit create to names,
// since a request to create has none.
func secretsRules(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) []rbacv1.PolicyRule {
	own := []string{name.SystemSecret(c.Name), name.ACLSecret(c.Name)}
	var others []string
	if c.AuthEnabled() {
		if c.Spec.Auth == nil || c.Spec.Auth.ExistingSecret == nil {
			own = append(own, name.AuthSecret(c.Name))
		} else {
			others = append(others, c.Spec.Auth.ExistingSecret.Name)
		}
	}
	users := c.Spec.Users
	for _, a := range ofCluster(c, acls) {
		users = slices.Concat(users, a.Spec.Users)
	}
	for _, u := range users {
		if p := u.Password(c.Name); p != nil && u.IsEnabled() {
			others = append(others, p.Name)
		}
	}
	slices.Sort(own)
	read := slices.Compact(slices.Sorted(slices.Values(slices.Concat(own, others))))
	rule := func(names []string, verb string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: names, Verbs: []string{verb}}
	}
	return []rbacv1.PolicyRule{rule(read, "get"), rule(own, "update"), rule(nil, "create")}
}

// ofCluster are the ValkeyACLs of a cluster, sorted by name.
func ofCluster(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) []*v1alpha1.ValkeyACL {
	var out []*v1alpha1.ValkeyACL
	for _, a := range acls {
		if a.Namespace == c.Namespace && a.Spec.ClusterRef.Name == c.Name {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *v1alpha1.ValkeyACL) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// hashLength is how many hex digits of the SHA-256 are in a name. A Job's name, with
// those of the longest cluster and kind, has 58 characters: as many as the name of a
// pod keeps of it.
const hashLength = 8

// unnamed is the name of a Job before Rename.
func unnamed(c *v1alpha1.ValkeyCluster, kind string) string {
	return name.RenderedJob(c.Name, kind, "hash")
}

// Rename is the name of a rendered Job that is named like before: with the hash of
// its spec in place of the last part. spec is the Job's, as it is written.
func Rename(before string, spec any) (string, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("name of Job %s: %w", before, err)
	}
	sum := sha256.Sum256(data)
	end := len(before)
	for end > 0 && before[end-1] != '-' {
		end--
	}
	return before[:end] + hex.EncodeToString(sum[:])[:hashLength], nil
}
