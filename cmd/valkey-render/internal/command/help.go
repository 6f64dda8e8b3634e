// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"

	"github.com/spf13/cobra"
)

// newHelp replaces cobra's help command, which takes a wrong name for success.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print the help of a command",
		Example: "  valkey-render help build",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &usageError{cmd.Root().CommandPath(), unknownCommand(cmd.Root(), strings.Join(args, " "))}
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, child := range cmd.Root().Commands() {
				if len(args) == 0 && child.IsAvailableCommand() {
					names = append(names, child.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
