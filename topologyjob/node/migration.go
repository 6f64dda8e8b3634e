// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Migration is one atomic slot migration, running or ended, as one of its two ends tells
// it (≥9.0).
type Migration struct {
	// Name is the same on both ends.
	Name string `json:"name"`
	// Importing is true on the side that gets the slots.
	Importing bool `json:"importing"`
	// Source and Target are node IDs.
	Source string `json:"source"`
	Target string `json:"target"`
	// Slots are what is moved.
	Slots slot.Ranges `json:"slots"`
	// State is the server's word, such as snapshotting or success.
	State string `json:"state"`
	// Message says why it failed.
	Message string `json:"message,omitempty"`
}

// Ended reports whether nothing more happens to the migration.
func (m Migration) Ended() bool {
	switch m.State {
	case "success", "failed", "cancelled", "canceled":
		return true
	}
	return false
}

// ParseMigrations reads the reply to CLUSTER GETSLOTMIGRATIONS: a list of maps. In RESP2
// each is a flat list of names and values.
func ParseMigrations(reply any) ([]Migration, error) {
	list, ok := reply.([]any)
	if !ok {
		if reply == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("GETSLOTMIGRATIONS: reply %T is no list", reply)
	}
	var migrations []Migration
	for i, element := range list {
		fields := Pairs(element)
		m := Migration{
			Name: fields["name"], Source: fields["source_node"], Target: fields["target_node"],
			State: fields["state"], Message: fields["message"], Importing: fields["operation"] == "IMPORT",
		}
		if m.Name == "" || m.State == "" {
			return nil, fmt.Errorf("GETSLOTMIGRATIONS entry %d has no name or no state", i)
		}
		var err error
		if m.Slots, err = slot.ParseList(fields["slot_ranges"]); err != nil {
			return nil, fmt.Errorf("GETSLOTMIGRATIONS entry %s: %w", m.Name, err)
		}
		migrations = append(migrations, m)
	}
	return migrations, nil
}
