// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pure reports whether a package must give the same bytes for the same input on every
// machine: no client, no clock, no randomness, no environment, no files.
func pure(dir string) bool {
	return under(dir, "api", "render", "internal/nearest", "internal/oldbool", "topologyjob/acl", "topologyjob/allocation", "topologyjob/guard", "topologyjob/outcome", "topologyjob/plan", "topologyjob/secret", "topologyjob/setting", "topologyjob/slot", "topologyjob/status") &&
		!under(dir, "render/apply")
}

// impurePackages says why a pure package may not import a package, or one below it.
// .golangci.yml has the same list, for editors.
var impurePackages = map[string]string{
	"os":                             "reaches the process or its files",
	"syscall":                        "reaches the process or its files",
	"io/ioutil":                      "reaches the process or its files",
	"io/fs":                          "reaches the process or its files",
	"plugin":                         "reaches the process or its files",
	"flag":                           "reaches the process or its files",
	"log":                            "reaches the process or its files",
	"path/filepath":                  "differs between systems and reads the disk: use path",
	"net":                            "reaches the network",
	"math/rand":                      "is random",
	"crypto/rand":                    "is random",
	"k8s.io/client-go":               "is a client",
	"sigs.k8s.io/controller-runtime": "is a client",
	"github.com/fluxcd/pkg":          "is a client",
	"github.com/valkey-io/valkey-go": "is a client",
	"github.com/minio/minio-go":      "is a client",
}

// impure reports why a pure package may not import a package; "" if it may.
func impure(pkg string) string {
	if pkg == "net/netip" || pkg == "net/url" {
		return "" // parsers, without a socket
	}
	for prefix, why := range impurePackages {
		if under(pkg, prefix) {
			return why
		}
	}
	return ""
}

// forbiddenCalls are functions of packages that a pure package may import, by import path.
var forbiddenCalls = map[string][]string{
	"time":                                {"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Sleep", "LoadLocation", "Local"},
	"sigs.k8s.io/kustomize/kyaml/filesys": {"MakeFsOnDisk"},
	"k8s.io/apimachinery/pkg/apis/meta/v1": {
		"Now", "NowMicro",
	},
	"k8s.io/apimachinery/pkg/util/rand": {"String", "Int", "Intn", "IntnRange", "Int63nRange", "Perm", "Seed"},
	"k8s.io/apimachinery/pkg/util/uuid": {"NewUUID"},
}

// imported returns the file's imports by import path with the name the file uses for each.
func imported(s source) map[string]string {
	names := map[string]string{}
	for _, spec := range s.Syntax.Imports {
		pkg, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := pkg[strings.LastIndex(pkg, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[pkg] = name
	}
	return names
}

// impurities lists what a file of a pure package does that it may not.
func impurities(s source) []string {
	var found []string
	names := imported(s)
	for pkg := range names {
		if why := impure(pkg); why != "" && !(pkg == "net" && joinsOnly(s, names[pkg])) {
			found = append(found, fmt.Sprintf("%s imports %s, which %s", s.Path, pkg, why))
		}
	}
	for pkg, calls := range forbiddenCalls {
		name, ok := names[pkg]
		if !ok {
			continue
		}
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == name && slices.Contains(calls, sel.Sel.Name) {
				found = append(found, fmt.Sprintf("%s:%d uses %s.%s, which differs from run to run", s.Path, s.line(n.Pos()), pkg, sel.Sel.Name))
			}
			return true
		})
	}
	slices.Sort(found)
	return found
}

// joinsOnly reports whether a file outside render takes nothing from package net but the
// two functions that put addresses together and apart. render itself never needs them.
func joinsOnly(s source, name string) bool {
	only := !under(s.Dir, "render")
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == name && sel.Sel.Name != "JoinHostPort" && sel.Sel.Name != "SplitHostPort" {
				only = false
			}
		}
		return only
	})
	return only
}

// TestPurePackagesReachNothing leaves out tests, and programs that go generate runs.
func TestPurePackagesReachNothing(t *testing.T) {
	for _, s := range sources(t) {
		if s.Test || !pure(s.Dir) || s.Syntax.Name.Name == "main" {
			continue
		}
		for _, violation := range impurities(s) {
			t.Error(violation)
		}
	}
}

