// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"io"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
	"github.com/valkey-render/valkey-render/topologyjob/secretstore"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// secretsOf reads Secrets by their names and works out what is to be written.
func (r *Reconciler) secretsOf(ctx context.Context, g *gathered) error {
	names, err := status.SecretNames(g.cluster, g.seen.ACLs)
	if err != nil {
		// Users that are defined twice are in the status; the certificate is read anyhow.
		names = secret.Owned(g.cluster)
	}
	if g.secrets, err = secretstore.Read(ctx, r.Live, g.cluster.Namespace, names); err != nil {
		return err
	}
	if s := g.secrets[name.ACLSecret(g.cluster.Name)]; s != nil {
		g.tokens[job.ACL] = s.ResourceVersion
	}
	if s := g.secrets[g.cluster.TLSSecretName()]; s != nil && g.cluster.TLSEnabled() {
		g.tokens[job.TLS] = s.ResourceVersion
	}
	g.seen.Secrets = map[string]status.Secret{}
	for n, s := range g.secrets {
		seen := status.Secret{ResourceVersion: s.ResourceVersion}
		for key, value := range s.Data {
			if len(value) > 0 {
				seen.Keys = append(seen.Keys, key)
			}
		}
		g.seen.Secrets[n] = seen
	}
	g.lockedOut = g.makesSecrets() && g.secrets[name.SystemSecret(g.cluster.Name)] == nil && g.serving()
	return nil
}

// makesSecrets is whether the Secrets of the cluster are made here.
func (g *gathered) makesSecrets() bool {
	return g.invalid == "" && g.cluster.EffectiveJobs() != v1alpha1.JobsRendered
}

// passwords looks whether passwords are replaced, by us or by somebody else, and asks
// servers what they know of them when that is so.
func (r *Reconciler) passwords(ctx context.Context, g *gathered) {
	if !g.makesSecrets() || g.lockedOut {
		return
	}
	held := secret.Held(g.cluster, g.secrets)
	for _, h := range held {
		g.known.Marked = g.known.Marked || h.Next != "" || h.Previous != ""
	}
	if secret.Replaced(g.cluster, g.secrets) {
		g.known.Replaced = g.secrets[g.cluster.AuthSecret().Name].ResourceVersion
	}
	if !decision.Rotates(g.input()) {
		return
	}
	login, ok := g.login()
	if !ok {
		return
	}
	told := r.Surveyor.Passwords(ctx, g.key(), login, g.asked)
	for _, p := range told {
		if !p.Known {
			g.known.Silent++
		}
	}
	g.known.Stage = setting.StageOf(held, told)
}

// secretChanges works out what is to be written into Secrets.
func (r *Reconciler) secretChanges(g *gathered) {
	if !g.makesSecrets() || g.lockedOut {
		return
	}
	g.step, g.overlap = decision.Secrets(g.input())
	changes, err := secret.Decide(g.secretInput(r.Random))
	var stuck *secret.BlockedError
	var users *secret.UsersError
	switch {
	case err == nil:
		g.changes = changes
	case errors.As(err, &stuck) && stuck.Passing(), errors.As(err, &users):
		// What is missing, and what is wrong with users, the status finds by itself.
	default:
		g.seen.Failures = append(g.seen.Failures, status.Failure{
			Verb: status.VerbUpdate, Kind: "Secret", Name: name.SystemSecret(g.cluster.Name), Message: err.Error(),
		})
	}
}

// secretInput is what the Secrets of the cluster follow from.
func (g *gathered) secretInput(random io.Reader) secret.Input {
	return secret.Input{Cluster: g.cluster, ACLs: g.seen.ACLs, Live: g.secrets, Rotation: g.step, Overlap: g.overlap, Random: random}
}

// login is how the servers of the cluster are talked to; false without a way.
func (g *gathered) login() (Login, bool) {
	tls := ""
	if g.cluster.TLSEnabled() {
		tls = g.cluster.TLSSecretName()
	}
	return loginOf(g.cluster.Name, tls, g.secrets)
}

// serving reports whether a server runs, and so has read its passwords.
func (g *gathered) serving() bool {
	for i := range g.pods {
		for _, c := range g.pods[i].Status.ContainerStatuses {
			if c.Name == serverContainer && c.State.Running != nil {
				return true
			}
		}
	}
	return false
}
