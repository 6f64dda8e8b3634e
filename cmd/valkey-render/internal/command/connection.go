// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
)

// connectionHelp is the part of a command's description that is about the cluster.
const connectionHelp = `
The cluster is the one of --kubeconfig, of the files of KUBECONFIG, of
~/.kube/config, or the one this runs in, in this order. Objects without a
namespace go to that of -n, else that of the context, or of the pod.`

// connection are the flags that say which Kubernetes cluster to talk to.
type connection struct {
	cli.Connection
	version string
}

// open connects, and returns the namespace of the context.
func (c *connection) open(sys system.System) (client.Client, string, error) {
	config, namespace, err := c.Load(sys.Getenv, func(name string) ([]byte, error) { return readFile(sys.Files, name) })
	if err != nil {
		return nil, "", err
	}
	config.UserAgent = "valkey-render/" + c.version
	config.WarningHandler = &warnings{sys: sys, told: map[string]bool{}}
	opened, err := apply.NewClient(config)
	return opened, namespace, err
}

func readFile(files system.Files, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// warnings tells each warning of the server once.
type warnings struct {
	sys  system.System
	mu   sync.Mutex
	told map[string]bool
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// 299 is the code of Kubernetes' own warnings.
	if code != 299 || text == "" || w.told[text] {
		return
	}
	w.told[text] = true
	fmt.Fprintf(w.sys.Err, "warning: %s\n", text)
}
