// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
)

// TestFrozenForEver pins what can never change for a live cluster. Selectors
// and serviceName of a StatefulSet are immutable: a changed one makes every
// apply fail. A changed claim name gives pods empty disks, a changed pod name
// breaks the addresses that nodes know each other by, a changed slot formula
// makes a bootstrap that was interrupted end in overlapping slots, and a
// changed label leaves guards and budgets without pods. When this test fails
// the change is wrong, unless what it adds is new.
func TestFrozenForEver(t *testing.T) {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	labels := func(m map[string]string) string {
		var s []string
		for k, v := range m {
			s = append(s, k+"="+v)
		}
		sort.Strings(s)
		return strings.Join(s, ",")
	}
	const c = "orders"
	for _, n := range []struct{ what, name string }{
		{"StatefulSet", StatefulSet(c, 2)},
		{"Pod", Pod(c, 2, 1)},
		{"Claim", Claim(c, 2, 1)},
		{"Budget", Budget(c, 2)},
		{"SentinelStatefulSet", SentinelStatefulSet(c)},
		{"SentinelPod", SentinelPod(c, 1)},
		{"SentinelMaster", SentinelMaster},
		{"Service Client", Client(c)},
		{"Service Nodes", Nodes(c)},
		{"Service Primary", Primary(c)},
		{"Service Replicas", Replicas(c)},
		{"Service Sentinel", Sentinel(c)},
		{"ConfigMap Live", Live(c)},
		{"ConfigMap Scripts", Scripts(c)},
		{"ConfigMap Inventory", Inventory(c)},
		{"ConfigMap Dashboard", Dashboard(c)},
		{"Job", Job(c, "rebalance", 7)},
		{"RenderedJob", RenderedJob(c, "secrets", "0123abcd")},
		{"JobAccount", JobAccount(c, "secrets")},
		{"NetworkPolicy Bus", BusPolicy(c)},
		{"Secret Auth", AuthSecret(c)},
		{"Secret System", SystemSecret(c)},
		{"Secret ACL", ACLSecret(c)},
		{"Secret TLS", TLSSecret(c)},
		{"Secret Users", UsersSecret(c)},
		{"Certificate", Certificate(c)},
		{"PodFQDN", PodFQDN(c, 2, 1, "shop", "kube.prod")},
		{"SentinelFQDN", SentinelFQDN(c, 1, "shop", "kube.prod")},
		{"ServiceFQDN", ServiceFQDN(Client(c), "shop", "kube.prod")},
		{"Labels", labels(Labels(c, ComponentCluster))},
		{"ShardLabels", labels(ShardLabels(c, 2))},
		{"PodLabels sentinel", labels(PodLabels(c, ComponentSentinel))},
		{"PodLabels job", labels(PodLabels(c, ComponentJob))},
		{"DataPodLabels", labels(DataPodLabels(c, 2))},
		{"DataSelector", labels(DataSelector(c, 2))},
		{"SentinelSelector", labels(SentinelSelector(c))},
		{"ServerSelector", labels(ServerSelector(c))},
		{"RoleSelector primary", labels(RoleSelector(c, string(v1alpha1.RolePrimary)))},
		{"RoleSelector replica", labels(RoleSelector(c, string(v1alpha1.RoleReplica)))},
		{"FirstPodSelector", labels(FirstPodSelector(c))},
		{"Annotations", strings.Join([]string{v1alpha1.AnnotationConfig, v1alpha1.AnnotationSentinelConfig, v1alpha1.AnnotationRenderHash}, " ")},
		{"CertificateNames", strings.Join(CertificateNames("shop", "kube.prod", []string{Client(c), Nodes(c)}, []string{Nodes(c)}), " ")},
		{"System users", strings.Join([]string{UserOperator, UserReplication, UserExporter, UserSentinel}, " ")},
		{"ExporterKey", ExporterKey(6379, false) + " " + ExporterKey(7000, true)},
	} {
		line("%s: %s", n.what, n.name)
	}
	for _, shards := range []int32{1, 2, 3, 5, 6, 7} {
		var s []string
		for i := range shards {
			first, last := Slots(i, shards)
			s = append(s, fmt.Sprintf("%d-%d", first, last))
		}
		line("Slots %d: %s", shards, strings.Join(s, " "))
	}
	golden.File(t, "testdata/frozen.txt", []byte(b.String()))
}

func TestSlotsCoverEverySlotOnceAndEvenly(t *testing.T) {
	for shards := int32(1); shards <= 500; shards++ {
		next := 0
		for i := range shards {
			first, last := Slots(i, shards)
			if first != next {
				t.Fatalf("shard %d of %d starts at %d, want %d", i, shards, first, next)
			}
			if n, even := last-first+1, SlotCount/int(shards); n < even || n > even+1 {
				t.Fatalf("shard %d of %d has %d slots", i, shards, n)
			}
			next = last + 1
		}
		if next != SlotCount {
			t.Fatalf("%d shards end at %d", shards, next)
		}
	}
}

func TestSlotsPanicsOutOfRange(t *testing.T) {
	for _, c := range [][2]int32{{0, 0}, {-1, 3}, {3, 3}, {0, SlotCount + 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Slots(%d, %d) did not panic", c[0], c[1])
				}
			}()
			Slots(c[0], c[1])
		}()
	}
}

