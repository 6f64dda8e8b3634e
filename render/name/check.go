// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Check says why a cluster may not have a name, one reason each; none when it
// may. A name is a DNS-1035 label (Services ask for it) of at most 40
// characters, and ends in none of the endings that objects of another cluster
// have: the Replication cluster "a-0" would share the claims of shard 0 of "a".
func Check(cluster string) []string {
	if cluster == "" {
		return []string{"a name is needed"}
	}
	var why []string
	if len(cluster) > v1alpha1.MaxClusterName {
		why = append(why, fmt.Sprintf("%d characters are too many: at most %d", len(cluster), v1alpha1.MaxClusterName))
	}
	if !isDNS1035(cluster) {
		why = append(why, "only lower-case letters, digits and '-', starting with a letter and not ending in '-'")
	}
	if _, end := split(cluster); end != "" {
		why = append(why, fmt.Sprintf("the ending %q is reserved for objects of a cluster", end))
	}
	return why
}

// Endings are those that no name of a cluster may have, beside a number after a '-'.
func Endings() []string {
	return []string{endNodes, endPrimary, endReplicas, endSentinel, endLive, endScripts, endBus}
}

// Ref names a cluster.
type Ref struct{ Namespace, Name string }

// Collision says that two clusters would have objects of the same name.
type Collision struct {
	// First and Second are indexes into what Collisions was given; First < Second.
	First, Second int
	// Why is what they share, such as "both are named a".
	Why string
}

// Collisions finds clusters of one run that would have objects of the same
// name, in the order of Second: equal names, and a name that is another's with
// a reserved ending.
func Collisions(clusters []Ref) []Collision {
	seen := make(map[Ref]int, len(clusters))
	for i, c := range clusters {
		if _, ok := seen[c]; !ok {
			seen[c] = i
		}
	}
	var out []Collision
	for i, c := range clusters {
		if first := seen[c]; first != i {
			out = append(out, collision(first, i, "both are named "+c.Name))
			continue
		}
		base, end := split(c.Name)
		if end == "" {
			continue
		}
		if other, ok := seen[Ref{c.Namespace, base}]; ok {
			out = append(out, collision(other, i, base+" has objects named "+c.Name))
		}
	}
	sortCollisions(out)
	return out
}

// split cuts a reserved ending off a name; end is empty when there is none.
func split(cluster string) (base, end string) {
	for _, e := range Endings() {
		if b, ok := strings.CutSuffix(cluster, e); ok {
			return b, e
		}
	}
	if b := strings.TrimRight(cluster, "0123456789"); len(b) < len(cluster) && strings.HasSuffix(b, "-") {
		return b[:len(b)-1], cluster[len(b)-1:]
	}
	return cluster, ""
}

func isDNS1035(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z'
		inner := '0' <= c && c <= '9' || c == '-'
		if !letter && (!inner || i == 0) {
			return false
		}
	}
	return s != "" && s[len(s)-1] != '-'
}

func collision(a, b int, why string) Collision {
	return Collision{First: min(a, b), Second: max(a, b), Why: why}
}

func sortCollisions(c []Collision) {
	slices.SortFunc(c, func(a, b Collision) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.First, b.First))
	})
}
