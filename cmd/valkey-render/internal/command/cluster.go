// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
)

// openAndRender connects and renders the input for the cluster connected to.
func openAndRender(ctx context.Context, sys system.System, connection *connection, in *input) (client.Client, []apply.Cluster, error) {
	c, namespace, err := connection.open(sys)
	if err != nil {
		return nil, nil, err
	}
	in.fallback = namespace
	result, err := in.objects(ctx, sys)
	if err != nil {
		return nil, nil, err
	}
	clusters, err := apply.Group(result.Objects)
	return c, clusters, err
}
