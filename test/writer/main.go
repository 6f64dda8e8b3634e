// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command writer writes unique keys to a Valkey Cluster, or to one address, at a steady
// rate, until its standard input ends, or for a -duration; then it reads every acknowledged
// key back. What it has to say are lines of JSON on standard output, each an object with one
// field: started, lap, report.
//
// The first line of standard input is the password, or empty; or it is in
// VALKEY_PASSWORD, and there is no such line. Later lines are commands: "lap" for what was
// written since the last one, "password NEW" for what new connections log in with.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/valkey-render/valkey-render/internal/traffic"
)

// options are the flags.
type options struct {
	plan     traffic.Plan
	duration time.Duration
	patience time.Duration
}

func main() {
	o := options{}
	flag.StringVar(&o.plan.Address, "address", "", "host:port of a server, or of a Service")
	flag.BoolVar(&o.plan.Cluster, "cluster", false, "the servers are a Cluster: follow redirections")
	flag.IntVar(&o.plan.Connections, "connections", 64, "connections, each with one write at a time")
	flag.IntVar(&o.plan.Rate, "rate", 1000, "writes a second, of all connections together")
	flag.DurationVar(&o.plan.Timeout, "timeout", 500*time.Millisecond, "how long a server may take for an answer")
	flag.DurationVar(&o.duration, "duration", 0, "end after this time, and not with standard input")
	flag.DurationVar(&o.patience, "patience", 2*time.Minute, "how long the start, and reading everything back, may take")
	flag.StringVar(&o.plan.Run, "run", strconv.FormatInt(time.Now().UnixNano(), 36), "a word that the keys of no other run have")
	flag.Parse()
	if o.plan.Address == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "writer: name where to write with -address host:port")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	password, given := os.LookupEnv("VALKEY_PASSWORD")
	err := o.run(ctx, password, given, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "writer:", err)
		os.Exit(1)
	}
}

// run writes until in or ctx ends.
func (o options) run(ctx context.Context, password string, given bool, in io.Reader, out io.Writer) error {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	if !given {
		password = <-lines
	}
	starting, cancel := context.WithTimeout(ctx, o.patience)
	w, err := o.plan.Start(starting, password)
	cancel()
	if err != nil {
		return err
	}
	say := json.NewEncoder(out)
	if err := say.Encode(map[string]any{"started": o.plan.Run}); err != nil {
		return err
	}
	if o.duration > 0 {
		var enough context.CancelFunc
		ctx, enough = context.WithTimeout(ctx, o.duration)
		defer enough()
	}
	if err := o.obey(ctx, w, lines, say); err != nil {
		return err
	}
	// Not ctx: a signal ends the writing, not what there is to say of it.
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.patience)
	defer cancel()
	return say.Encode(map[string]any{"report": w.Stop(reading)})
}

// obey does what the lines say until they or ctx end.
func (o options) obey(ctx context.Context, w *traffic.Writer, lines <-chan string, say *json.Encoder) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, more := <-lines:
			if !more && o.duration > 0 {
				lines = nil
				continue
			}
			if !more {
				return nil
			}
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "lap":
				if err := say.Encode(map[string]any{"lap": w.Lap()}); err != nil {
					return err
				}
			case "password":
				w.Password(rest)
			default:
				return fmt.Errorf("line %q of standard input: want lap or password", word)
			}
		}
	}
}