func TestImpuritiesAreSeen(t *testing.T) {
	const text = `package conf

import (
	"net/netip"
	"os"
	clock "time"

	"k8s.io/client-go/kubernetes"
)

const wait = 3 * clock.Second

var started = clock.Now()
`
	want := []string{
		"render/conf/x.go imports k8s.io/client-go/kubernetes, which is a client",
		"render/conf/x.go imports os, which reaches the process or its files",
		"render/conf/x.go:13 uses time.Now, which differs from run to run",
	}
	if diff := cmp.Diff(want, impurities(parse(t, file{Path: "render/conf/x.go", Data: []byte(text)}))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// closure returns, for every package of the module by directory, every package of the
// module that its non-test files reach, with one path that leads there. Programs that go
// generate runs are left out: they are below the package whose files they write.
func closure(list []source) map[string]map[string][]string {
	direct := map[string]map[string]bool{}
	for _, s := range list {
		if s.Test || s.Syntax.Name.Name == "main" && !under(s.Dir, "cmd") {
			continue
		}
		if direct[s.Dir] == nil {
			direct[s.Dir] = map[string]bool{}
		}
		for pkg := range imported(s) {
			if under(pkg, module) {
				direct[s.Dir][strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")] = true
			}
		}
	}
	reach := map[string]map[string][]string{}
	for dir := range direct {
		reach[dir] = map[string][]string{}
		queue := [][]string{{dir}}
		for len(queue) > 0 {
			way := queue[0]
			queue = queue[1:]
			for next := range direct[way[len(way)-1]] {
				if _, seen := reach[dir][next]; !seen {
					reach[dir][next] = append(slices.Clone(way), next)
					queue = append(queue, reach[dir][next])
				}
			}
		}
	}
	return reach
}

// arrow says what the packages below from may reach inside this module.
type arrow struct {
	from    string
	only    []string // nil: everything but never
	never   []string
	because string
}

// broken lists the ways in which sources go against the arrow.
func (a arrow) broken(list []source) []string {
	var found []string
	for dir, targets := range closure(list) {
		if !under(dir, a.from) {
			continue
		}
		for target, way := range targets {
			if under(target, a.never...) || a.only != nil && !under(target, a.only...) {
				found = append(found, fmt.Sprintf("%s reaches %s (%s): %s", dir, target, strings.Join(way, " → "), a.because))
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestBrokenArrowsAreSeen(t *testing.T) {
	list := []source{
		parse(t, file{Path: "topologyjob/acl/a.go", Data: []byte("package acl\nimport _ \"" + module + "/render/name\"")}),
		parse(t, file{Path: "render/name/b.go", Data: []byte("package name\nimport _ \"" + module + "/render/load\"")}),
	}
	a := arrow{from: "topologyjob", only: []string{"topologyjob", "render/name"}, because: "reason"}
	want := []string{"topologyjob/acl reaches render/load (topologyjob/acl → render/name → render/load): reason"}
	if diff := cmp.Diff(want, a.broken(list)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestPackagesReachOnlyWhatTheirArrowAllows holds who may depend on whom, transitively.
func TestPackagesReachOnlyWhatTheirArrowAllows(t *testing.T) {
	arrows := []arrow{
		{from: "api", only: []string{"api", "internal/nearest"}, because: "everything imports the types; the one measure of \"did you mean\" needs nothing itself"},
		{from: "internal/nearest", only: []string{"internal/nearest"}, because: "the types import it"},
		{from: "render", never: []string{"topologyjob", "cmd"}, because: "render knows what Git says, not what Valkey says"},
		{
			from: "topologyjob", only: []string{"topologyjob", "api", "render/name", "render/directive", "render/command", "render/job", "internal/nearest"},
			because: "topologyjob shares only names, the tables of directives and commands, and Job objects with render",
		},
		{
			from: "internal/localpod", only: []string{"internal/localpod", "api", "render/name", "render/script", "internal/nearest"},
			because: "it runs objects that somebody else rendered, whatever they are, and knows nothing of what Valkey says",
		},
		{from: "render", never: []string{"internal/localpod", "internal/credential", "internal/trial"}, because: "render makes objects; who runs them is another matter"},
		{from: "topologyjob", never: []string{"internal/localpod", "internal/credential", "internal/trial"}, because: "only internal/trial joins the two halves, on one machine"},
		{from: "render/name", only: []string{"render/name", "api", "internal/nearest"}, because: "topologyjob imports it"},
		{from: "render/job", only: []string{"render/job", "render/name", "api", "internal/nearest"}, because: "topologyjob imports it"},
		{from: "render/directive", only: []string{"render/directive", "api", "internal/nearest"}, because: "topologyjob imports it"},
		{from: "render/command", only: []string{"render/command", "api", "internal/nearest"}, because: "topologyjob imports it"},
	}
	list := sources(t)
	for _, a := range arrows {
		for _, violation := range a.broken(list) {
			t.Error(violation)
		}
	}
}

// TestAPIImports keeps the types cheap to import: other people's programs decode them.
func TestAPIImports(t *testing.T) {
	for _, s := range sources(t) {
		if s.Test || !under(s.Dir, "api") {
			continue
		}
		for pkg := range imported(s) {
			first, _, _ := strings.Cut(pkg, "/")
			if strings.Contains(first, ".") && !under(pkg, module+"/api", module+"/internal/nearest", "k8s.io/api", "k8s.io/apimachinery") {
				t.Errorf("%s imports %s: the types need only k8s.io/api and k8s.io/apimachinery", s.Path, pkg)
			}
		}
	}
}

// TestProgramsAreLeaves: what a program does, a library can do too.
func TestProgramsAreLeaves(t *testing.T) {
	for dir, targets := range closure(sources(t)) {
		for target := range targets {
			if under(target, "cmd") && !under(dir, "cmd") {
				t.Errorf("%s imports %s: programs are not libraries", dir, target)
			}
		}
	}
}
