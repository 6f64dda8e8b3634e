// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// Pod is one server that is set.
type Pod struct {
	Name string
	// Host is its IP, or a DNS name that is resolved each time.
	Host string
	Port int
	// ServerName is what its certificate is checked for; "" is Host.
	ServerName string
	// Sentinel says that it is one.
	Sentinel bool
	// Stopped says that nothing of it runs. It reads its files when it starts, so that
	// nothing waits for it.
	Stopped bool
}

// Reasons of a Report.
const (
	// LiveConfigRejected: a server refused a live directive.
	LiveConfigRejected = "LiveConfigRejected"
	// LiveConfigNotKept: a server took a live directive and shows another value.
	LiveConfigNotKept = "LiveConfigNotKept"
	// VersionUnknown: there is no file for a server's version.
	VersionUnknown = "VersionUnknown"
	// PodsUnreachable: pods do not answer.
	PodsUnreachable = "PodsUnreachable"
	// LoginRefused: servers refuse our user or password.
	LoginRefused = "LoginRefused"
)

// Clock is the time.
type Clock interface {
	Now() time.Time
	// Sleep waits; it returns the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// Options say which servers are set, and how.
type Options struct {
	Pods []Pod
	Pool *node.Pool
	// Resolve looks up the address of a pod whose Host is a name.
	Resolve func(ctx context.Context, host string) (string, error)
	Clock   Clock
	// DryRun changes nothing: what would be is the message.
	DryRun bool
	// Wait looks again until all is done or the context ends; else one pass has to do.
	Wait bool
	// Timeout bounds what is asked of one pod in one pass, 10 s when 0.
	Timeout time.Duration
	// OnStep, when not nil, is told what was done to a pod, and what is waited for.
	// Calls do not overlap.
	OnStep func(text string)
}

// Report is what a run came to.
type Report struct {
	Result outcome.Result
	// Reason is one word, empty when all went well.
	Reason string
	// Message never holds a secret.
	Message string
	Counts  map[string]int64
	// Fingerprint, of TLS that converged, is that of the certificate that every pod shows.
	Fingerprint string
}

// BlockedError ends a run: waiting does not help.
type BlockedError struct {
	Reason string
	Err    error
}

func (e *BlockedError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *BlockedError) Unwrap() error { return e.Err }

func blocked(reason, format string, args ...any) error {
	return &BlockedError{reason, fmt.Errorf(format, args...)}
}

// waitError is what may pass, with its reason.
type waitError struct {
	reason string
	err    error
}

func (e *waitError) Error() string { return e.err.Error() }
func (e *waitError) Unwrap() error { return e.err }

// parallel is how many pods are asked at once.
const parallel = 64

// Pauses between passes that wait.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// run is one run over the pods that are not stopped.
type run struct {
	Options
	pods   []Pod
	mu     sync.Mutex
	counts map[string]int64
	last   string
	ahead  []string
}

func newRun(o Options, keep func(Pod) bool) *run {
	r := &run{Options: o, counts: map[string]int64{}}
	for _, p := range o.Pods {
		switch {
		case !keep(p):
		case p.Stopped:
			r.counts["stopped"]++
		default:
			r.pods = append(r.pods, p)
		}
	}
	r.counts["pods"] = int64(len(r.pods))
	if r.Timeout == 0 {
		r.Timeout = 10 * time.Second
	}
	return r
}

// loop makes passes until one returns nothing, is blocked, or the context ends.
func (r *run) loop(ctx context.Context, pass func(ctx context.Context) error) Report {
	pause := firstPause
	for {
		r.counts["passes"]++
		err := pass(ctx)
		var stuck *BlockedError
		switch {
		case err == nil:
			return r.report(outcome.Converged, "", r.done())
		case errors.As(err, &stuck):
			return r.report(outcome.Blocked, stuck.Reason, err.Error())
		case ctx.Err() != nil:
			return r.ended(ctx, err)
		case !r.Wait:
			return r.report(outcome.Blocked, reasonOf(err), err.Error())
		}
		if text := err.Error(); text != r.last {
			r.last = text
			pause = firstPause
			r.say("waiting: %s", text)
		}
		if r.Clock.Sleep(ctx, pause) != nil {
			return r.ended(ctx, err)
		}
		pause = min(2*pause, lastPause)
	}
}

// ended is the report of a context that ended while err was waited for.
func (r *run) ended(ctx context.Context, err error) Report {
	// A pass that the context cut short says less than the one before.
	message := err.Error()
	if errors.Is(err, ctx.Err()) && r.last != "" {
		message = r.last
	}
	result := outcome.Interrupted
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		result = outcome.Deadline
	}
	return r.report(result, reasonOf(err), message)
}

func (r *run) report(result outcome.Result, reason, message string) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Report{Result: result, Reason: reason, Message: message, Counts: r.counts}
}

// done says what was done, or would be.
func (r *run) done() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ahead) > 0 {
		slices.Sort(r.ahead)
		return "would: " + strings.Join(r.ahead, "; ")
	}
	if r.counts["changed"] == 0 {
		return "nothing to do"
	}
	return fmt.Sprintf("%d of %d pods changed", r.counts["changed"], len(r.pods))
}

// would notes what a dry run leaves undone.
func (r *run) would(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.ahead, text) {
		r.ahead = append(r.ahead, text)
	}
}

func (r *run) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.OnStep != nil {
		r.OnStep(fmt.Sprintf(format, args...))
	}
}

func (r *run) count(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[name]++
}

// podError is what one pod said or did not say.
type podError struct {
	pod string
	err error
}

func (e *podError) Error() string { return e.pod + ": " + e.err.Error() }
func (e *podError) Unwrap() error { return e.err }

// each does the same with many pods at once and joins what went wrong, in their order.
func (r *run) each(ctx context.Context, pods []Pod, do func(ctx context.Context, p Pod) error) error {
	failed := make([]error, len(pods))
	node.Each(len(pods), parallel, func(i int) {
		one, cancel := context.WithTimeout(ctx, r.Timeout)
		defer cancel()
		if err := do(one, pods[i]); err != nil {
			failed[i] = &podError{pods[i].Name, err}
		}
	})
	return few(failed)
}

// fewest is how many pods an error names: a message has little room.
const fewest = 5

// few joins errors, the first ones only. What blocks comes first.
func few(failed []error) error {
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	slices.SortStableFunc(failed, func(a, b error) int {
		return rank(a) - rank(b)
	})
	if more := len(failed) - fewest; more > 0 {
		failed = append(failed[:fewest:fewest], fmt.Errorf("and %d pods more", more))
	}
	return errors.Join(failed...)
}

func rank(err error) int {
	if _, stuck := errors.AsType[*BlockedError](err); stuck {
		return 0
	}
	return 1
}

// reasonOf puts an error that may pass into one word.
func reasonOf(err error) string {
	if waiting, ok := errors.AsType[*waitError](err); ok {
		return waiting.reason
	}
	if refused, ok := errors.AsType[*node.RefusedError](err); ok {
		switch refused.Code() {
		case "WRONGPASS", "NOAUTH", "NOPERM":
			return LoginRefused
		}
	}
	return PodsUnreachable
}
