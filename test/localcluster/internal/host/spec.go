// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/json"
	"fmt"
	"os"
)

// Spec is all that a host does; it is written to a file by the program that starts it.
type Spec struct {
	Name string `json:"name"`
	// Root is the file system of a host with namespaces of its own; nil for one that is
	// only a group of processes.
	Root     *Root     `json:"root,omitempty"`
	Programs []Program `json:"programs"`
	// Forward is the address that connections to the inherited listener are sent on to.
	Forward string `json:"forward,omitempty"`
	// Logs is the directory of <program>.log, as the host sees it.
	Logs string `json:"logs"`
}

// Root says what the host's file system is made of.
type Root struct {
	Mountpoint string `json:"mountpoint"` // an empty directory
	System     string `json:"system"`     // root file system whose /usr it has
	Var        string `json:"var"`        // what becomes /var
	// Binds maps directories inside to those outside.
	Binds map[string]string `json:"binds"`
	// Files are made inside, by their path.
	Files map[string]string `json:"files"`
}

// Program is a program that the host keeps running.
type Program struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	// After is what must answer before the program is started.
	After *Probe `json:"after,omitempty"`
}

// Probe is a question whether something is ready: a socket that is there, or a URL that
// answers 200.
type Probe struct {
	Socket string `json:"socket,omitempty"`
	URL    string `json:"url,omitempty"`
	// CA, Certificate and Key are files, for https.
	CA          string `json:"ca,omitempty"`
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key,omitempty"`
}

// Load reads a spec.
func Load(file string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(file)
	if err != nil {
		return s, fmt.Errorf("spec: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("spec %s: %w", file, err)
	}
	return s, nil
}

// Save writes a spec.
func (s Spec) Save(file string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	return nil
}
