// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// TestTheTableHasEveryRunAndTheMedian of what go test prints, logs and a failed run between.
func TestTheTableHasEveryRunAndTheMedian(t *testing.T) {
	const printed = `goos: linux
BenchmarkForm-2   	       1	         9.871 s
BenchmarkForm-2   	       1	        11.04 s
BenchmarkRoll-2   	--- FAIL: BenchmarkRoll-2
    measured_test.go:1: 3 keys lost
BenchmarkRoll-2   	       1	         0 failed	         1.5 late-ms	         0 lost	        41.2 s	       103.4 stall-ms
--- BENCH: BenchmarkRoll-2
BenchmarkRoll-2   	       1	         2 failed	         1.5 late-ms	         0 lost	        39 s	       1034 stall-ms
PASS
`
	var out strings.Builder
	found, err := read(strings.NewReader(printed), &out)
	if err == nil {
		err = table(&out, found)
	}
	if err != nil {
		t.Fatal(err)
	}
	after, is := strings.CutPrefix(out.String(), printed)
	var rows []string
	for line := range strings.Lines(after) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"", "run 1 run 2 median aim",
		"apply to Ready, 3 shards with a replica each, s 9.9 11.0 10.5 ≤ 12",
		"roll of all 6 pods, s 41.2 39 40.1 ≤ 60",
		"longest stall, ms 103 1034 569 ≤ 150",
		"failed writes 0 2 1 ≤ 0",
		"lost writes 0 0 0 ≤ 0",
	}
	if got := strings.Join(rows, "\n"); !is || got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", out.String(), strings.Join(want, "\n"))
	}
}

func TestAnOddMedianIsTheMiddle(t *testing.T) {
	if got := median([]float64{9, 1, 5}); got != 5 {
		t.Error(got)
	}
}
