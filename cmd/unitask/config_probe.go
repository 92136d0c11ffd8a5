package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/hint"
	"unitask/internal/node"
)

func newConfigProbeCmd(t *terminal) *cobra.Command {
	var flags serverFlags
	var model string
	cmd := &cobra.Command{
		Use: "probe SUPPLIER", Short: "Ask a server of OpenAI's format what its chat can do", Args: cobra.ExactArgs(1),
		Example: "  unitask config probe ollama\n  unitask config probe vllm --model qwen3 --config unitask.yaml",
		Long: `Ask a server of OpenAI's format what its chat can do: a few short questions, for which it may charge.

SUPPLIER is the name of one of the settings, of the kind openai. The answer is the value of "features" among its
options: requests that need more than that go to another route. A model is asked, not the server alone: without --model
the first one of the supplier's routes of text.chat.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return configProbeRun(cmd.Context(), t, flags.sources(cmd), args[0], model)
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "ask this `model`")
	flags.add(cmd)
	return cmd
}

func configProbeRun(ctx context.Context, t *terminal, sources config.Sources, name, model string) error {
	c, _, err := loadSettings(sources)
	if err != nil {
		return err
	}
	one, err := probed(c, name)
	if err != nil {
		return err
	}
	for _, r := range c.Routes[catalog.TextChat] {
		if r.Supplier == name && model == "" {
			model = r.Model
		}
	}
	if model == "" {
		return &hint.UsageError{Message: name + " has no route of text.chat: name a model by --model"}
	}
	t.note("asking %s, model %s", printable(name), printable(model))
	found, err := node.ProbeFeatures(ctx, one, model)
	if err != nil {
		return fmt.Errorf("supplier %s: %w", name, err)
	}
	var able, unknown []string
	for _, a := range found {
		switch {
		case a.Able:
			able = append(able, a.Feature)
			t.note("%s: yes", a.Feature)
		case a.Known:
			t.note("%s: no, %s", a.Feature, printable(a.About))
		default:
			unknown = append(unknown, a.Feature)
			t.note("%s: can't be told, %s", a.Feature, printable(a.About))
		}
	}
	if len(able) == 0 {
		able = []string{"none"}
	}
	if _, err := fmt.Fprintf(t.out, "features: %s\n", strings.Join(able, " ")); err != nil {
		return err
	}
	if len(unknown) > 0 {
		return fmt.Errorf("not all could be asked: %s", strings.Join(unknown, ", "))
	}
	return nil
}

// probed returns the supplier of a name.
func probed(c config.Config, name string) (config.Supplier, error) {
	var names []string
	for _, s := range c.Suppliers {
		if s.Kind != node.ProbeKind() {
			continue
		}
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	message := fmt.Sprintf("the settings have no supplier %q of the kind %s", name, node.ProbeKind())
	if len(names) > 0 {
		message += "; they have " + strings.Join(names, ", ")
	}
	return config.Supplier{}, &hint.UsageError{Message: message}
}
