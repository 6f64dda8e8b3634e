// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench reads what the benchmarks of test/e2e print, passes it on, and closes with a
// table: every run, the median, and what is aimed at. It fails for no figure.
package main

import (
	"fmt"
	"os"
)

func main() {
	runs, err := read(os.Stdin, os.Stdout)
	if err == nil {
		err = table(os.Stdout, runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
