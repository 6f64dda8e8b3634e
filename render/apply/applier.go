// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"sync"
	"time"

	"github.com/fluxcd/pkg/ssa"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options of an Applier. The zero value is usable.
type Options struct {
	// Adopt takes over objects that exist and are not labelled as the cluster's.
	// Without it they are errors: a Service of the same name may be another team's.
	Adopt bool
	// Owner is what inventories are deleted with; nil means that they stay until Delete.
	Owner *metav1.OwnerReference
	// Concurrency is how many requests run at a time; 0 means 8.
	Concurrency int
	// OnChange is told what became of each object, in order; never concurrently.
	OnChange func(Change)
	// OnNote is told what deserves attention and is no error.
	OnNote func(string)
	// OnWait is told, during Wait, each time something has changed.
	OnWait func(Progress)
	// Interval between two looks of Wait; 0 means two seconds.
	Interval time.Duration
	// Clock is the time; nil means the real one.
	Clock clock.Clock
}

// Applier applies clusters through one client.
type Applier struct {
	options Options
	client  client.Client
	manager *ssa.ResourceManager
	// before is called before each write with a description of it. An error is as
	// if the process had died there. Tests set it.
	before func(write string) error
}

// New returns an Applier. The client must not cache.
func New(c client.Client, o Options) *Applier {
	if o.Concurrency <= 0 {
		o.Concurrency = 8
	}
	if o.Interval <= 0 {
		o.Interval = 2 * time.Second
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.OnChange == nil {
		o.OnChange = func(Change) {}
	}
	if o.OnNote == nil {
		o.OnNote = func(string) {}
	}
	if o.OnWait == nil {
		o.OnWait = func(Progress) {}
	}
	steady := &steadyClient{Client: c, clock: o.Clock}
	return &Applier{
		options: o,
		client:  steady,
		manager: ssa.NewResourceManager(steady, nil, ssa.Owner{Field: FieldManager, Group: "valkey-render.dev"}),
		before:  func(string) error { return nil },
	}
}

// each calls do for 0..n-1 from several goroutines. Results that done reports are
// reported in order, as soon as all before them are there.
func (a *Applier) each(ctx context.Context, n int, do func(context.Context, int), done func(int)) {
	var mu sync.Mutex
	finished := make([]bool, n)
	reported := 0
	finish := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		finished[i] = true
		for ; reported < n && finished[reported]; reported++ {
			done(reported)
		}
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(a.options.Concurrency, n) {
		wg.Go(func() {
			for i := range next {
				do(ctx, i)
				finish(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
