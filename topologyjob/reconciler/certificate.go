// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// fingerprint takes over which certificate the last Job of kind tls saw every pod show. The
// status keeps it when the Job is deleted.
func (g *gathered) fingerprint() {
	for i := range g.jobs {
		if o := g.jobs[i].Outcome; g.jobs[i].Kind == job.TLS && o != nil && o.Result == outcome.Converged && o.Fingerprint != "" {
			g.seen.Fingerprint = o.Fingerprint
		}
	}
}
