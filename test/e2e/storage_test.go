// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/render/name"
)

func durable(class, size string) string {
	return `{topology: Standalone, profile: Durable, storage: {size: ` + size + `, storageClassName: ` + class + `},
  resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}}`
}

// untouched is what a growing disk leaves as it is.
type untouched struct {
	Generation int64
	Pod        string
	Restarts   int32
}

func (p *place) untouched() untouched {
	pod := p.pod("cache-0-0")
	return untouched{p.set("cache-0").Generation, string(pod.UID), restarts(pod)}
}

func storage(list corev1.ResourceList) string {
	q := list[corev1.ResourceStorage]
	return q.String()
}

// TestClusterDiskGrows: a changed storage.size alone is asked for by the claim, and --wait
// ends when the volume has it, or says in the driver's words why it has not.
func TestClusterDiskGrows(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]struct {
		code           int
		capacity, says string
	}{
		"standard":          {capacity: "2Gi"},
		"resize-pending":    {124, "1Gi", "grows from 1Gi to 2Gi: Resizing"},
		"resize-infeasible": {124, "1Gi", "grows from 1Gi to 2Gi: ControllerResizeInfeasible: the volume cannot grow to 2Gi"},
		// The kubelet grows the file system under the running pod.
		"resize-node": {capacity: "2Gi"},
	} {
		if class != "standard" && os.Getenv("LOCALCLUSTER") == "" {
			t.Logf("class %s: the cluster of KUBECONFIG has none that fails on purpose", class)
			continue
		}
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.apply(p.spec(durable(class, "1Gi")), waited()...)
			before := p.untouched()
			bigger := p.spec(durable(class, "2Gi"))
			timeout := "15s"
			if want.code == 0 {
				timeout = patience.String()
			}
			o := p.program(append(append([]string{"apply"}, bigger...), "--wait", "--timeout", timeout)...)
			if o.code != want.code || !strings.Contains(o.errOut, want.says) {
				t.Errorf("exit status %d, want %d and %q\n%s%s", o.code, want.code, want.says, o.out, o.errOut)
			}
			claim := p.claim("data-cache-0-0")
			if asked, has := storage(claim.Spec.Resources.Requests), storage(claim.Status.Capacity); asked != "2Gi" || has != want.capacity {
				t.Errorf("the claim asks for %s and has %s, want 2Gi and %s", asked, has, want.capacity)
			}
			if diff := cmp.Diff(before, p.untouched()); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

// TestClusterDiskDoesNotShrink: neither against a rendering in Git nor in the cluster.
func TestClusterDiskDoesNotShrink(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	big, small := p.spec(durable("standard", "2Gi")), p.spec(durable("standard", "1Gi"))
	dir := filepath.Join(t.TempDir(), "rendered")
	if o := p.program(append(append([]string{"build"}, big...), "--output-dir", dir)...); o.code != 0 {
		t.Fatal(o.errOut)
	}
	const why = "spec.storage.size"
	if o := p.program(append(append([]string{"check"}, small...), dir)...); o.code != 2 || !strings.Contains(o.out+o.errOut, why) {
		t.Errorf("check: exit status %d\n%s%s", o.code, o.out, o.errOut)
	}
	p.apply(big)
	p.until(patience, func() error {
		if phase := p.claim("data-cache-0-0").Status.Phase; phase != corev1.ClaimBound {
			return errors.New("the claim is not bound")
		}
		return nil
	})
	before := p.claim("data-cache-0-0").ResourceVersion
	o := p.program(append([]string{"apply"}, small...)...)
	if o.code != 1 || !strings.Contains(o.errOut, why) || !strings.Contains(o.errOut, "only grows") {
		t.Errorf("apply: exit status %d\n%s%s", o.code, o.out, o.errOut)
	}
	if after := p.claim("data-cache-0-0").ResourceVersion; after != before {
		t.Error("the claim was written")
	}
}

// TestClusterTwentyShards: every claim gets the rendered size and is bound, though the
// StatefulSets' own templates ask for less, and every pod runs. Whether the servers answer
// is no matter here: forty pods that start at once are probed twenty times a second, which
// takes a small machine all it has.
func TestClusterTwentyShards(t *testing.T) {
	p := newPlace(t)
	const shards, pods = 20, 2
	o := p.apply(p.spec(fmt.Sprintf(`{shards: %d, replicasPerShard: %d, profile: Durable, storage: {size: 3Gi, initialSize: 1Gi},
  resources: {requests: {cpu: 5m, memory: 16Mi}, limits: {memory: 64Mi}}}`, shards, pods-1)))
	p.until(patience, func() error {
		var errs []error
		for shard := range shards {
			for index := range pods {
				claim := p.claim(fmt.Sprintf("data-cache-%d-%d", shard, index))
				if asked, has := storage(claim.Spec.Resources.Requests), storage(claim.Status.Capacity); asked != "3Gi" || has != "3Gi" || claim.Status.Phase != corev1.ClaimBound {
					errs = append(errs, fmt.Errorf("%s is %s, asks for %s and has %s", claim.Name, claim.Status.Phase, asked, has))
				}
			}
		}
		all := p.pods(name.LabelComponent, name.ComponentServer)
		for _, pod := range all {
			if c := pod.Status.ContainerStatuses; len(c) != 1 || c[0].State.Running == nil || c[0].RestartCount > 0 {
				errs = append(errs, fmt.Errorf("%s: %s %+v", pod.Name, pod.Status.Phase, c))
			}
		}
		if len(all) != shards*pods {
			errs = append(errs, fmt.Errorf("%d pods", len(all)))
		}
		return errors.Join(errs...)
	})
	for shard := range shards {
		if asks := storage(p.set(fmt.Sprintf("cache-%d", shard)).Spec.VolumeClaimTemplates[0].Spec.Resources.Requests); asks != "1Gi" {
			t.Errorf("the template of shard %d asks for %s\n%s", shard, asks, o.errOut)
		}
	}
}
