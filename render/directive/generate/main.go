// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate measures the directives of real Valkey servers (see
// internal/servertest) and writes render/directive/directives.json: every name,
// type, range, default, whether CONFIG SET changes it, and its other names. What
// no server can say is in overlay.yaml. Run it by go generate ./render/directive.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

func main() {
	output := flag.String("output", "directives.json", "the file to write")
	flag.Parse()
	if err := run(*output); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(output string) error {
	servers, err := servertest.Find()
	if err != nil {
		return err
	}
	text, err := generate(servers)
	if err != nil {
		return err
	}
	return os.WriteFile(output, text, 0o644)
}

// generate measures every server and returns the table's text.
func generate(servers string) ([]byte, error) {
	o, err := loadOverlay()
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]measured{}
	for _, version := range servertest.Versions() {
		if all[version], err = measure(servers, version); err != nil {
			return nil, err
		}
	}
	if all["9.0"], err = o.NineZero.derive(all["8.1"], all["9.1"]); err != nil {
		return nil, err
	}
	table, err := build(all, o)
	if err != nil {
		return nil, err
	}
	if err := agree(all, table); err != nil {
		return nil, err
	}
	return encode(table)
}

// agree refuses a live directive that a server accepts in one way only.
func agree(all map[string]map[string]measured, table []entry) error {
	for _, e := range table {
		for _, f := range e.In {
			for _, version := range f.Versions {
				if refused := all[version][e.Name].refused; f.Class == "live" && e.Reserved == "" && !ownSyntax(f.Type) && len(refused) > 0 {
					return fmt.Errorf("%s of %s is live, yet %v", e.Name, version, refused)
				}
			}
		}
	}
	return nil
}

// ownSyntax types were tried with words that are no values of theirs.
func ownSyntax(kind string) bool {
	switch kind {
	case "bool", "enum", "flags", "integer", "memory", "memory-or-percent", "octal":
		return false
	}
	return true
}
