// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Plan is what to write where.
type Plan struct {
	// Address is host:port of a server, or of a Service.
	Address string
	// Cluster: the servers are a Cluster, and redirections are followed. Else all goes to
	// Address.
	Cluster bool
	// Connections write Rate keys a second, all together.
	Connections, Rate int
	// Timeout is how long a server may take to answer a command, or to be connected to.
	Timeout time.Duration
	// Run is a word that the keys of no other run have.
	Run string
}

// Writer writes.
type Writer struct {
	dialer      *dialer
	connections []*connection
	shards      [][]int
	stop        chan struct{}
	wg          sync.WaitGroup

	mu           sync.Mutex
	begun, since time.Time
	sum          Lap
}

// Start begins to write, and returns when every connection has had an acknowledgement.
func (p Plan) Start(ctx context.Context, password string) (*Writer, error) {
	if p.Connections < 1 || p.Rate < 1 {
		return nil, fmt.Errorf("traffic: %d connections, %d writes a second", p.Connections, p.Rate)
	}
	w := &Writer{dialer: &dialer{timeout: p.Timeout, password: password}, stop: make(chan struct{})}
	var shared *topology
	w.shards = [][]int{nil}
	if p.Cluster {
		shared = &topology{dial: w.dialer.dial, seed: p.Address}
		err := shared.refresh()
		if err == nil {
			w.shards, err = shared.shards()
		}
		if err != nil {
			return nil, err
		}
	} else {
		for slot := range tags() {
			w.shards[0] = append(w.shards[0], slot)
		}
	}
	w.begun = time.Now()
	w.since = w.begun
	w.sum = w.empty()
	tags := tags()
	for i := range p.Connections {
		shard := i % len(w.shards)
		c := &connection{
			client: client{dialer: w.dialer, topology: shared, address: p.Address, links: map[string]*link{}},
			number: i, shard: shard, slots: w.shards[shard], tags: tags, run: p.Run,
			pause: time.Duration(p.Connections) * time.Second / time.Duration(p.Rate), begun: w.begun,
		}
		w.connections = append(w.connections, c)
		w.wg.Go(func() { c.write(w.stop, p.Connections) })
	}
	for _, c := range w.connections {
		for c.total() == 0 {
			select {
			case <-ctx.Done():
				w.end()
				return nil, fmt.Errorf("traffic: connection %d has written nothing: %w", c.number, ctx.Err())
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	// The first writes made the connections: what they took is nobody's stall.
	w.Lap()
	begun := w.empty()
	begun.Acknowledged = w.sum.Acknowledged
	for i := range begun.Shards {
		begun.Shards[i].Acknowledged = w.sum.Shards[i].Acknowledged
	}
	w.sum = begun
	return w, nil
}

// Password is what later connections log in with.
func (w *Writer) Password(password string) { w.dialer.set(password) }

func (w *Writer) empty() Lap {
	l := Lap{}
	for _, slots := range w.shards {
		l.Shards = append(l.Shards, Shard{Slots: ranges(slots), First: slots[0]})
	}
	return l
}

// Lap returns what was written since the last lap, or since the start.
func (w *Writer) Lap() Lap {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	l := w.empty()
	for _, c := range w.connections {
		part := c.lap(now)
		l.add(c.shard, part)
		w.sum.add(c.shard, part)
	}
	l.Seconds, w.since = now.Sub(w.since).Seconds(), now
	w.sum.Seconds = now.Sub(w.begun).Seconds()
	return l
}

func (w *Writer) end() {
	close(w.stop)
	w.wg.Wait()
}

// Stop ends the writing and reads everything back, for as long as the context lasts. What it
// says of the writing is of all laps.
func (w *Writer) Stop(ctx context.Context) Report {
	w.end()
	w.Lap()
	w.mu.Lock()
	defer w.mu.Unlock()
	report := Report{Lap: w.sum}
	parts := make([]Report, len(w.connections))
	for i, c := range w.connections {
		w.wg.Go(func() {
			c.readBack(ctx, &parts[i])
			c.close()
		})
	}
	w.wg.Wait()
	for _, part := range parts {
		report.Lost += part.Lost
		report.Unread += part.Unread
		report.LostKeys = append(report.LostKeys, part.LostKeys...)
	}
	return report
}
