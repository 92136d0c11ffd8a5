package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/client"
	"unitask/internal/hint"
)

type configReloadOptions struct {
	operatorFlags
}

func newConfigReloadCmd(t *terminal) *cobra.Command {
	var o configReloadOptions
	cmd := &cobra.Command{
		Use: "reload", Short: "Have the running server read its settings again", Args: cobra.NoArgs,
		Example: `  unitask config reload --data-dir /var/lib/unitask`,
		Long: "Have the running server take up suppliers, routes, prices, the catalog and limits as they are now,\n" +
			"without a restart: work under way keeps the route that it has. Settings that aren't right change\n" +
			"nothing, and what is wrong is said. SIGHUP does the same.",
		RunE: func(cmd *cobra.Command, _ []string) error { return configReloadRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func configReloadRun(ctx context.Context, t *terminal, o *configReloadOptions) error {
	dir, err := o.folder()
	if err != nil {
		return err
	}
	admin, err := client.NewAdmin(dir)
	if err != nil {
		return err
	}
	done, err := admin.Reload(ctx)
	if _, away := errors.AsType[*client.UnreachableError](err); away {
		return hint.With(&reworded{err, "no server runs on " + dir}, "unitask serve reads the settings when it starts")
	}
	if err != nil {
		return err
	}
	if o.asJSON {
		return t.json(done)
	}
	if len(done.Changed) == 0 {
		t.note("nothing changed")
	} else {
		t.note("changed: %s", printable(strings.Join(done.Changed, ", ")))
	}
	if len(done.Restart) > 0 {
		t.note("these need a restart: %s", printable(strings.Join(done.Restart, ", ")))
	}
	return nil
}
