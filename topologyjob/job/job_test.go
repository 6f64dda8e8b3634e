// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func cluster(topology v1alpha1.Topology) *v1alpha1.ValkeyCluster {
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache", UID: "uid"}}
	c.Spec.Topology = topology
	c.Default()
	return c
}

// TestInputTellsOrdersApart by everything that was asked for, and by nothing said for people.
func TestInputTellsOrdersApart(t *testing.T) {
	o := Order{Kind: ACL, Args: []string{"--a", "--b"}, Token: "1", Epoch: "2"}
	for name, change := range map[string]func(*Order){
		"kind":           func(o *Order) { o.Kind = TLS },
		"args":           func(o *Order) { o.Args = []string{"--a"} },
		"order of args":  func(o *Order) { o.Args = []string{"--b", "--a"} },
		"where args end": func(o *Order) { o.Args = []string{"--a--b"} },
		"token":          func(o *Order) { o.Token = "2" },
		"epoch":          func(o *Order) { o.Epoch = "3" },
	} {
		other := o
		change(&other)
		if other.Input() == o.Input() {
			t.Errorf("%s makes no difference", name)
		}
	}
	other := o
	if other.Why = "because"; other.Input() != o.Input() {
		t.Error("what is said for people makes a difference")
	}
}

// TestObjectNamesEachPasswordFileOnce, with the annotations that are read back.
func TestObjectNamesEachPasswordFileOnce(t *testing.T) {
	for _, topology := range []v1alpha1.Topology{v1alpha1.TopologyCluster, v1alpha1.TopologySentinel} {
		for _, kind := range []string{Repair, ACL, Rotate, Apply} {
			o := Order{Kind: kind, Why: strings.Repeat("é", 1000), Token: "7", Epoch: "1", Args: []string{"--port=6379", "--shards=3", "--pod=cache-0-0=10.0.0.1,uid=x", "--sentinel=cache-sentinel-0=,runs=Stopped"}}
			j, err := Object(cluster(topology), nil, o, 12, 3, "image", Place{Namespace: "system", Account: "account"})
			if err != nil {
				t.Fatal(err)
			}
			args := j.Spec.Template.Spec.Containers[0].Args
			seen := map[string]bool{}
			for _, arg := range args {
				if seen[arg] {
					t.Errorf("%s of %s: %s twice", kind, topology, arg)
				}
				seen[arg] = true
			}
			if !slices.Contains(args, "--port=6379") {
				t.Errorf("%v", args)
			}
			r := Read([]batchv1.Job{*j}, nil)
			if len(r) != 1 || r[0].Kind != kind || r[0].Serial != 12 || r[0].Attempt != 3 || r[0].Token != "7" || r[0].Shards != 3 || r[0].Input != o.Input() ||
				!slices.Equal(r[0].Pods, []Told{{Name: "cache-0-0", UID: "x", Host: "10.0.0.1"}, {Name: "cache-sentinel-0", Stopped: true}}) {
				t.Errorf("%+v", r)
			}
			if len([]rune(j.Annotations[AnnotationWhy])) > 401 {
				t.Error("an annotation without an end")
			}
			if away := kind == Apply; away != (j.Namespace == "system") || away != (len(j.OwnerReferences) == 0) {
				t.Errorf("%s in %s, of %v", kind, j.Namespace, j.OwnerReferences)
			}
		}
	}
}

// TestJobsOfTwoNamespacesMeetInNone.
func TestJobsOfTwoNamespacesMeetInNone(t *testing.T) {
	a, b := cluster(v1alpha1.TopologyCluster), cluster(v1alpha1.TopologyCluster)
	b.Namespace = "till"
	if Name(a, Apply, 1) == Name(b, Apply, 1) {
		t.Error(Name(a, Apply, 1))
	}
	if got := Name(a, Repair, 1); got != "cache-repair-1" {
		t.Error(got)
	}
}

// object is a Job as the server has it.
func object(kind string) batchv1.Job {
	return batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: "cache-" + kind + "-1", CreationTimestamp: metav1.NewTime(noon),
		Annotations: map[string]string{AnnotationKind: kind, AnnotationSerial: "1", AnnotationDeadline: "5m0s"},
	}}
}

