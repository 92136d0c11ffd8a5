package main

import (
	"context"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/config"
	"unitask/internal/hint"
	"unitask/internal/node"
	"unitask/internal/shown"
	"unitask/internal/store"
)

type storeCopyOptions struct {
	from, to string
	asJSON   bool
}

func newStoreCopyCmd(t *terminal) *cobra.Command {
	var o storeCopyOptions
	cmd := &cobra.Command{
		Use:   "copy --from PLACE --to PLACE",
		Short: "Move a whole store between a data folder and PostgreSQL",
		Example: `  unitask store copy --from /var/lib/unitask --to postgres://unitask@db.example/unitask
  unitask store copy --from env:UNITASK_DATABASE --to /var/lib/unitask`,
		Long: `Copy everything that a store keeps to another place: tasks with their idempotency keys, accounts, keys,
sessions, secrets, usage and what limits hold. A place is a data folder, or a PostgreSQL database as the
setting store names it: postgres://user@host/database without its password, or env:NAME, file:/path or
keyring:name of an address with one.

No server may run on either of them. The target has to be without a store; it can't be served until all
was read back and compared with the source, which stays as it is. The same command goes on with a copy
that was cut off. Result files and large inputs aren't in a store: see docs/scaling.md.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return storeCopyRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.from, "from", "", "the `place` of the store")
	cmd.Flags().StringVar(&o.to, "to", "", "the `place` of the copy")
	addJSON(cmd, &o.asJSON)
	return cmd
}

// copied is a copy as a program reads it.
type copied struct {
	From    string      `json:"from"`
	To      string      `json:"to"`
	Seconds float64     `json:"seconds"`
	Records store.Tally `json:"records"`
}

func storeCopyRun(ctx context.Context, t *terminal, o *storeCopyOptions) error {
	if o.from == "" || o.to == "" {
		return &hint.UsageError{Message: "--from and --to name the places"}
	}
	from, err := parsePlace(ctx, "--from", o.from)
	if err != nil {
		return err
	}
	to, err := parsePlace(ctx, "--to", o.to)
	if err != nil {
		return err
	}
	if from.Folder != "" {
		if err := mustHoldData(from.Folder); err != nil {
			return err
		}
	}
	if from == to {
		return &hint.UsageError{Message: "--from and --to are the same place"}
	}
	start := time.Now()
	tally, err := copyStore(ctx, t, from, to)
	end := "copied and compared in " + shown.Duration(time.Since(start))
	if done, ok := errors.AsType[*store.FinishedError](err); ok {
		tally, err, end = done.Tally, nil, "copied and compared before"
	}
	if err != nil {
		return o.next(err)
	}
	out := copied{From: from.String(), To: to.String(), Seconds: time.Since(start).Seconds(), Records: tally}
	if o.asJSON {
		return t.json(out)
	}
	b := table{header: []string{"RECORDS", "COUNT", "DIGEST"}}
	for _, s := range tally {
		b.row(same(s.Kind), same(strconv.FormatInt(s.Count, 10)), same(hex.EncodeToString(s.Digest[:])))
	}
	if err := b.write(t); err != nil {
		return err
	}
	t.note("%s; %s can be served", end, to)
	return nil
}

// parsePlace reads a place, which what names for people.
func parsePlace(ctx context.Context, what, text string) (node.Place, error) {
	place, err := node.ParsePlace(ctx, text)
	switch {
	case errors.Is(err, config.ErrAddress):
		return place, &hint.UsageError{Message: what + ": " + err.Error(), Hint: "a data folder's path, postgres://user@host/database, or env:NAME of a variable that holds the address"}
	case errors.Is(err, config.ErrPassword):
		return place, &hint.UsageError{Message: what + ": " + err.Error(), Hint: "leave it to PGPASSWORD or PGPASSFILE, or write env:NAME of a variable that holds the whole address"}
	}
	return place, err
}

func copyStore(ctx context.Context, t *terminal, from, to node.Place) (tally store.Tally, err error) {
	source, err := from.Source(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	identity, err := source.Identity(ctx)
	if err != nil {
		return nil, err
	}
	target, err := to.Target(ctx, store.CopyOf{From: from.String(), Identity: identity})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	last, begun, err := target.Last(ctx)
	switch {
	case err != nil:
		return nil, err
	case last != "":
		t.note("goes on with the copy that was cut off, after %s", last)
	case begun:
		t.note("goes on with the copy that was cut off")
	}
	show := startProgress(t, "")
	defer show.stop()
	show.resumed = last != ""
	return store.Copy(ctx, source, target, show.work)
}

// next adds the next step to an error.
func (o *storeCopyOptions) next(err error) error {
	_, unfinished := errors.AsType[*store.UnfinishedError](err)
	switch {
	case unfinished:
		return hint.With(err, "finish that copy first: a half one is no source")
	case errors.Is(err, store.ErrOccupied):
		return hint.With(err, "name a data folder without unitask.db, or a database without the schema unitask (schema=NAME in the address names another)")
	case errors.Is(err, store.ErrChanged), errors.Is(err, store.ErrDiffers):
		return hint.With(err, "the target stays closed: remove it, and copy anew while nothing works on the source")
	case errors.Is(err, store.ErrNoAccount):
		return hint.With(err, "unitask store check --repair removes what belongs to no account, and says what that is")
	case errors.Is(err, store.ErrFull):
		return hint.With(err, "make room; the same command goes on where this one stopped")
	case errors.Is(err, context.Canceled):
		return hint.With(err, "the same command goes on where this one stopped")
	}
	return atRest(err)
}
