// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"sync"
)

// Pool keeps one connection to each address, so that passes of a loop do not dial again.
// It is safe for concurrent use.
type Pool struct {
	dialer Dialer
	mu     sync.Mutex
	open   map[Address]Conn
}

// NewPool makes an empty pool.
func NewPool(dialer Dialer) *Pool { return &Pool{dialer: dialer, open: map[Address]Conn{}} }

// Get returns the connection to an address and makes it if there is none.
func (p *Pool) Get(ctx context.Context, address Address) (Conn, error) {
	p.mu.Lock()
	conn := p.open[address]
	p.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	conn, err := p.dialer.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.open[address]; other != nil {
		conn.Close()
		return other, nil
	}
	p.open[address] = conn
	return conn, nil
}

// Dial makes a connection of its own, which the caller closes.
func (p *Pool) Dial(ctx context.Context, address Address) (Conn, error) {
	return p.dialer.Dial(ctx, address)
}

// Drop closes the connection to an address if it is still this one: it failed.
func (p *Pool) Drop(address Address, conn Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[address] == conn {
		delete(p.open, address)
	}
	conn.Close()
}

// Close closes every connection.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for address, conn := range p.open {
		delete(p.open, address)
		conn.Close()
	}
}
