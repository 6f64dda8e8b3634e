// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/script"
)

// TestCertificateFollowsTheAddresses: what was made up for other addresses is made anew,
// and what somebody else made is kept.
func TestCertificateFollowsTheAddresses(t *testing.T) {
	set, findings := load.Parse([]load.Source{{Name: "c.yaml", Data: []byte(`
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: c}
spec: {topology: Standalone, tls: {secretName: own}}
`)}}, load.Options{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	complete := func(have Secrets, addresses ...string) (Secrets, bool) {
		t.Helper()
		in := Input{Cluster: set.Clusters[0].Object, Have: have, Names: []string{"c"}}
		for _, a := range addresses {
			in.Addresses = append(in.Addresses, netip.MustParseAddr(a))
		}
		all, made, err := Complete(in)
		if err != nil {
			t.Fatal(err)
		}
		return all, slices.Contains(made, "own")
	}
	first, made := complete(nil, "127.16.0.1", "127.16.0.2")
	if !made {
		t.Error("no certificate was made")
	}
	same, made := complete(first, "127.16.0.2")
	if diff := cmp.Diff(first, same); diff != "" || made {
		t.Errorf("made again: %t\n%s", made, diff)
	}
	moved, made := complete(first, "127.16.0.1", "127.17.0.1")
	if !made || elsewhere(moved["own"].Data[script.TLSCert], []netip.Addr{netip.MustParseAddr("127.17.0.1")}) {
		t.Errorf("the certificate was not made for the other address: %t", made)
	}
	first["own"].Data[script.TLSCert] = []byte("somebody else's")
	if kept, made := complete(first, "127.18.0.1"); made || string(kept["own"].Data[script.TLSCert]) != "somebody else's" {
		t.Error("somebody else's certificate was not kept")
	}
}
