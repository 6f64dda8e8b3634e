// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// silent fails if a pod that did not answer does now, where it was asked or where it is by now.
// A pod that was made anew since the Job began has another address than the Job was told, or has
// one where it had none. Its name leads there before it is ready.
func (e Env) silent(ctx context.Context, pod string) error {
	answer := e.answers[pod]
	if answer == nil {
		return nil
	}
	at := answer.Address
	if at.IP != "" && e.reached(ctx, at) {
		return &RacedError{Pod: pod, What: "answers again"}
	}
	if e.Find == nil || answer.Pod.ServerName == "" {
		return nil
	}
	ip, err := e.Find(ctx, answer.Pod.ServerName)
	if err == nil && ip != at.IP && e.reached(ctx, node.Address{IP: ip, Port: answer.Pod.Port, Name: answer.Pod.ServerName}) {
		return &RacedError{Pod: pod, What: "answers again, at " + ip, IP: ip}
	}
	return nil
}

// reached is whether a server answers at an address. A refusal is an answer.
func (e Env) reached(ctx context.Context, at node.Address) bool {
	conn, err := e.Pool.Dial(ctx, at)
	if err == nil {
		err = node.Ask(ctx, conn, "PING").Err
		conn.Close()
	}
	_, refused := errors.AsType[*node.RefusedError](err)
	return err == nil || refused
}
