// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"
	// Kubeconfigs may name an OpenID provider, as kubectl's do.
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
)

// connectionHelp is the part of a command's description that is about the cluster.
const connectionHelp = `
The cluster is the one of --kubeconfig, of the files of KUBECONFIG, of
~/.kube/config, or the one this runs in, in this order. Objects without a
namespace go to that of -n, else that of the context.`

// connection are the flags that say which Kubernetes cluster to talk to.
type connection struct {
	kubeconfig string
	context    string
	version    string
}

func (c *connection) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.kubeconfig, "kubeconfig", "", "`file` that names the cluster, instead of KUBECONFIG")
	cmd.Flags().StringVar(&c.context, "context", "", "`name` of the kubeconfig's context, instead of the current one")
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagFilename("kubeconfig")
}

// open connects, and returns the namespace of the context.
func (c *connection) open(sys system.System) (client.Client, string, error) {
	config, namespace, err := c.load(sys)
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	config.UserAgent = "valkey-render/" + c.version
	config.WarningHandler = &warnings{sys: sys, told: map[string]bool{}}
	opened, err := apply.NewClient(config)
	return opened, namespace, err
}

func (c *connection) load(sys system.System) (*rest.Config, string, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: c.kubeconfig}
	if c.kubeconfig == "" {
		rules.Precedence = filepath.SplitList(sys.Getenv("KUBECONFIG"))
		if home := sys.Getenv("HOME"); len(rules.Precedence) == 0 && home != "" {
			rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
		}
	}
	raw, err := rules.Load()
	if err != nil {
		return nil, "", err
	}
	if len(raw.Clusters) == 0 && len(raw.Contexts) == 0 {
		if c.kubeconfig == "" && c.context == "" && sys.Getenv("KUBERNETES_SERVICE_HOST") != "" {
			config, err := rest.InClusterConfig()
			return config, "default", err
		}
		return nil, "", errors.New("names no cluster: set KUBECONFIG, or give --kubeconfig")
	}
	chosen := clientcmd.NewNonInteractiveClientConfig(*raw, c.context, &clientcmd.ConfigOverrides{}, rules)
	config, err := chosen.ClientConfig()
	if err != nil {
		return nil, "", err
	}
	namespace, _, err := chosen.Namespace()
	return config, namespace, err
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
