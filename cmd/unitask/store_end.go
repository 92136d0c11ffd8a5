package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"unitask/internal/hint"
	"unitask/internal/store"
)

type storeEndOptions struct {
	place  string
	asJSON bool
}

func newStoreEndCmd(t *terminal) *cobra.Command {
	var o storeEndOptions
	cmd := &cobra.Command{
		Use:   "end-unfinished PLACE",
		Short: "End the unfinished tasks of a restored database",
		Example: `  unitask store end-unfinished postgres://unitask@db.example/unitask
  unitask store end-unfinished env:UNITASK_DATABASE`,
		Long: `End all tasks that aren't finished with the error PROVIDER_TIMEOUT. It is for a database that its own
tools brought back to an earlier moment, before a server starts on it: nobody knows whether these tasks
were done, and paid for, since. Each goes on when its caller sends the same request with the same key
again. Without this command they go on by themselves, as after a crash.

The place is a PostgreSQL database as the setting store names it, or a data folder. unitask store restore
does the same by itself.`,
		Args: exactly(&o.place),
		RunE: func(cmd *cobra.Command, _ []string) error { return storeEndRun(cmd.Context(), t, &o) },
	}
	addJSON(cmd, &o.asJSON)
	return cmd
}

func storeEndRun(ctx context.Context, t *terminal, o *storeEndOptions) error {
	place, err := parsePlace(ctx, "PLACE", o.place)
	if err != nil {
		return err
	}
	if place.Folder != "" {
		if err := mustHoldData(place.Folder); err != nil {
			return err
		}
	}
	n, err := place.EndOpen(ctx, restoredFailure())
	if err != nil {
		return atRest(err)
	}
	t.note("unfinished and ended: %d; their callers may send the same requests again", n)
	if o.asJSON {
		return t.json(struct {
			Ended int `json:"ended"`
		}{n})
	}
	return nil
}

// atRest adds the next step to an error about a store on which a server works.
func atRest(err error) error {
	if _, inUse := errors.AsType[*store.InUseError](err); inUse {
		return hint.With(err, "stop all nodes; one that was killed counts until its session has run out, limits.lease after its last sign of life")
	}
	return whileServed(err, "stop the server first")
}