// pod is one of a Job, whose container is in a state.
func pod(state corev1.ContainerState, phase corev1.PodPhase) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{batchv1.JobNameLabel: "cache-repair-1"}, CreationTimestamp: metav1.NewTime(noon)}}
	p.Status.Phase = phase
	if state != (corev1.ContainerState{}) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: state}}
	}
	return p
}

func message(t *testing.T, result outcome.Result) string {
	t.Helper()
	data, err := outcome.Outcome{Kind: Repair, Result: result, Message: "words"}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestReadSaysUntilWhenAProcessMayAct: the next Job waits for that.
func TestReadSaysUntilWhenAProcessMayAct(t *testing.T) {
	ended := &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(noon.Add(time.Minute))}
	well, badly := *ended, *ended
	well.Message, badly.Message, badly.ExitCode = message(t, outcome.Converged), message(t, outcome.Failed), 1
	killed := *ended
	killed.ExitCode = 137
	complete := func(kind batchv1.JobConditionType) batchv1.Job {
		j := object(Repair)
		j.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: "Because", Message: "so", LastTransitionTime: metav1.NewTime(noon.Add(time.Minute))}}
		return j
	}
	latest := 5*time.Minute + Margin(Repair) + grace
	runs := pod(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}}, corev1.PodRunning)
	taken := func(state corev1.ContainerStateTerminated) corev1.Pod {
		p := pod(corev1.ContainerState{Terminated: &state}, corev1.PodFailed)
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		return p
	}
	for name, c := range map[string]struct {
		job     batchv1.Job
		pods    []corev1.Pod
		over    bool
		failed  bool
		acts    time.Duration
		trouble string
	}{
		"no pod yet":            {object(Repair), nil, false, false, latest, ""},
		"a pod that runs":       {object(Repair), []corev1.Pod{pod(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}}, corev1.PodRunning)}, false, false, 5*time.Minute + grace, ""},
		"an image that is not":  {object(Repair), []corev1.Pod{pod(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no"}}, corev1.PodPending)}, false, false, latest, "ErrImagePull: no"},
		"one that is created":   {object(Repair), []corev1.Pod{pod(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}, corev1.PodPending)}, false, false, latest, ""},
		"ended well":            {object(Repair), []corev1.Pod{pod(corev1.ContainerState{Terminated: &well}, corev1.PodSucceeded)}, true, false, 0, ""},
		"ended badly":           {object(Repair), []corev1.Pod{pod(corev1.ContainerState{Terminated: &badly}, corev1.PodFailed)}, true, true, 0, ""},
		"killed":                {object(Repair), []corev1.Pod{pod(corev1.ContainerState{Terminated: &killed}, corev1.PodFailed)}, true, true, 0, ""},
		"evicted before it ran": {object(Repair), []corev1.Pod{pod(corev1.ContainerState{}, corev1.PodFailed)}, true, true, 0, ""},
		"taken, one follows":    {object(Repair), []corev1.Pod{taken(killed)}, false, false, latest, ""},
		"taken, one runs":       {object(Repair), []corev1.Pod{runs, taken(killed)}, false, false, 5*time.Minute + grace, ""},
		"one runs, one taken":   {object(Repair), []corev1.Pod{taken(killed), runs}, false, false, 5*time.Minute + grace, ""},
		"taken, none follows":   {complete(batchv1.JobFailed), []corev1.Pod{taken(killed)}, true, true, 0, ""},
		"complete, pod gone":    {complete(batchv1.JobComplete), nil, true, false, 0, "Because: so"},
		// A node that nobody reaches may still run its pod.
		"failed, pod gone": {complete(batchv1.JobFailed), nil, true, true, latest, "Because: so"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Read([]batchv1.Job{c.job}, c.pods)[0]
			acts := time.Duration(0)
			if !r.ActsUntil.IsZero() {
				acts = r.ActsUntil.Sub(noon)
			}
			if r.Over() != c.over || r.Failed != c.failed || acts != c.acts || r.Trouble != c.trouble {
				t.Errorf("over %v, failed %v, acts for %s, %q", r.Over(), r.Failed, acts, r.Trouble)
			}
		})
	}
	if r := Read([]batchv1.Job{{}}, nil); len(r) != 0 {
		t.Errorf("a Job of somebody else: %+v", r)
	}
}

