// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/cgroup"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/host"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/parts"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/process"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/store"
)

// Shape is what a cluster is made as, and is kept in its state directory.
type Shape struct {
	Nodes int `json:"nodes"` // 0: only an API server
	Port  int `json:"port"`  // of the API server, on 127.0.0.1
	// Programs is the directory of Kubernetes' programs; kubectl is one.
	Programs string `json:"programs"`
}

// Cluster is a local cluster by name, running or not.
type Cluster struct {
	Name  string
	Parts parts.Parts
	// Say tells the user what is being done.
	Say func(format string, args ...any)
}

const control = "control"

// MaxNodes is how many nodes a cluster may have.
const MaxNodes = 3

// New checks the name.
func New(name string, p parts.Parts, say func(format string, args ...any)) (*Cluster, error) {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,29}$`).MatchString(name) {
		return nil, fmt.Errorf("name %q: want lower case letters, digits and dashes, 30 at most", name)
	}
	return &Cluster{Name: name, Parts: p, Say: say}, nil
}

// State is the state directory.
func (c *Cluster) State() string { return filepath.Join(c.Parts.Cache, "localcluster", c.Name) }

// Kubeconfig is the file that names the cluster to clients on this machine.
func (c *Cluster) Kubeconfig() string { return c.path("kubeconfig") }

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.State()}, elements...)...)
}

// group is the control group of the cluster; two users may have clusters of one name.
func (c *Cluster) group() string {
	sum := sha256.Sum256([]byte(c.State()))
	return "/valkey-render-" + c.Name + "-" + hex.EncodeToString(sum[:3])
}

func groups() cgroup.Groups { return cgroup.Groups{Root: "/sys/fs/cgroup"} }

func nodeName(n int) string { return "node" + strconv.Itoa(n) }

// zone is the value of a node's zone label: zone-a, zone-b, zone-c.
func zone(n int) string { return "zone-" + string(rune('a'+n-1)) }

// lock keeps two commands from working on one cluster at once.
func (c *Cluster) lock(ctx context.Context) (func(), error) {
	dir := filepath.Dir(c.State())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	unlock, err := store.Lock(ctx, c.lockFile())
	if err != nil {
		return nil, fmt.Errorf("cluster %s: another command is at work on it: %w", c.Name, err)
	}
	return unlock, nil
}

// shape reads what the cluster was made as.
func (c *Cluster) shape() (Shape, error) {
	var s Shape
	data, err := os.ReadFile(c.path("shape.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, c.NotUp()
	}
	if err != nil {
		return s, fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	return s, nil
}

// ErrDown is the error of a command that needs a cluster that is up.
var ErrDown = errors.New("not up")

// DefaultName is the name of a cluster that nobody has named.
const DefaultName = "local"

// NotUp is ErrDown of a cluster, and how to start it.
func (c *Cluster) NotUp() error {
	named := ""
	if c.Name != DefaultName {
		named = " --name " + c.Name
	}
	return fmt.Errorf("cluster %s: %w; start it with: go run ./localcluster up%s", c.Name, ErrDown, named)
}

// pid is the process id of a host; 0 where it does not run.
func (c *Cluster) pid(name string) (int, error) {
	found, err := process.Find(c.State())
	if err != nil {
		return 0, err
	}
	for _, p := range found {
		if p.First && p.Host == name {
			return p.PID, nil
		}
	}
	return 0, nil
}

// start starts a host that waits for its network.
func (c *Cluster) start(spec host.Spec, listener *os.File) (*host.Started, error) {
	dir := c.path(spec.Name)
	file := filepath.Join(dir, "spec.json")
	if err := spec.Save(file); err != nil {
		return nil, err
	}
	environment := append(process.Mark(c.State(), spec.Name),
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "LC_ALL=C.UTF-8")
	return host.Start(c.path("localcluster"), []string{"host", file}, environment, filepath.Join(dir, "host.log"), listener, spec.Root != nil)
}

// keepProgram copies the running program into the state directory: go run deletes the file
// it started, and a node may be started again long after.
func (c *Cluster) keepProgram() error {
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("own program: %w", err)
	}
	if err := os.WriteFile(c.path("localcluster"), data, 0o755); err != nil {
		return fmt.Errorf("own program: %w", err)
	}
	return nil
}

// tail is the last lines of the logs of a host, for an error message.
func (c *Cluster) tail(name string) string {
	var b strings.Builder
	logs, _ := filepath.Glob(c.path(name, "var", "log", "*.log"))
	for _, log := range append(logs, c.path(name, "host.log")) {
		data, err := os.ReadFile(log)
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if last := lines[len(lines)-1]; last != "" {
			fmt.Fprintf(&b, "\n  %s: %.200s", strings.TrimSuffix(filepath.Base(log), ".log"), last)
		}
	}
	return b.String()
}
