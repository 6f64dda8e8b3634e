// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command provisioner gives every claim of its storage classes a directory on the node
// that the scheduler chose, and plays what a CSI driver and its resizer do when a claim's
// request grows. How a resize ends is for the storage class (parameter "resize") or the
// claim (annotation) to choose; see resize.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// driver is the name that storage classes call this provisioner by.
const driver = "localcluster.valkey-render.dev/directory"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file that names the cluster")
	root := flag.String("root", "", "directory that holds <node>/<volume>")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, root string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	config.QPS, config.Burst = 100, 200
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	resizes, err := newResizer(client, factory)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	go resizes.run(ctx)
	controller.NewProvisionController(ctx, client, driver, directories{root: root},
		controller.LeaderElection(false)).Run(ctx)
	return nil
}
