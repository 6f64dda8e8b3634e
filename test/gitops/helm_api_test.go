// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	chartcommon "helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// helm is Helm 4 with a release named cache, whose chart has the rendered manifests
// as its templates.
type helm struct {
	*rig
	config *action.Configuration
}

func newHelm(r *rig) *helm {
	r.Helper()
	kubeconfig := apitest.Kubeconfig(r)
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &kubeconfig, &r.namespace
	flags.WrapConfigFn = func(c *rest.Config) *rest.Config {
		c.QPS = -1
		c.WarningHandler = rest.NoWarnings{}
		return c
	}
	config := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	r.must(config.Init(flags, r.namespace, "secret"))
	return &helm{r, config}
}

func (h *helm) chart(spec string) *chart.Chart {
	h.Helper()
	out := &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "cache", Version: "1.0.0"}}
	for i, o := range h.rendered(spec) {
		text, err := yaml.Marshal(o.Object)
		h.must(err)
		if strings.Contains(string(text), "{{") {
			h.Fatalf("%s/%s is no template:\n%s", o.GetKind(), o.GetName(), text)
		}
		out.Templates = append(out.Templates, &chartcommon.File{Name: fmt.Sprintf("templates/%03d.yaml", i), Data: text})
	}
	return out
}

func (h *helm) install(spec string) error {
	h.Helper()
	a := action.NewInstall(h.config)
	a.ReleaseName, a.Namespace, a.WaitStrategy, a.Timeout = "cache", h.namespace, kube.HookOnlyStrategy, patience
	_, err := a.Run(h.chart(spec), nil)
	return err
}

func (h *helm) upgrade(spec string) error {
	h.Helper()
	a := action.NewUpgrade(h.config)
	a.Namespace, a.WaitStrategy, a.Timeout = h.namespace, kube.HookOnlyStrategy, patience
	_, err := a.Run("cache", h.chart(spec), nil)
	return err
}

func (h *helm) rollback(revision int) error {
	a := action.NewRollback(h.config)
	a.Version, a.WaitStrategy, a.Timeout = revision, kube.HookOnlyStrategy, patience
	return a.Run("cache")
}

func (h *helm) uninstall() error {
	a := action.NewUninstall(h.config)
	a.WaitStrategy, a.Timeout = kube.HookOnlyStrategy, patience
	_, err := a.Run("cache")
	return err
}

func (h *helm) sizes(shards int, size string) {
	h.Helper()
	if diff := cmp.Diff(sized(shards, size), h.claims()); diff != "" {
		h.Errorf("claims (-want +got)\n%s", diff)
	}
}

func TestAPIServerHelmAppliesTwentyShards(t *testing.T) {
	h := newHelm(newRig(t))
	h.guarded()
	h.nodes()
	h.must(h.install(durable(20, "2Gi", "")))
	h.until("all pods made", func() bool { return h.pods() == 40 })
	h.sizes(20, "2Gi")
	h.bound(40)
	h.must(h.upgrade(durable(20, "3Gi", "")))
	h.sizes(20, "3Gi")
	for shard := range 20 {
		if got := h.field(h.statefulSet(shard), "metadata", "generation"); got != int64(1) {
			t.Errorf("StatefulSet cache-%d was changed: generation %v", shard, got)
		}
	}
}

// TestAPIServerHelmRollsBack what can be undone, and is refused where a disk would
// have to shrink.
func TestAPIServerHelmRollsBack(t *testing.T) {
	h := newHelm(newRig(t))
	h.guarded()
	h.nodes()
	first, second := durable(2, "2Gi", ""), durable(2, "2Gi", "  config: {hz: '20'}\n")
	third := durable(2, "3Gi", "  config: {hz: '20'}\n")
	config := func() any { return h.field(h.cluster(), "spec", "config", "hz") }
	h.must(h.install(first))
	h.bound(4)
	h.must(h.upgrade(second))
	h.must(h.rollback(1))
	if got := config(); got != nil {
		t.Errorf("rolled back: hz %v", got)
	}
	h.must(h.upgrade(third))
	h.sizes(2, "3Gi")
	if err := h.rollback(1); err == nil || !strings.Contains(err.Error(), "PersistentVolumeClaim") {
		t.Errorf("a rollback to smaller disks: %v", err)
	}
	h.sizes(2, "3Gi")
	if got := h.field(h.cluster(), "spec", "storage", "size"); got != "3Gi" || config() != "20" {
		t.Errorf("size %v, hz %v after a rollback that was refused", got, config())
	}
	h.must(h.upgrade(durable(2, "3Gi", "  config: {hz: '30'}\n")))
	if got := config(); got != "30" {
		t.Errorf("hz %v", got)
	}
}

// TestAPIServerHelmUninstallKeepsClaims: of a guarded cluster the data stays and so
// does the ValkeyCluster, until its policy lets go.
func TestAPIServerHelmUninstallKeepsClaims(t *testing.T) {
	h := newHelm(newRig(t))
	h.guarded()
	spec := durable(2, "2Gi", "")
	h.must(h.install(spec))
	h.until("all pods made", func() bool { return h.pods() == 4 })
	h.until("guarded", func() bool {
		return h.client.Delete(h.Context(), h.statefulSet(0), client.DryRunAll) != nil
	})
	if err := h.uninstall(); err == nil {
		t.Error("uninstall of a guarded cluster succeeds")
	}
	for shard := range 2 {
		if !h.exists(h.statefulSet(shard)) {
			t.Errorf("StatefulSet cache-%d is gone", shard)
		}
	}
	service := object("v1", "Service", h.namespace, "cache")
	if h.exists(service) {
		t.Error("the guide says that Services are gone")
	}
	policy := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"deletionPolicy":"Allow"}}`))
	h.must(h.client.Patch(h.Context(), h.cluster(), policy))
	h.until("let go", func() bool {
		return h.client.Delete(h.Context(), h.statefulSet(0), client.DryRunAll) == nil
	})
	h.must(h.uninstall())
	h.until("gone", func() bool {
		return !h.exists(h.cluster()) && !h.exists(h.statefulSet(0)) && !h.exists(h.statefulSet(1))
	})
	h.sizes(2, "2Gi")
}
