package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/backup"
	"unitask/internal/store/boltstore"
)

type storeCompactOptions struct {
	operatorFlags
}

func newStoreCompactCmd(t *terminal) *cobra.Command {
	var o storeCompactOptions
	cmd := &cobra.Command{
		Use:     "compact",
		Short:   "Write the database anew, without the room that removed tasks left",
		Example: `  unitask store compact --data-dir /var/lib/unitask`,
		Long: `Write the database anew, without the room that removed tasks left. It needs as much room again as
the rows take. The new file takes the old one's place whole, or not at all.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return storeCompactRun(t, &o) },
	}
	o.add(cmd)
	return cmd
}

func storeCompactRun(t *terminal, o *storeCompactOptions) error {
	dir, err := o.folder()
	if err != nil {
		return err
	}
	if err := mustHoldData(dir); err != nil {
		return err
	}
	before, after, err := boltstore.Compact(filepath.Join(dir, backup.DatabaseName))
	if err != nil {
		return whileServed(err, "stop the server first; it may run on without this: the file reuses its free room")
	}
	t.note("from %s to %s", api.Size(before), api.Size(after))
	if o.asJSON {
		return t.json(struct {
			Before int64 `json:"before_bytes"`
			After  int64 `json:"after_bytes"`
		}{before, after})
	}
	return nil
}
