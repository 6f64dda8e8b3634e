// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// figure is a row of the table: a metric of a benchmark.
type figure struct {
	benchmark, metric string
	says              string
	// aim is the most that it should be; less than 0 where nothing is aimed at.
	aim float64
}

// figures are the rows, in their order.
func figures() []figure {
	const none = -1
	return []figure{
		{"Form", "s", "apply to Ready, 3 shards with a replica each, s", 12},
		{"Roll", "s", "roll of all 6 pods, s", 60},
		{"Roll", "stall-ms", "  longest stall, ms", 150},
		{"Roll", "failed", "  failed writes", 0},
		{"Roll", "lost", "  lost writes", 0},
		{"ScaleOut", "s", "shards 3 to 4, s", 30},
		{"ScaleOut", "stall-ms", "  longest stall, ms", 300},
		{"ScaleOut", "failed", "  failed writes", 0},
		{"ScaleOut", "lost", "  lost writes", 0},
		{"ScaleIn", "s", "shards 4 to 3, s", 25},
		{"ScaleIn", "stall-ms", "  longest stall, ms", 300},
		{"ScaleIn", "failed", "  failed writes", 0},
		{"ScaleIn", "lost", "  lost writes", 0},
		{"Kill", "stall-ms", "primary of a shard killed: stall of its slots, ms", 3500},
		{"Kill", "others-ms", "  longest stall of the other shards, ms", none},
		{"Kill", "failed", "  failed writes", none},
		{"Kill", "lost", "  lost writes", none},
		{"FormReplication", "s", "Replication: apply to Ready, 3 pods, s", none},
		{"ReplicationDelete", "stall-ms", "primary's pod deleted by force: stall, ms", 3000},
		{"ReplicationDelete", "failed", "  failed writes", none},
		{"ReplicationDelete", "lost", "  lost writes", none},
		{"ReplicationKill", "stall-ms", "primary's process killed: stall, ms", 5000},
		{"ReplicationKill", "failed", "  failed writes", none},
		{"ReplicationKill", "lost", "  lost writes", none},
		{"ReplicationFreeze", "stall-ms", "primary's process stopped: stall, ms", 12000},
		{"ReplicationFreeze", "failed", "  failed writes", none},
		{"ReplicationFreeze", "lost", "  lost writes", none},
	}
}

// runs are the values of metrics in the order of the runs, by "benchmark metric".
type runs map[string][]float64

// read passes all lines on and keeps the values of those that are results.
func read(in io.Reader, out io.Writer) (runs, error) {
	result := regexp.MustCompile(`^Benchmark(\w+?)(?:-\d+)?\s+\d+\s+(.*\d\s.*)$`)
	found := runs{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		if _, err := fmt.Fprintln(out, line); err != nil {
			return nil, err
		}
		m := result.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		words := strings.Fields(m[2])
		for i := 0; i+1 < len(words); i += 2 {
			value, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return nil, fmt.Errorf("line %q: %w", line, err)
			}
			key := m[1] + " " + words[i+1]
			found[key] = append(found[key], value)
		}
	}
	return found, lines.Err()
}

// table writes the figures that there are.
func table(out io.Writer, found runs) error {
	most := 0
	for _, values := range found {
		most = max(most, len(values))
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\t")
	for i := range most {
		fmt.Fprintf(w, "run %d\t", i+1)
	}
	fmt.Fprint(w, "median\taim\t\n")
	for _, f := range figures() {
		values := found[f.benchmark+" "+f.metric]
		if len(values) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t", f.says)
		for i := range most {
			if i < len(values) {
				fmt.Fprint(w, short(values[i]))
			}
			fmt.Fprint(w, "\t")
		}
		aim := ""
		if f.aim >= 0 {
			aim = "≤ " + short(f.aim)
		}
		fmt.Fprintf(w, "%s\t%s\t\n", short(median(values)), aim)
	}
	return w.Flush()
}

// median is the middle one, or the mean of the two that are.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// short writes a number as exactly as it is read.
func short(value float64) string {
	if value < 100 && value != float64(int(value)) {
		return strconv.FormatFloat(value, 'f', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', 0, 64)
}
