// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// Writer writes to a cluster, as clients do that follow redirections, and remembers what
// was acknowledged.
type Writer struct {
	stop  chan struct{}
	wg    sync.WaitGroup
	all   []*writing
	began time.Time
}

// writerKeys is how many keys each client writes, over and over.
const writerKeys = 500

// writing is one client that writes growing numbers to its own keys.
type writing struct {
	name  string
	login []string
	// addresses are where it begins.
	addresses []string
	conns     map[string]*servertest.Client
	// at is the address that last answered for a key; whole has one for all keys.
	at    map[string]string
	whole bool

	acknowledged, attempted map[string]int
	// pause is between two writes, from begin to begin; 0 is none.
	pause time.Duration

	mu sync.Mutex
	// writes are those since the last lap, longest what one of them waited; waits is since
	// when the one under way does.
	writes  int
	longest time.Duration
	waits   time.Time
}

// Write begins to write with so many clients. They log in with login, such as AUTH and its
// words, if it is not empty.
func (c *Cluster) Write(clients int, login ...string) *Writer {
	c.tb.Helper()
	return c.WriteAt(0, clients, login...)
}

// WriteAt is Write with so many writes a second as all clients are to reach together, if the
// machine and the cluster allow; as many as they can when it is 0.
func (c *Cluster) WriteAt(rate, clients int, login ...string) *Writer {
	c.tb.Helper()
	w := &Writer{stop: make(chan struct{}), began: time.Now()}
	var pause time.Duration
	if rate > 0 {
		pause = time.Duration(clients) * time.Second / time.Duration(rate)
	}
	var addresses []string
	for _, p := range c.Sorted() {
		if p.Server != nil {
			addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", p.Server.Port))
		}
	}
	for i := range clients {
		k := &writing{
			name: fmt.Sprintf("w%d", i), login: login, addresses: addresses, conns: map[string]*servertest.Client{}, at: map[string]string{}, whole: !c.slots(),
			acknowledged: map[string]int{}, attempted: map[string]int{}, pause: pause,
		}
		w.all = append(w.all, k)
		w.wg.Go(func() { k.run(w.stop) })
	}
	c.tb.Cleanup(w.end)
	return w
}

func (w *Writer) end() {
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.wg.Wait()
}

// Written is what clients have seen: writes and stalls since the last lap, and keys of all
// the time.
type Written struct {
	Acknowledged int
	// Lost are keys that have an older value than was acknowledged, or none.
	Lost []string
	// Stall is the longest time that one client waited for an acknowledgement.
	Stall time.Duration
}

// Stop ends the writing and reads everything back.
func (w *Writer) Stop() Written {
	w.end()
	var sum Written
	for _, k := range w.all {
		writes, longest := k.lap()
		sum.Acknowledged += writes
		sum.Stall = max(sum.Stall, longest)
		for _, key := range slices.Sorted(maps.Keys(k.acknowledged)) {
			reply, err := k.persist(time.Minute, key, "GET", key)
			text, _ := reply.(string)
			n, _ := strconv.Atoi(text)
			if err != nil || n < k.acknowledged[key] || n > k.attempted[key] {
				sum.Lost = append(sum.Lost, fmt.Sprintf("%s: %v (%v), acknowledged %d", key, reply, err, k.acknowledged[key]))
			}
		}
		for _, conn := range k.conns {
			_ = conn.Close()
		}
	}
	return sum
}

func (k *writing) run(stop chan struct{}) {
	due := time.Now()
	k.waits = due
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Until(due)):
		}
		key := fmt.Sprintf("%s:%d", k.name, n%writerKeys)
		k.attempted[key] = n
		_, err := k.persist(0, key, "SET", key, strconv.Itoa(n))
		if err != nil {
			continue
		}
		k.acknowledged[key] = n
		now := time.Now()
		// What was missed is not made up for.
		due = due.Add(k.pause)
		if due.Before(now) {
			due = now
		}
		k.took(now, due)
	}
}

// took notes an acknowledgement, and when the next write is due.
func (k *writing) took(now, due time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writes++
	k.longest = max(k.longest, now.Sub(k.waits))
	k.waits = due
}

// persist sends a command until it is answered or the time is over, at least once.
func (k *writing) persist(patience time.Duration, key string, words ...string) (any, error) {
	for begun := time.Now(); ; {
		reply, err := k.send(key, words...)
		if err == nil || time.Since(begun) >= patience {
			if err != nil {
				time.Sleep(2 * time.Millisecond)
			}
			return reply, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// send sends a command and follows redirections.
func (k *writing) send(key string, words ...string) (any, error) {
	if k.whole {
		key = ""
	}
	address, asking := k.at[key], false
	if address == "" {
		address = k.addresses[len(k.at)%len(k.addresses)]
	}
	var err error
	for range 5 {
		var reply any
		if reply, err = k.do(address, asking, words...); err == nil {
			if !asking {
				k.at[key] = address
			}
			return reply, nil
		}
		var refused servertest.ReplyError
		if !errors.As(err, &refused) {
			break
		}
		f := strings.Fields(string(refused))
		if len(f) != 3 || f[0] != "MOVED" && f[0] != "ASK" {
			break
		}
		address, asking = f[2], f[0] == "ASK"
	}
	// Another one may know better next time.
	k.at[key] = k.addresses[(slices.Index(k.addresses, k.at[key])+1)%len(k.addresses)]
	return nil, err
}

func (k *writing) do(address string, asking bool, words ...string) (any, error) {
	conn := k.conns[address]
	if conn == nil {
		var err error
		if conn, err = servertest.Dial("tcp", address); err != nil {
			return nil, err
		}
		if len(k.login) > 0 {
			if _, err := conn.Do(k.login...); err != nil {
				_ = conn.Close()
				return nil, err
			}
		}
		k.conns[address] = conn
	}
	if asking {
		if _, err := conn.Do("ASKING"); err != nil {
			return nil, k.lost(address, err)
		}
	}
	reply, err := conn.Do(words...)
	return reply, k.lost(address, err)
}

// lost closes a connection that did not answer.
func (k *writing) lost(address string, err error) error {
	var refused servertest.ReplyError
	if err != nil && !errors.As(err, &refused) {
		_ = k.conns[address].Close()
		delete(k.conns, address)
	}
	return err
}
