// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo is an application of a cluster that `valkey-render try` runs: it writes
// keys, or reads them back and counts what is missing, through a cluster client that
// finds the servers in the environment.
//
//	demo write|read NUMBER
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-io/valkey-go"
)

// batch is how many commands are in flight.
const batch = 500

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if len(args) != 2 || args[0] != "write" && args[0] != "read" {
		return errors.New("usage: demo write|read NUMBER")
	}
	number, err := strconv.Atoi(args[1])
	if err != nil || number < 1 {
		return fmt.Errorf("number %q: must be 1 or more", args[1])
	}
	client, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: strings.Split(os.Getenv("VALKEY_ADDRESSES"), ","),
		Username:    os.Getenv("VALKEY_USERNAME"), Password: os.Getenv("VALKEY_PASSWORD"),
		DisableCache: true,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	began := time.Now()
	missing := 0
	for first := 0; first < number; first += batch {
		n, err := do(ctx, client, args[0] == "write", first, min(first+batch, number))
		if err != nil {
			return err
		}
		missing += n
	}
	verb := "written"
	if args[0] == "read" {
		verb = "read"
	}
	fmt.Fprintf(out, "%d keys %s through a cluster client in %s, %d missing\n", number, verb, time.Since(began).Round(time.Millisecond), missing)
	if missing > 0 {
		return fmt.Errorf("%d keys are missing", missing)
	}
	return nil
}

// do writes or reads the keys from first to before last, and counts those that are not
// what was written.
func do(ctx context.Context, client valkey.Client, write bool, first, last int) (missing int, err error) {
	var commands valkey.Commands
	for i := first; i < last; i++ {
		key, value := "key:"+strconv.Itoa(i), strconv.Itoa(i*i)
		if write {
			commands = append(commands, client.B().Set().Key(key).Value(value).Build())
		} else {
			commands = append(commands, client.B().Get().Key(key).Build())
		}
	}
	for i, reply := range client.DoMulti(ctx, commands...) {
		text, err := reply.ToString()
		switch {
		case valkey.IsValkeyNil(err):
			missing++
		case err != nil:
			return missing, err
		case !write && text != strconv.Itoa((first+i)*(first+i)):
			missing++
		}
	}
	return missing, nil
}
