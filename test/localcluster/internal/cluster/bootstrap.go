// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/kubeapi"
)

// bootstrap applies what a cluster has before anyone uses it: its storage classes. They
// differ in how a resize ends; see the program provisioner.
func bootstrap(ctx context.Context, api *kubeapi.Client) error {
	for name, outcome := range map[string]string{
		"standard": "done", "resize-pending": "pending", "resize-infeasible": "infeasible", "resize-node": "node",
	} {
		if err := api.Apply(ctx, "/apis/storage.k8s.io/v1/storageclasses/"+name, storageClass(name, outcome)); err != nil {
			return err
		}
	}
	return nil
}

func storageClass(name, outcome string) string {
	return fmt.Sprintf(`apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: %s
  annotations: {storageclass.kubernetes.io/is-default-class: "%t"}
provisioner: localcluster.valkey-render.dev/directory
parameters: {resize: %s}
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
`, name, name == "standard", outcome)
}
