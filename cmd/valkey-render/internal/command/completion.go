// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

func newCompletion(sys system.System) *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell: bash, fish, powershell or zsh",
		Long: `Print the completion script of a shell: bash, fish, powershell or zsh.

That of bash needs the package bash-completion, version 2, and bash 4 or newer:
without it completion fails with "_get_comp_words_by_ref: command not found".`,
		Example: `  # bash, in this session
  source <(valkey-render completion bash)

  # zsh, for good
  valkey-render completion zsh > "${fpath[1]}/_valkey-render"`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(shells, args[0]) {
				return nil
			}
			err := errors.New("name one shell")
			if len(args) > 0 {
				err = fmt.Errorf("shell %q is not known", strings.Join(args, " "))
			}
			return &usageError{cmd.CommandPath(), fmt.Errorf("%w: %s", err, strings.Join(shells, ", "))}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(sys.Out, true)
			case "fish":
				return root.GenFishCompletion(sys.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(sys.Out)
			default:
				return root.GenZshCompletion(sys.Out)
			}
		},
	}
}