func TestManagedByIsOnObjectsOnly(t *testing.T) {
	for _, m := range []map[string]string{
		PodLabels("a", ComponentServer), DataPodLabels("a", 0), DataSelector("a", 0), SentinelSelector("a"),
		ServerSelector("a"), RoleSelector("a", string(v1alpha1.RolePrimary)), FirstPodSelector("a"),
	} {
		if _, ok := m[LabelManagedBy]; ok {
			t.Errorf("%v carries %s", m, LabelManagedBy)
		}
	}
	for _, m := range []map[string]string{Labels("a", ComponentCluster), ShardLabels("a", 0)} {
		if m[LabelManagedBy] != PartOf {
			t.Errorf("%v lacks %s", m, LabelManagedBy)
		}
	}
}

func TestCheckRefusesNamesThatCollide(t *testing.T) {
	reserved := func(end string) string { return fmt.Sprintf("the ending %q is reserved for objects of a cluster", end) }
	const letters = "only lower-case letters, digits and '-', starting with a letter and not ending in '-'"
	for _, c := range []struct {
		name string
		want []string
	}{
		{"a", nil},
		{"orders-2x", nil},
		{"orders2", nil},
		{"a-b-c9", nil},
		{"nodes", nil},
		{strings.Repeat("a", 40), nil},
		{strings.Repeat("a", 41), []string{"41 characters are too many: at most 40"}},
		{"", []string{"a name is needed"}},
		{"Orders", []string{letters}},
		{"9a", []string{letters}},
		{"-a", []string{letters}},
		{"a-", []string{letters}},
		{"a.b", []string{letters}},
		{"a\nb", []string{letters}},
		{"a-0", []string{reserved("-0")}},
		{"a-0123", []string{reserved("-0123")}},
		{"a-nodes", []string{reserved("-nodes")}},
		{"a-primary", []string{reserved("-primary")}},
		{"a-replicas", []string{reserved("-replicas")}},
		{"a-sentinel", []string{reserved("-sentinel")}},
		{"a-live", []string{reserved("-live")}},
		{"a-scripts", []string{reserved("-scripts")}},
		{"a-bus", []string{reserved("-bus")}},
		{"A_-live", []string{letters, reserved("-live")}},
	} {
		if diff := cmp.Diff(c.want, Check(c.name)); diff != "" {
			t.Errorf("Check(%q) (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestAcceptedNamesAreValidEverywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.StringMatching(`[a-z0-9-]{1,42}`).Draw(t, "cluster")
		if len(Check(c)) > 0 {
			return
		}
		for _, n := range []string{Client(c), Nodes(c), Replicas(c), Sentinel(c), SentinelPod(c, 14), StatefulSet(c, 499), Pod(c, 499, 5)} {
			if errs := validation.IsDNS1035Label(n); errs != nil {
				t.Fatalf("%s: %v", n, errs)
			}
		}
		if n := StatefulSet(c, 499); len(n) > 52 {
			t.Fatalf("%s leaves no room for the revision hash", n)
		}
		if n := Job(c, "rebalance", 999999) + "-abcde"; len(n) > 63 {
			t.Fatalf("%s is too long for a Job's pod", n)
		}
		for k, v := range DataPodLabels(c, 499) {
			if errs := append(validation.IsQualifiedName(k), validation.IsValidLabelValue(v)...); errs != nil {
				t.Fatalf("%s=%s: %v", k, v, errs)
			}
		}
	})
}

func TestCollisionsAcrossOneRun(t *testing.T) {
	got := Collisions([]Ref{
		{"shop", "a-0"}, {"shop", "a"}, {"shop", "b"}, {"other", "a-1"}, {"shop", "b"}, {"shop", "a-primary"}, {"shop", "c-0"}, {"shop", "b"},
	})
	want := []Collision{
		{0, 1, "a has objects named a-0"},
		{2, 4, "both are named b"},
		{1, 5, "a has objects named a-primary"},
		{2, 7, "both are named b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Collisions (-want +got):\n%s", diff)
	}
}

func TestPodNameIsUnderTheWildcardOfTheCertificate(t *testing.T) {
	fqdn := PodFQDN("a", 1, 2, "ns", "cluster.local")
	_, rest, _ := strings.Cut(fqdn, ".")
	for _, n := range CertificateNames("ns", "cluster.local", nil, []string{Nodes("a")}) {
		if n == "*."+rest {
			return
		}
	}
	t.Errorf("no wildcard for %s", fqdn)
}

func TestNamesAreRefusedAlikeByTheAPI(t *testing.T) {
	for _, n := range []string{
		"", "a", "a-0", "a-12", "a12", "a-nodes", "a-primary", "a-replicas", "a-sentinel", "a-live", "a-scripts", "a-bus", "a-tls",
		"A", "9a", "a.b", "a-", strings.Repeat("a", 40), strings.Repeat("a", 41),
	} {
		c := &v1alpha1.ValkeyCluster{}
		c.Name = n
		c.Default()
		refused := false
		for _, e := range c.Validate() {
			refused = refused || e.Field == "metadata.name"
		}
		if check := len(Check(n)) > 0; check != refused {
			t.Errorf("%q: Check refuses it: %t, Validate: %t", n, check, refused)
		}
	}
}
