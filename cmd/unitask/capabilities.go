package main

import (
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/api"
)

type capabilitiesOptions struct {
	clientFlags
	name   string
	asJSON bool
}

func newCapabilitiesCmd(t *terminal) *cobra.Command {
	var o capabilitiesOptions
	cmd := &cobra.Command{
		Use:         "capabilities [NAME]",
		Annotations: tabled,
		Aliases:     []string{"caps"},
		Short:       "Show what the key can call; with a name, its fields, price and examples",
		Args:        cobra.MaximumNArgs(1),
		Example: `  unitask capabilities
  unitask capabilities image.generate
  unitask caps --json | jq -r '.[].name'`,
		ValidArgsFunction: completeName(t, &o.clientFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.name = args[0]
			}
			return capabilitiesRun(cmd.Context(), t, &o)
		},
	}
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func capabilitiesRun(ctx context.Context, t *terminal, o *capabilitiesOptions) error {
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	if o.name != "" {
		one, err := entryOf(ctx, c, o.name)
		if err != nil {
			return err
		}
		if o.asJSON {
			return t.json(one)
		}
		return showCapability(t, one, true)
	}
	all, err := c.Capabilities(ctx)
	if err != nil {
		return err
	}
	if o.asJSON {
		return t.json(append([]api.Capability{}, all...))
	}
	if len(all) == 0 {
		t.note("%s", opensNothing)
	}
	if len(all) == 0 && t.format != formatCSV {
		return nil
	}
	b := table{header: []string{"NAME", "MODE", "PRICE", "WHAT"}}
	for _, one := range all {
		b.row(cell{human: string(one.Name), plain: string(one.Name), style: t.style.bold}, same(string(one.Mode)), same(one.Price.String()), same(one.Title))
	}
	return b.write(t)
}
