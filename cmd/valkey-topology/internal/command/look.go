// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// looker are the flags of the commands that only look.
type looker struct {
	sys    System
	output cli.Choice
	specs  specs
	target target
}

// newLooker makes a command that looks once and prints what work returns: text for people,
// the value as JSON or YAML.
func newLooker(sys System, cmd *cobra.Command, work func(ctx context.Context, a aim) (text string, value any)) *cobra.Command {
	l := &looker{sys: sys, output: cli.NewChoice("text", "json", "yaml")}
	cmd.Args = cli.NoOperands
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		aim, err := l.target.resolve(sys.Files, &l.specs, sys.Getenv(podNamespace))
		if err != nil {
			return &cli.UsageError{Command: cmd.CommandPath(), Err: err}
		}
		text, value := work(cmd.Context(), aim)
		return write(sys.Out, l.output.Value, text, value)
	}
	l.output.AddTo(cmd, "output", "o", "how to print it")
	l.specs.addTo(cmd)
	l.target.addTo(cmd)
	return cmd
}

func write(w io.Writer, output, text string, value any) error {
	var (
		data []byte
		err  error
	)
	switch output {
	case "json":
		data, err = json.MarshalIndent(value, "", "  ")
	case "yaml":
		data, err = yaml.Marshal(value)
	default:
		data = []byte(text)
	}
	if err == nil {
		_, err = fmt.Fprintln(w, string(data))
	}
	if err != nil {
		return &endError{outcome.Failed}
	}
	return nil
}

const lookExample = `  valkey-topology %s -f cluster.yaml
  valkey-topology %[1]s --shards 1 --pod c-0-0=10.0.0.1 --password-file op --output json`

func newSurvey(sys System) *cobra.Command {
	return newLooker(sys, &cobra.Command{
		Use:   "survey",
		Short: "Show what every pod says of itself and the others",
		Long: `Ask every pod once and print what it is: its ID, role, slots or history, keys and
replication link, or why it told nothing; what each sentinel watches; and, as JSON or
YAML, all that it believes of the others. Nothing is changed.`,
		Example: fmt.Sprintf(lookExample, "survey"),
	}, func(ctx context.Context, a aim) (string, any) {
		asker := a.asker(sys.Clock.Now)
		defer asker.Pool.Close()
		view := asker.Take(ctx, a.pods)
		if view.Topology != "" && view.Topology != v1alpha1.TopologyCluster {
			return replicationText(view), view
		}
		return surveyText(view), view
	})
}

func newPlan(sys System) *cobra.Command {
	return newLooker(sys, &cobra.Command{
		Use:   "plan",
		Short: "Show what would be done next, and why",
		Long: `Ask every pod once and print what a Job would do next, what it would wait for,
or what blocks it. Nothing is changed.`,
		Example: fmt.Sprintf(lookExample, "plan"),
	}, func(ctx context.Context, a aim) (string, any) {
		asker := a.asker(sys.Clock.Now)
		defer asker.Pool.Close()
		p := converge.Decide(a.desired, asker.Take(ctx, a.pods))
		return p.String(), p
	})
}

// surveyText is one line for each pod.
func surveyText(v survey.View) string {
	owners := v.Owners()
	text := ""
	for i := range v.Answers {
		a := &v.Answers[i]
		if i > 0 {
			text += "\n"
		}
		if !a.Answered() {
			text += fmt.Sprintf("%s  %s: %s", a.Pod.Name, a.Problem.Code, a.Problem.Message)
			continue
		}
		text += fmt.Sprintf("%s  %s  %s  ", a.Pod.Name, a.ID, a.Version)
		if own := a.Own(); own.Replica {
			link := "down"
			if a.LinkUp {
				link = "up"
			}
			text += fmt.Sprintf("replica of %s, link %s", podOf(v, own.Primary), link)
		} else {
			text += fmt.Sprintf("primary, slots %s", owners.Slots[a.ID])
		}
		text += fmt.Sprintf(", %d keys", a.Keys)
	}
	if n := owners.Unassigned.Count(); n > 0 {
		text += fmt.Sprintf("\nslots without owner: %s", owners.Unassigned)
	}
	return text
}

// podOf is the pod with a node ID, or the ID.
func podOf(v survey.View, id string) string {
	if a := v.ByID(id); a != nil {
		return a.Pod.Name
	}
	if id == "" {
		return "nobody"
	}
	return id
}
