// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"strconv"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// epochs sets config epochs. The server takes one only while it knows nobody and has none;
// a node that has one, or has met somebody since, is left as it is: the servers settle
// equal epochs by themselves, only later.
func (e Env) epochs(ctx context.Context, s plan.Epochs) error {
	return each(s.Nodes, func(n plan.Epoch) error {
		p, now, err := e.look(ctx, n.Ref)
		if err != nil {
			return err
		}
		if len(now.Nodes) > 1 || now.Own().Epoch != 0 {
			return nil
		}
		return e.do(ctx, p, "CLUSTER", "SET-CONFIG-EPOCH", strconv.FormatUint(n.Epoch, 10))
	})
}