// record is a Job that has ended so long ago.
func record(kind string, serial int64, attempt int32, ago time.Duration, result outcome.Result) Record {
	return Record{
		Name: kind, Kind: kind, Input: "input", Serial: serial, Attempt: attempt, Created: noon.Add(-ago), Ended: noon.Add(-ago),
		Failed: result != outcome.Converged, Outcome: &outcome.Outcome{Kind: kind, Result: result},
	}
}

// TestNextAttempt: how many there were, when the next may start, and when it is enough.
func TestNextAttempt(t *testing.T) {
	moved := record(Drain, 1, 3, 0, outcome.Deadline)
	moved.Outcome.Counts = map[string]int64{"movedSlots": 1}
	silent := record(Repair, 1, 2, 0, outcome.Failed)
	silent.Outcome = nil
	other := record(Repair, 2, 6, 0, outcome.Failed)
	other.Input = "other"
	for name, c := range map[string]struct {
		records []Record
		attempt int32
		after   time.Duration
		spent   bool
	}{
		"the first":           {nil, 1, -1, false},
		"another input":       {[]Record{other}, 1, -1, false},
		"after a failure":     {[]Record{record(Repair, 1, 1, 0, outcome.Failed)}, 2, 5 * time.Second, false},
		"after three":         {[]Record{record(Repair, 3, 3, 0, outcome.Failed)}, 4, 20 * time.Second, false},
		"after five":          {[]Record{record(Repair, 5, 5, 0, outcome.Failed)}, 6, 80 * time.Second, false},
		"after six":           {[]Record{record(Repair, 6, 6, 0, outcome.Failed)}, 0, -1, true},
		"one without a word":  {[]Record{silent}, 3, 10 * time.Second, false},
		"an interruption":     {[]Record{record(Repair, 6, 6, 0, outcome.Interrupted)}, 6, 5 * time.Second, false},
		"a race":              {[]Record{record(Repair, 6, 6, 0, outcome.Raced)}, 6, 5 * time.Second, false},
		"out of time":         {[]Record{record(Drain, 1, 3, 0, outcome.Deadline)}, 4, 20 * time.Second, false},
		"out of time, moving": {[]Record{moved}, 3, 5 * time.Second, false},
		"more of the same":    {[]Record{record(Repair, 1, 4, 0, outcome.Converged)}, 1, 5 * time.Second, false},
	} {
		attempt, from, spent := Next(c.records, "input")
		after := time.Duration(-1)
		if !from.IsZero() {
			after = from.Sub(noon)
		}
		if attempt != c.attempt || after != c.after || (spent != nil) != c.spent {
			t.Errorf("%s: attempt %d after %s, spent %v", name, attempt, after, spent)
		}
	}
	if Backoff(40) != 5*time.Minute {
		t.Errorf("waits for %s", Backoff(40))
	}
}

// TestSupersededJobsHaveNoMoreToTell: the last failure of a kind has, and what has just ended.
func TestSupersededJobsHaveNoMoreToTell(t *testing.T) {
	runs := record(Drain, 9, 1, 0, outcome.Converged)
	runs.Ended = time.Time{}
	got := Superseded([]Record{
		record(Repair, 1, 1, time.Hour, outcome.Failed), record(Repair, 2, 2, time.Hour, outcome.Failed),
		record(ACL, 3, 1, time.Hour, outcome.Converged), record(TLS, 4, 1, time.Minute, outcome.Converged), runs,
	}, noon)
	var serials []int64
	for _, r := range got {
		serials = append(serials, r.Serial)
	}
	if !slices.Equal(serials, []int64{3, 1}) {
		t.Errorf("%v", serials)
	}
}

// TestKindsSayWhatTheyDo: what moves slots gives way to what replaces a primary, and settings
// run beside both.
func TestKindsSayWhatTheyDo(t *testing.T) {
	for kind, want := range map[string][3]bool{
		Bootstrap: {}, Repair: {}, Handover: {}, Rebalance: {0: true}, Reshard: {0: true}, Drain: {0: true},
		Failover: {1: true}, Takeover: {1: true},
		LiveConfig: {2: true}, ACL: {2: true}, TLS: {2: true}, Rotate: {2: true}, Apply: {2: true},
	} {
		if got := [3]bool{Moves(kind), Urgent(kind), Beside(kind)}; got != want {
			t.Errorf("%s: moves, urgent, beside: %v", kind, got)
		}
	}
}
