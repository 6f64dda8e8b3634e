// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Choice is a flag that takes one of a few words.
type Choice struct {
	// Value is the word that was given, or the default.
	Value   string
	allowed []string
}

// NewChoice is a choice with its default, the first of the allowed words. An empty
// first word means that there is no default.
func NewChoice(allowed ...string) Choice {
	return Choice{Value: allowed[0], allowed: slices.DeleteFunc(slices.Clone(allowed), func(word string) bool { return word == "" })}
}

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value; help shows it after the flag's name.
func (c *Choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements pflag.Value.
func (c *Choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
	}
	c.Value = value
	return nil
}

// AddTo registers the flag with completion of its words.
func (c *Choice) AddTo(cmd *cobra.Command, name, shorthand, usage string) {
	cmd.Flags().VarP(c, name, shorthand, usage)
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.allowed, cobra.ShellCompDirectiveNoFileComp))
}
