// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Entry is one line of CLUSTER NODES: what one node believes of another, or of itself.
type Entry struct {
	// ID is 40 hexadecimal digits. A node in handshake has one that is made up.
	ID string `json:"id"`
	// IP, Port, BusPort and Hostname are what is announced, possibly for clients and
	// possibly stale: they are shown and never dialled. IP is "" and Hostname "?" when
	// unknown.
	IP       string `json:"ip,omitempty"`
	Port     int    `json:"port,omitempty"`
	BusPort  int    `json:"busPort,omitempty"`
	Hostname string `json:"hostname,omitempty"`

	Myself    bool `json:"myself,omitempty"`
	Replica   bool `json:"replica,omitempty"`
	Suspected bool `json:"suspected,omitempty"` // fail?
	Failed    bool `json:"failed,omitempty"`    // fail
	Handshake bool `json:"handshake,omitempty"`
	NoAddress bool `json:"noAddress,omitempty"`

	// Primary is the ID of a replica's primary, "" if none is known.
	Primary string `json:"primary,omitempty"`
	// Epoch is the config epoch, of its primary for a replica.
	Epoch uint64 `json:"epoch"`
	// Linked is whether the viewer has a link to it.
	Linked bool `json:"linked"`
	// Pong is when the viewer last heard of it directly, in milliseconds since 1970 by the
	// viewer's clock; 0 is never, and always so for itself.
	Pong int64 `json:"pong,omitempty"`
	// Slots are owned by it, always none for a replica.
	Slots slot.Ranges `json:"slots,omitempty"`
	// Open slots are in the viewer's own line alone.
	Open []OpenSlot `json:"open,omitempty"`
}

// OpenSlot is a slot in the middle of a legacy migration.
type OpenSlot struct {
	Slot int `json:"slot"`
	// Importing is true on the side that gets the slot.
	Importing bool `json:"importing"`
	// Other is the ID of the node at the other end.
	Other string `json:"other"`
}

// String is the form of CLUSTER NODES.
func (o OpenSlot) String() string {
	arrow := "->-"
	if o.Importing {
		arrow = "-<-"
	}
	return "[" + strconv.Itoa(o.Slot) + arrow + o.Other + "]"
}

// Alive is whether the viewer has no doubt about the node.
func (e Entry) Alive() bool {
	return e.Myself || e.Linked && !e.Failed && !e.Suspected && !e.NoAddress && !e.Handshake
}

// Opens is whether it marks a slot as migrating or importing.
func (e Entry) Opens(number int) bool {
	return slices.ContainsFunc(e.Open, func(o OpenSlot) bool { return o.Slot == number })
}

// Imports is whether it marks a slot as importing.
func (e Entry) Imports(number int) bool {
	return slices.ContainsFunc(e.Open, func(o OpenSlot) bool { return o.Slot == number && o.Importing })
}

// ParseNodes reads the reply to CLUSTER NODES. A line that is not understood makes the
// whole reply an error: half a view is no view.
func ParseNodes(text string) ([]Entry, error) {
	var entries []Entry
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, fmt.Errorf("CLUSTER NODES line %q: %w", line, err)
		}
		entries = append(entries, e)
	}
	myself := 0
	for _, e := range entries {
		if e.Myself {
			myself++
		}
	}
	if myself != 1 {
		return nil, fmt.Errorf("CLUSTER NODES: %d lines say myself, not 1", myself)
	}
	return entries, nil
}

func parseEntry(line string) (Entry, error) {
	f := strings.Fields(line)
	if len(f) < 8 {
		return Entry{}, fmt.Errorf("%d fields, not 8 or more", len(f))
	}
	e := Entry{ID: f[0]}
	if !isID(e.ID) {
		return Entry{}, errors.New("the ID is not 40 hexadecimal digits")
	}
	if err := e.parseAddress(f[1]); err != nil {
		return Entry{}, err
	}
	if err := e.parseFlags(f[2]); err != nil {
		return Entry{}, err
	}
	if f[3] != "-" {
		if !isID(f[3]) {
			return Entry{}, errors.New("the primary is neither an ID nor -")
		}
		e.Primary = f[3]
	}
	epoch, err := strconv.ParseUint(f[6], 10, 64)
	if err != nil {
		return Entry{}, fmt.Errorf("config epoch: %w", err)
	}
	e.Epoch = epoch
	if e.Pong, err = strconv.ParseInt(f[5], 10, 64); err != nil || e.Pong < 0 {
		return Entry{}, fmt.Errorf("time of the last pong %q: no time", f[5])
	}
	switch f[7] {
	case "connected":
		e.Linked = true
	case "disconnected":
	default:
		return Entry{}, fmt.Errorf("link state %q", f[7])
	}
	return e, e.parseSlots(f[8:])
}

// parseAddress reads ip:port@busport[,hostname[,more]]. Before 4.0 there was no bus port;
// a node without address is ":0@0".
func (e *Entry) parseAddress(text string) error {
	endpoint, rest, _ := strings.Cut(text, ",")
	e.Hostname, _, _ = strings.Cut(rest, ",")
	endpoint, bus, hasBus := strings.Cut(endpoint, "@")
	colon := strings.LastIndexByte(endpoint, ':')
	if colon < 0 {
		return fmt.Errorf("address %q has no port", text)
	}
	e.IP = strings.Trim(endpoint[:colon], "[]")
	port, err := strconv.ParseUint(endpoint[colon+1:], 10, 16)
	if err != nil {
		return fmt.Errorf("port: %w", err)
	}
	e.Port = int(port)
	if hasBus {
		busPort, err := strconv.ParseUint(bus, 10, 17) // port + 10000 may be above 65535 in what is announced
		if err != nil {
			return fmt.Errorf("bus port: %w", err)
		}
		e.BusPort = int(busPort)
	}
	return nil
}

func (e *Entry) parseFlags(text string) error {
	role := false
	for flag := range strings.SplitSeq(text, ",") {
		switch flag {
		case "myself":
			e.Myself = true
		case "master", "primary":
			role = true
		case "slave", "replica":
			role, e.Replica = true, true
		case "fail?":
			e.Suspected = true
		case "fail":
			e.Failed = true
		case "handshake":
			e.Handshake = true
		case "noaddr":
			e.NoAddress = true
		case "":
			return fmt.Errorf("flags %q", text)
		}
		// nofailover, noflags and what later versions add change nothing here.
	}
	if e.Myself && !role {
		return errors.New("its own role is not among the flags")
	}
	return nil
}

func (e *Entry) parseSlots(fields []string) error {
	var ranges []slot.Range
	for _, field := range fields {
		if strings.HasPrefix(field, "[") {
			open, err := parseOpen(field)
			if err != nil {
				return err
			}
			e.Open = append(e.Open, open)
			continue
		}
		r, err := slot.ParseRange(field)
		if err != nil {
			return err
		}
		ranges = append(ranges, r)
	}
	e.Slots = slot.Of(ranges...)
	return nil
}

func parseOpen(field string) (OpenSlot, error) {
	inner, closed := strings.CutSuffix(strings.TrimPrefix(field, "["), "]")
	number, id, importing := strings.Cut(inner, "-<-")
	migrating := false
	if !importing {
		number, id, migrating = strings.Cut(inner, "->-")
	}
	r, err := slot.ParseRange(number)
	if !closed || !importing && !migrating || err != nil || r.First != r.Last || !isID(id) {
		return OpenSlot{}, fmt.Errorf("open slot %q is not [slot->-id] or [slot-<-id]", field)
	}
	return OpenSlot{Slot: r.First, Importing: importing, Other: id}, nil
}

func isID(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}
