// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// NewHelp replaces cobra's help command, which takes a wrong name for success.
func NewHelp(example string) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print the help of a command",
		Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return UnknownCommand(cmd.Root(), strings.Join(args, " "))
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

// NewCompletion is the command that prints completion scripts.
func NewCompletion(out io.Writer, program string) *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell: bash, fish, powershell or zsh",
		Long: `Print the completion script of a shell: bash, fish, powershell or zsh.

That of bash needs the package bash-completion, version 2, and bash 4 or newer:
without it completion fails with "_get_comp_words_by_ref: command not found".`,
		Example: fmt.Sprintf(`  # bash, in this session
  source <(%[1]s completion bash)

  # zsh, for good
  %[1]s completion zsh > "${fpath[1]}/_%[1]s"`, program),
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(shells, args[0]) {
				return nil
			}
			err := errors.New("name one shell")
			if len(args) > 0 {
				err = fmt.Errorf("shell %q is not known", strings.Join(args, " "))
			}
			return Usage(cmd, "%w: %s", err, strings.Join(shells, ", "))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			default:
				return root.GenZshCompletion(out)
			}
		},
	}
}
