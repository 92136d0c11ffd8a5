package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
)

func newUploadsCmd(t *terminal) *cobra.Command {
	return group("uploads", "List and delete files that were sent ahead", newUploadsListCmd(t), newUploadsDeleteCmd(t))
}

type uploadsListOptions struct {
	clientFlags
	limit  int
	asJSON bool
}

func newUploadsListCmd(t *terminal) *cobra.Command {
	var o uploadsListOptions
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: tabled,
		Aliases:     []string{"ls"},
		Short:       "List the account's uploads, the one that expires first at the top",
		Long: `List the uploads of the account in the key's mode, the one that expires first at the top: files that were sent ahead of
tasks, and those of which bytes are missing yet. Each takes its size of the account's quota until it expires or is deleted.`,
		Example: `  unitask uploads list
  unitask uploads list --json | jq -r '.[] | select(.bytes > 50000000) | .artifact'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return uploadsListRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().IntVar(&o.limit, "limit", 100, "at most this `many`")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func uploadsListRun(ctx context.Context, t *terminal, o *uploadsListOptions) error {
	if o.limit < 1 {
		return &hint.UsageError{Message: "--limit takes a number above zero"}
	}
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	all, err := collectUploads(ctx, c, o.limit)
	switch {
	case err != nil:
		return err
	case o.asJSON:
		return t.json(all)
	case len(all) == 0:
		t.note("no uploads")
	}
	if len(all) == 0 && t.format != formatCSV {
		return nil
	}
	return listUploads(t, all, time.Now())
}

// collectUploads follows the pages up to a limit.
func collectUploads(ctx context.Context, c *client.Client, limit int) ([]api.Upload, error) {
	all, cursor := []api.Upload{}, ""
	for {
		page, err := c.Uploads(ctx, cursor, min(limit-len(all), api.MaxListLimit))
		if err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.NextCursor == nil || len(all) >= limit || *page.NextCursor == cursor {
			return all[:min(len(all), limit)], nil
		}
		cursor = *page.NextCursor
	}
}

func listUploads(t *terminal, all []api.Upload, now time.Time) error {
	b := table{header: []string{"ID", "TYPE", "SIZE", "STATE", "EXPIRES"}, spare: []string{"TYPE", "STATE"}}
	for _, u := range all {
		state := same(string(u.State))
		if u.State == api.UploadOpen {
			state.human += fmt.Sprintf(" %d%%", 100*u.Received/max(u.Bytes, 1))
		}
		b.row(same(u.Artifact), same(u.ContentType), cell{human: api.Size(u.Bytes), plain: fmt.Sprint(u.Bytes)}, state, when(&u.ExpiresAt, now))
	}
	return b.write(t)
}

func newUploadsDeleteCmd(t *terminal) *cobra.Command {
	var o clientFlags
	cmd := &cobra.Command{
		Use:     "delete ID...",
		Aliases: []string{"rm"},
		Short:   "Delete uploads with their bytes",
		Long:    "Delete uploads with their bytes, which makes room in the account's quota. A task that has yet to read one fails.",
		Example: `  unitask uploads delete art_06gztwr81bcb6csfsxswat9e1m`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			c, err := o.connect(cmd.Context(), t, nil)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := c.DeleteUpload(cmd.Context(), id); err != nil {
					return fmt.Errorf("%s: %w", id, err)
				}
			}
			return nil
		},
	}
	o.add(cmd)
	return cmd
}
