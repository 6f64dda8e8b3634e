// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Empty is whether a server holds no key.
func Empty(a *survey.Answer) bool { return a.Keys == 0 }

// Anonymous is whether it cannot be told what a server's data is a part of: it has keys and
// an offset of its own making, as after loading an AOF.
func Anonymous(a *survey.Answer) bool {
	return !Empty(a) && !a.Replication.Primary && !synced(a)
}

// synced is whether a replica ever was in sync, as far as it remembers. Before that its
// offset is 0, or 1 in the servers' way of saying none.
func synced(a *survey.Answer) bool { return a.Offset > 1 }

// Within is whether all that x ever had is in what p has, by their histories.
func Within(x, p *survey.Answer) bool {
	id, offset := tip(x)
	return id == p.ReplicationID && offset <= p.Offset ||
		p.Replication.FormerID != "" && id == p.Replication.FormerID && offset <= p.Replication.FormerOffset
}

// tip is the end of a history: of a primary that was written to by nobody since it was
// promoted, or started with an RDB, it is where the former one ended.
func tip(a *survey.Answer) (id string, offset int64) {
	if r := a.Replication; r.Primary && r.FormerID != "" && a.Offset <= r.FormerOffset {
		return r.FormerID, r.FormerOffset
	}
	return a.ReplicationID, a.Offset
}

// Older is whether p was promoted from x's history: x may have gone on in it since, which
// p knows nothing of, and still p is what came after x.
func Older(x, p *survey.Answer) bool {
	return p.Replication.FormerID != "" && p.Replication.FormerID == x.ReplicationID
}

// Related is whether either history is known to the other.
func Related(x, p *survey.Answer) bool {
	return Within(x, p) || Within(p, x) || Older(x, p) || Older(p, x) || x.ReplicationID == p.ReplicationID
}

// Ahead is how many bytes of x's writes p has not, where x is older.
func Ahead(x, p *survey.Answer) int64 {
	if !Older(x, p) {
		return 0
	}
	return max(0, x.Offset-p.Replication.FormerOffset)
}

// Yields is whether x may take p's data in place of its own: it is in there, or older, or x
// has nothing and p is not older than that nothing. An older primary that has gone on since
// yields only when it is alone and p is not: else it may be p that was promoted by mistake.
func Yields(x, p *survey.Answer) bool {
	older := Older(x, p) && (!x.Replication.Primary || len(online(x)) == 0 && len(online(p)) > 0)
	return Within(x, p) || older || Empty(x) && !Related(x, p)
}

// Replaces is whether p may be replicated by a server that is a replica already, and so
// was written to by nobody, although its data cannot be compared: p is a primary with data
// that it did not make up. It was promoted, or has a replica, or runs for longer than x.
func Replaces(p, x *survey.Answer) bool {
	if x.Replication.Primary || !p.Replication.Primary || Empty(p) {
		return false
	}
	return p.Replication.FormerID != "" || len(online(p)) > 0 || p.Uptime > x.Uptime
}

// online are the replicas that are in sync, as a primary knows them.
func online(p *survey.Answer) []survey.Follower {
	var list []survey.Follower
	for _, f := range p.Replication.Replicas {
		if f.State == "online" {
			list = append(list, f)
		}
	}
	return list
}

// holds says what a server holds.
func holds(a *survey.Answer) string {
	id, offset := tip(a)
	return fmt.Sprintf("pod %s holds %d keys of history %s up to %d", a.Pod.Name, a.Keys, id[:min(8, len(id))], offset)
}
