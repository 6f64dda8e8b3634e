// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"strconv"
	"strings"
)

// cronField is one of the five fields of a schedule.
type cronField struct {
	name      string
	low, high int
	names     []string // of low, low+1, …
}

func cronFields() []cronField {
	return []cronField{
		{"minute", 0, 59, nil},
		{"hour", 0, 23, nil},
		{"day of the month", 1, 31, nil},
		{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
		{"day of the week", 0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	}
}

// cronProblem says why the CronJob controller would refuse a schedule, or never
// run it; empty when it would run it. The controller reads the five fields of
// crontab, with names of months and days, and @-names; CronJobs have a field for
// the time zone, so TZ= is refused.
func cronProblem(schedule string) string {
	text := strings.TrimSpace(schedule)
	if strings.HasPrefix(text, "@") {
		return cronNameProblem(text)
	}
	if strings.Contains(text, "TZ=") {
		return "a time zone cannot be given in the schedule: times are UTC"
	}
	parts := strings.Fields(text)
	fields := cronFields()
	if len(parts) != len(fields) {
		return fmt.Sprintf("must have 5 fields (minute, hour, day of the month, month, day of the week), has %d", len(parts))
	}
	for i, f := range fields {
		for _, item := range strings.Split(parts[i], ",") {
			if why := f.problem(item); why != "" {
				return fmt.Sprintf("%s %q: %s", f.name, item, why)
			}
		}
	}
	return ""
}

func cronNameProblem(text string) string {
	names := []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
	for _, name := range names {
		if text == name {
			return ""
		}
	}
	if strings.HasPrefix(text, "@every") {
		return "@every counts from the start of the controller: name the times, like 0 */6 * * *"
	}
	return didYouMean(text, names) + "one of " + strings.Join(names, ", ") + ", or five fields"
}

// problem says what is wrong with one item of a field: *, a number, a range,
// each with an optional step.
func (f cronField) problem(item string) string {
	span, step, stepped := strings.Cut(item, "/")
	if stepped {
		if n, err := strconv.ParseUint(step, 10, 16); err != nil || n == 0 {
			return "the step behind '/' must be a number from 1"
		}
	}
	if span == "*" || span == "?" {
		return ""
	}
	first, last, ranged := strings.Cut(span, "-")
	low, ok := f.number(first)
	if !ok {
		return f.want()
	}
	if !ranged {
		return ""
	}
	high, ok := f.number(last)
	if !ok {
		return f.want()
	}
	if low > high {
		return "the range goes backwards"
	}
	return ""
}

func (f cronField) number(text string) (int, bool) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.low + i, true
		}
	}
	n, err := strconv.ParseUint(text, 10, 8)
	return int(n), err == nil && int(n) >= f.low && int(n) <= f.high
}

func (f cronField) want() string {
	if f.names == nil {
		return fmt.Sprintf("must be *, or from %d to %d", f.low, f.high)
	}
	return fmt.Sprintf("must be *, from %d to %d, or from %s to %s", f.low, f.high, f.names[0], f.names[len(f.names)-1])
}
