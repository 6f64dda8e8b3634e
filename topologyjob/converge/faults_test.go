// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// fault is what befalls a command.
type fault struct {
	// before and after are done then.
	before, after func()
	// instead of an answer the command, which is not done, gets this error. What got lost is
	// in the place of the answer to one that is done.
	instead, lost error
}

var (
	errReset = errors.New("connection reset by peer")
	errHangs = errors.New("i/o timeout")
)

// faults befall commands at random until there were enough.
type faults struct {
	rand *rand.Rand
	left int
	// often is how likely one is at a command that changes something.
	often float64
	town  *town
}

// at decides what befalls a command.
func (f *faults) at(l *lab, _ string, command node.Command) fault {
	often := f.often
	if !command.Changes() {
		often /= 20
	}
	if f.left == 0 || f.rand.Float64() >= often {
		return fault{}
	}
	f.left--
	switch f.rand.IntN(10) {
	case 0:
		return fault{instead: &node.RefusedError{Words: "LOADING Valkey is loading the dataset in memory"}}
	case 1:
		return fault{instead: errReset}
	case 2:
		return fault{lost: errReset}
	case 3:
		return fault{instead: errHangs}
	case 4:
		return fault{lost: errHangs}
	case 5:
		return fault{instead: clustertest.ErrStopped}
	case 6:
		return fault{lost: clustertest.ErrStopped}
	case 7:
		return fault{before: f.town.trouble}
	case 8:
		return fault{after: f.town.trouble}
	}
	// Something happens a little later, such as while the step looks for its proof.
	return fault{after: func() {
		l.happen(time.Duration(f.rand.IntN(3000))*time.Millisecond, "", f.town.trouble)
	}}
}
