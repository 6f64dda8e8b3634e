// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	// Kubeconfigs may name an OpenID provider, as kubectl's do.
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Connection are the flags that say which Kubernetes cluster to talk to.
type Connection struct {
	kubeconfig string
	context    string
}

// AddTo registers the flags.
func (c *Connection) AddTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.kubeconfig, "kubeconfig", "", "`file` that names the cluster, instead of KUBECONFIG")
	cmd.Flags().StringVar(&c.context, "context", "", "`name` of the kubeconfig's context, instead of the current one")
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagFilename("kubeconfig")
}

// Load returns the configuration of the cluster of --kubeconfig, of the files of
// KUBECONFIG, of ~/.kube/config, or the one this runs in, in this order, and the
// namespace of its context, or of the pod. Reading a file is left to readFile.
func (c *Connection) Load(getenv func(string) string, readFile func(string) ([]byte, error)) (*rest.Config, string, error) {
	config, namespace, err := c.load(getenv, readFile)
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	return config, namespace, nil
}

func (c *Connection) load(getenv func(string) string, readFile func(string) ([]byte, error)) (*rest.Config, string, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: c.kubeconfig}
	if c.kubeconfig == "" {
		rules.Precedence = filepath.SplitList(getenv("KUBECONFIG"))
		if home := getenv("HOME"); len(rules.Precedence) == 0 && home != "" {
			rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
		}
	}
	raw, err := rules.Load()
	if err != nil {
		return nil, "", err
	}
	if len(raw.Clusters) == 0 && len(raw.Contexts) == 0 {
		if c.kubeconfig == "" && c.context == "" && getenv("KUBERNETES_SERVICE_HOST") != "" {
			config, err := rest.InClusterConfig()
			return config, podNamespace(readFile), err
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

// podNamespace is the namespace of the pod that this runs in.
func podNamespace(readFile func(string) ([]byte, error)) string {
	text, err := readFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return "default"
	}
	return cmp.Or(strings.TrimSpace(string(text)), "default")
}
