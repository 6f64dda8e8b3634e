// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// address is where a pod is now.
func (r *run) address(ctx context.Context, p Pod) (node.Address, error) {
	at := node.Address{IP: p.Host, Port: p.Port, Name: p.ServerName}
	if _, err := netip.ParseAddr(p.Host); err == nil {
		return at, nil
	}
	if r.Resolve == nil {
		return at, fmt.Errorf("name %s is no address, and names are not looked up", p.Host)
	}
	ip, err := r.Resolve(ctx, p.Host)
	if err != nil {
		return at, err
	}
	if at.Name == "" {
		at.Name = strings.TrimSuffix(p.Host, ".")
	}
	at.IP = ip
	return at, nil
}

// on does something over the connection to a pod, and drops the connection when that
// ends with anything but a server's refusal.
func (r *run) on(ctx context.Context, p Pod, do func(conn node.Conn) error) error {
	at, err := r.address(ctx, p)
	if err != nil {
		return err
	}
	conn, err := r.Pool.Get(ctx, at)
	if err != nil {
		return err
	}
	err = do(conn)
	var refused *node.RefusedError
	if err != nil && !errors.As(err, &refused) {
		r.Pool.Drop(at, conn)
	}
	return err
}

// info is the server's INFO of some sections.
func info(ctx context.Context, conn node.Conn, sections ...string) (node.Info, error) {
	text, err := node.Ask(ctx, conn, append([]string{"INFO"}, sections...)...).Text()
	if err != nil {
		return nil, fmt.Errorf("INFO: %w", err)
	}
	return node.ParseInfo(text), nil
}

// minor is the version of a server that files and tables are named by.
func minor(info node.Info) string {
	parts := strings.SplitN(info.Version(), ".", 3)
	if len(parts) < 2 {
		return info.Version()
	}
	return parts[0] + "." + parts[1]
}

// config is the answer to CONFIG GET of some names.
func config(ctx context.Context, conn node.Conn, names ...string) (map[string]string, error) {
	reply := node.Ask(ctx, conn, append([]string{"CONFIG", "GET"}, names...)...)
	if reply.Err != nil {
		return nil, fmt.Errorf("CONFIG GET: %w", reply.Err)
	}
	return node.Pairs(reply.Value), nil
}

// rejection is a server's refusal that is about what it was asked, with its words. One
// that is about the server's state or our rights may pass.
func rejection(err error) (words string, refused bool) {
	var r *node.RefusedError
	if !errors.As(err, &r) {
		return "", false
	}
	switch r.Code() {
	case "LOADING", "BUSY", "NOAUTH", "WRONGPASS", "NOPERM", "MASTERDOWN":
		return "", false
	}
	return redact(r.Words), true
}

// redact leaves out words that may be a password or its hash: a server repeats rules.
func redact(words string) string {
	fields := strings.Fields(words)
	for i, word := range fields {
		bare := strings.Trim(word, "'\"`,.")
		if len(bare) > 1 && strings.ContainsAny(bare[:1], "#!<>") {
			fields[i] = bare[:1] + "…"
		}
	}
	return strings.Join(fields, " ")
}
