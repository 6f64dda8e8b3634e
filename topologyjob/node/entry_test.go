// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

var (
	a = strings.Repeat("a", 40)
	b = strings.Repeat("b", 40)
	c = strings.Repeat("c", 40)
)

func TestParseNodes(t *testing.T) {
	me := a + " 127.0.0.1:7000@17000 myself,master - 0 0 1 connected"
	for _, test := range []struct {
		name, line string
		want       Entry
	}{
		{"slots", a + " 10.0.0.1:6379@16379 myself,master - 0 1 7 connected 0 2-5460", Entry{
			ID: a, IP: "10.0.0.1", Port: 6379, BusPort: 16379, Myself: true, Epoch: 7, Linked: true, Slots: slot.Ranges{{First: 0, Last: 0}, {First: 2, Last: 5460}},
		}},
		{"open slots", a + " 10.0.0.1:6379@16379 myself,master - 0 1 7 connected 1 [93-<-" + b + "] [94->-" + c + "]", Entry{
			ID: a, IP: "10.0.0.1", Port: 6379, BusPort: 16379, Myself: true, Epoch: 7, Linked: true, Slots: slot.Ranges{{First: 1, Last: 1}},
			Open: []OpenSlot{{Slot: 93, Importing: true, Other: b}, {Slot: 94, Other: c}},
		}},
		{"replica", b + " 10.0.0.1:6379@16379 slave " + a + " 0 1 7 connected", Entry{ID: b, IP: "10.0.0.1", Port: 6379, BusPort: 16379, Replica: true, Primary: a, Epoch: 7, Linked: true}},
		{"hostname", b + " 10.0.0.1:6379@16379,c-0-0.c-nodes.ns.svc.cluster.local slave - 0 1 7 connected", Entry{
			ID: b, IP: "10.0.0.1", Port: 6379, BusPort: 16379, Hostname: "c-0-0.c-nodes.ns.svc.cluster.local", Replica: true, Epoch: 7, Linked: true,
		}},
		{"no hostname yet and more fields", b + " 10.0.0.1:6379@16379,?,tls-port=0,shard-id=" + c + " slave - 0 1 7 connected", Entry{
			ID: b, IP: "10.0.0.1", Port: 6379, BusPort: 16379, Hostname: "?", Replica: true, Epoch: 7, Linked: true,
		}},
		{"IPv6", b + " fd00::1:6379@16379 master - 0 1 7 connected", Entry{ID: b, IP: "fd00::1", Port: 6379, BusPort: 16379, Epoch: 7, Linked: true}},
		{"IPv6 in brackets", b + " [fd00::1]:6379@16379 master - 0 1 7 connected", Entry{ID: b, IP: "fd00::1", Port: 6379, BusPort: 16379, Epoch: 7, Linked: true}},
		{"without address", b + " :0@0 master,fail,noaddr - 1 1 7 disconnected 9", Entry{ID: b, Failed: true, NoAddress: true, Epoch: 7, Slots: slot.Ranges{{First: 9, Last: 9}}}},
		{"suspected", b + " 10.0.0.1:6379@16379 slave,fail?,nofailover - 1 1 7 connected", Entry{ID: b, IP: "10.0.0.1", Port: 6379, BusPort: 16379, Replica: true, Suspected: true, Epoch: 7, Linked: true}},
		{"handshake", b + " 10.0.0.1:6379@16379 handshake - 1 0 0 disconnected", Entry{ID: b, IP: "10.0.0.1", Port: 6379, BusPort: 16379, Handshake: true}},
		{"high bus port", b + " 10.0.0.1:60000@70000 master - 1 0 0 connected", Entry{ID: b, IP: "10.0.0.1", Port: 60000, BusPort: 70000, Linked: true}},
	} {
		text, want := test.line+"\n", []Entry{test.want}
		if !test.want.Myself {
			text, want = me+"\r\n"+text, append([]Entry{{ID: a, IP: "127.0.0.1", Port: 7000, BusPort: 17000, Myself: true, Epoch: 1, Linked: true}}, want...)
		}
		got, err := ParseNodes(text)
		if fields := strings.Fields(test.line); fields[5] == "1" {
			want[len(want)-1].Pong = 1
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
}

func TestParseNodesRefusesHalfAView(t *testing.T) {
	me := a + " 127.0.0.1:7000@17000 myself,master - 0 0 1 connected"
	for name, text := range map[string]string{
		"empty":            "",
		"nobody":           b + " 10.0.0.1:6379@16379 master - 0 1 7 connected",
		"myself twice":     me + "\n" + strings.Replace(me, a, b, 1),
		"RESP3 kind":       "txt:" + me,
		"cut":              me + "\n" + b + " 10.0.0.1:6379@163",
		"no role":          strings.Replace(me, ",master", "", 1),
		"port":             strings.Replace(me, ":7000", ":x", 1),
		"no port":          strings.Replace(me, ":7000", "", 1),
		"bus port":         strings.Replace(me, "@17000", "@-1", 1),
		"pong":             strings.Replace(me, " 0 0 1 ", " 0 -1 1 ", 1),
		"epoch":            strings.Replace(me, " 1 connected", " -1 connected", 1),
		"link state":       strings.Replace(me, " connected", " maybe", 1),
		"primary":          strings.Replace(me, " - ", " x ", 1),
		"empty flag":       strings.Replace(me, "myself,", "myself,,", 1),
		"slot":             me + " 16384",
		"open slot":        me + " [93-<-" + b,
		"open slot's node": me + " [93-<-b]",
		"open slot's slot": me + " [93-94-<-" + b + "]",
		"open slot's way":  me + " [93-" + b + "]",
	} {
		if entries, err := ParseNodes(text); err == nil {
			t.Errorf("%s: %+v", name, entries)
		}
	}
}

func TestAlive(t *testing.T) {
	for flags, want := range map[string]bool{
		"master": true, "slave": true, "master,fail?": false, "master,fail": false, "master,noaddr": false, "handshake": false,
	} {
		entries, err := ParseNodes(a + " 127.0.0.1:7000@17000 myself,master - 0 0 1 disconnected\n" + b + " 10.0.0.1:6379@16379 " + flags + " - 0 1 7 connected")
		if err != nil {
			t.Fatal(err)
		}
		if !entries[0].Alive() || entries[1].Alive() != want {
			t.Errorf("%s: %v", flags, entries[1].Alive())
		}
	}
}

func FuzzParseNodes(f *testing.F) {
	f.Add(a + " 127.0.0.1:7000@17000,host myself,master - 0 0 1 connected 0-5460 [93-<-" + b + "]\n" + b + " :0@0 slave,fail,noaddr " + a + " 0 0 1 disconnected")
	f.Add(a + " ::1:7000@17000 myself,slave " + b + " 0 0 1 connected")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := ParseNodes(text)
		if err != nil {
			return
		}
		for _, e := range entries {
			if !isID(e.ID) || e.Primary != "" && !isID(e.Primary) || e.Port < 0 || e.Port > 65535 || e.Slots.Count() > 16384 {
				t.Errorf("%q: %+v", text, e)
			}
			for _, o := range e.Open {
				if back, err := parseOpen(o.String()); err != nil || back != o {
					t.Errorf("%v read back: %v, %v", o, back, err)
				}
			}
		}
	})
}
