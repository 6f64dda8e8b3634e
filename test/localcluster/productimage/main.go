// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command productimage writes the image of the product to a file that localcluster
// load-image, docker load and kind load take.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/product"
)

func main() {
	b := product.Build{}
	flag.StringVar(&b.Source, "source", "..", "root of the source tree")
	flag.StringVar(&b.Version, "version", "dev", "tag of the image, and version of the programs unless it is dev")
	flag.StringVar(&b.Architecture, "arch", runtime.GOARCH, "architecture, as Go calls it")
	flag.StringVar(&b.Output, "output", "", "file to write")
	flag.Parse()
	if b.Output == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "productimage: name the file to write with --output")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	reference, err := b.Make(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "productimage:", err)
		os.Exit(1)
	}
	fmt.Println(reference)
}
