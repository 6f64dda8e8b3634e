// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/advice"
	"github.com/valkey-render/valkey-render/render/command"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
)

// check returns every violation and every warning in a set whose objects have
// their defaults, in no particular order.
func check(set load.Set) finding.List {
	findings := set.Conflicts()
	clusters := make(map[key]*v1alpha1.ValkeyCluster, len(set.Clusters))
	for _, c := range set.Clusters {
		clusters[key{c.Object.Namespace, c.Object.Name}] = c.Object
		findings = append(findings, checkCluster(c.Origin.Finding(), c.Object)...)
	}
	for _, a := range set.ACLs {
		cluster := clusters[key{a.Object.Namespace, a.Object.Spec.ClusterRef.Name}]
		findings = append(findings, checkACL(a.Origin.Finding(), a.Object, cluster)...)
	}
	return findings
}

// checkACL checks an access list; cluster is nil when it is not in the run.
func checkACL(origin finding.Origin, a *v1alpha1.ValkeyACL, cluster *v1alpha1.ValkeyCluster) finding.List {
	users := field.NewPath("spec", "users")
	version, modules := v1alpha1.DefaultVersion, command.MaybeModules
	if cluster != nil {
		version, modules = cluster.ServerVersion(), command.Of(cluster)
	}
	findings := finding.FromFieldErrors(origin, a.Validate())
	findings = append(findings, checkCommands(origin, users, version, a.Spec.Users, modules)...)
	return append(findings, advise(origin, advice.Users(users, a.Spec.Users))...)
}

// checkCluster checks the spec, directives, commands of users, and what cannot be
// rendered yet. Advice is only given for a cluster that is valid: on an invalid one it would
// speak of values that are about to change.
func checkCluster(origin finding.Origin, c *v1alpha1.ValkeyCluster) finding.List {
	findings := finding.FromFieldErrors(origin, c.Validate())
	findings = append(findings, notYet(origin, c)...)
	findings = append(findings, finding.FromFieldErrors(origin, conf.Check(c))...)
	findings = append(findings, checkCommands(origin, field.NewPath("spec", "users"), c.ServerVersion(), c.Spec.Users, command.Of(c))...)
	if findings.HasErrors() {
		return findings
	}
	return append(findings, advise(origin, advice.Check(c))...)
}

func advise(origin finding.Origin, all []advice.Advice) finding.List {
	var findings finding.List
	for _, a := range all {
		findings = append(findings, origin.New(a.Code, a.Path.String(), a.Message))
	}
	return findings
}

// checkCommands judges the commands of users, and gives names that no server knows
// their code.
func checkCommands(origin finding.Origin, path *field.Path, version string, users []v1alpha1.UserSpec, modules command.Modules) finding.List {
	errs := command.Check(path, version, users, modules)
	for i, e := range errs {
		if e.Origin == command.UnknownName {
			errs[i] = finding.WithCode(e, finding.UnknownCommand)
		}
	}
	return finding.FromFieldErrors(origin, errs)
}

// notYet answers fields that are part of the API and validated, but that this
// version does not render.
func notYet(origin finding.Origin, c *v1alpha1.ValkeyCluster) finding.List {
	spec := field.NewPath("spec")
	var findings finding.List
	for _, f := range []struct {
		set  bool
		path *field.Path
		code finding.Code
	}{
		{c.Spec.Backup != nil, spec.Child("backup"), finding.BackupNotYet},
		{c.Spec.RestoreFrom != nil, spec.Child("restoreFrom"), finding.RestoreNotYet},
		{c.Spec.ReplicateFrom != nil, spec.Child("replicateFrom"), finding.ReplicateNotYet},
		{c.Spec.Networking != nil && c.Spec.Networking.ExternalAccess != nil, spec.Child("networking", "externalAccess"), finding.ExternalAccessNotYet},
	} {
		if f.set {
			findings = append(findings, origin.New(f.code, f.path.String(), "not yet rendered by this version; remove it until a later one"))
		}
	}
	if c.EffectiveJobs() == v1alpha1.JobsRendered && c.Namespace == "" {
		findings = append(findings, origin.New(finding.NamespaceMissing, "metadata.namespace", "required with jobs: Rendered: a RoleBinding names the namespace of its ServiceAccount"))
	}
	return findings
}
