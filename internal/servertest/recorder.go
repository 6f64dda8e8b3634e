// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Recorder notes which commands which user sends to the servers that are started with it.
// It stands between a server's port and whoever connects to it, and passes everything on
// as it is. MONITOR would show neither users nor commands of administration.
type Recorder struct {
	mu   sync.Mutex
	sent map[string]map[string]bool
	err  error
}

// Sent are the commands that a user has sent, in the form of an ACL rule without its sign
// ("get", "cluster|nodes"), sorted. Until it has logged in a client is "default".
func (r *Recorder) Sent(user string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.sent[user]))
}

// Err says what could not be understood, if anything.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// record has the recorder listen at the server's port, and tells the server to call that
// port its own. It returns the one that the server is to listen at.
func (s *Server) record(opts *Options) (port int, err error) {
	s.unrelay = func() {}
	if opts.Recorder == nil || !opts.TCP {
		return s.Port, nil
	}
	if port, err = FreePort(); err != nil {
		return 0, err
	}
	// Another process may look at that very moment whether the port is free.
	for range 20 {
		var stop func()
		if stop, err = opts.Recorder.relay(s.Port, port); err == nil {
			s.unrelay = stop
			break
		}
		if s.Port, err = FreePort(); err != nil {
			return 0, err
		}
	}
	if err != nil {
		return 0, err
	}
	told := strconv.Itoa(s.Port)
	if opts.Sentinel {
		opts.Conf += "\nsentinel announce-port " + told + "\n"
		return port, nil
	}
	// Others look for the bus above the port that they know.
	opts.Args = append([]string{
		"--replica-announce-port", told, "--cluster-announce-port", told, "--cluster-port", strconv.Itoa(s.Port + busOffset),
	}, opts.Args...)
	return port, nil
}

// relay listens at one port of 127.0.0.1 for what another one is for. stop ends it.
func (r *Recorder) relay(port, to int) (stop func(), err error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go r.pass(client, net.JoinHostPort("127.0.0.1", strconv.Itoa(to)))
		}
	}()
	return func() { _ = listener.Close() }, nil
}

// pass connects a client with a server until one of them ends it.
func (r *Recorder) pass(client net.Conn, to string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		_ = client.Close()
		return
	}
	end := sync.OnceFunc(func() {
		_ = client.Close()
		_ = server.Close()
	})
	copied, copies := io.Pipe()
	go r.follow(copied)
	go func() {
		defer end()
		_, _ = io.Copy(client, server)
	}()
	_, err = io.Copy(server, io.TeeReader(client, copies))
	_ = copies.CloseWithError(errors.Join(err, io.EOF))
	end()
}

// follow notes the commands of a connection.
func (r *Recorder) follow(in io.Reader) {
	defer func() { _, _ = io.Copy(io.Discard, in) }()
	user, requests := "default", bufio.NewReader(in)
	for {
		words, err := request(requests)
		var strange *strangeError
		if errors.As(err, &strange) {
			r.mu.Lock()
			r.err = errors.Join(r.err, fmt.Errorf("user %s: %w", user, err))
			r.mu.Unlock()
		}
		if err != nil {
			return
		}
		if len(words) == 0 {
			continue
		}
		r.note(user, words)
		user = after(user, words)
	}
}

func (r *Recorder) note(user string, words []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sent == nil {
		r.sent = map[string]map[string]bool{}
	}
	if r.sent[user] == nil {
		r.sent[user] = map[string]bool{}
	}
	r.sent[user][rule(words)] = true
}

// after is who the client is when the server has taken a command.
func after(user string, words []string) string {
	switch strings.ToUpper(words[0]) {
	case "AUTH":
		if len(words) == 3 {
			return words[1]
		}
		return "default"
	case "HELLO":
		if len(words) >= 5 && strings.EqualFold(words[2], "AUTH") {
			return words[3]
		}
	case "RESET":
		return "default"
	}
	return user
}

// rule is what an ACL rule would call a command.
func rule(words []string) string {
	command := strings.ToLower(words[0])
	switch command {
	case "acl", "client", "cluster", "command", "commandlog", "config", "function", "latency", "memory", "module", "object",
		"pubsub", "script", "sentinel", "slowlog", "xgroup", "xinfo":
		if len(words) > 1 {
			return command + "|" + strings.ToLower(words[1])
		}
	}
	return command
}

// strangeError is about something that is no request.
type strangeError struct{ line string }

func (e *strangeError) Error() string { return fmt.Sprintf("no request: %q", e.line) }

// Of a request the first words are kept, if they are short: values are not.
const (
	wordsKept = 5
	wordKept  = 256
)

// request reads one command. It has no words when a client only showed that it lives.
func request(in *bufio.Reader) ([]string, error) {
	count, inline, err := length(in, '*')
	if err != nil || count < 0 {
		return inline, err
	}
	var words []string
	for i := range count {
		size, _, err := length(in, '$')
		if err != nil {
			return nil, err
		}
		if size < 0 {
			return nil, &strangeError{"no length"}
		}
		if i >= wordsKept || size > wordKept {
			if _, err := in.Discard(size + 2); err != nil {
				return nil, err
			}
			words = append(words, "")
			continue
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(in, word); err != nil {
			return nil, err
		}
		words = append(words, string(word[:size]))
	}
	return words, nil
}

// length reads a line such as "*3"; -1 with the line's words for one of another kind.
func length(in *bufio.Reader, kind byte) (n int, words []string, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" || line[0] != kind {
		return -1, strings.Fields(line), nil
	}
	if n, err = strconv.Atoi(line[1:]); err != nil || n < 0 {
		return 0, nil, &strangeError{line}
	}
	return n, nil, nil
}
