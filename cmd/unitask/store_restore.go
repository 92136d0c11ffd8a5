package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/backup"
	"unitask/internal/fault"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

type storeRestoreOptions struct {
	operatorFlags
	file   string
	force  bool
	resume bool
	asJSON bool
}

func newStoreRestoreCmd(t *terminal) *cobra.Command {
	var o storeRestoreOptions
	cmd := &cobra.Command{
		Use:     "restore FILE",
		Short:   "Put a backup into an empty data folder",
		Example: `  unitask store restore /backup/unitask.tar.gz --data-dir /var/lib/unitask`,
		Long: `Verify a backup and put it into an empty data folder. "-" reads it from stdin.

Nobody knows what became of tasks that weren't finished when the backup was taken: they may have been
done, and paid for, since. Each of them is therefore ended with the error PROVIDER_TIMEOUT, and goes on
when its caller sends the same request with the same key again. --resume lets all of them go on by
themselves, as after a crash: for a backup after which the server did no more work.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return storeRestoreRun(cmd.Context(), t, &o)
		},
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "move what the folder holds aside, into a folder within it")
	cmd.Flags().BoolVar(&o.resume, "resume", false, "let unfinished tasks go on by themselves; may pay twice for what was done since the backup")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

// restored is a restore as a program reads it.
type restored struct {
	DataDir   string    `json:"data_dir"`
	CreatedAt time.Time `json:"created_at"` // of the backup
	Tasks     int64     `json:"tasks"`
	Ended     int       `json:"ended"`           // tasks that weren't finished
	Aside     string    `json:"aside,omitempty"` // where what the folder held is now
	Findings  int       `json:"findings"`
}

func storeRestoreRun(ctx context.Context, t *terminal, o *storeRestoreOptions) error {
	dir, err := o.chosen()
	if err != nil {
		return err
	}
	if backup.Occupied(dir) && !o.force {
		return &hinted{
			error: errors.New(dir + " holds data already"),
			hint:  "--data-dir names another folder; --force moves what is there aside",
		}
	}
	out, err := o.restore(ctx, t, dir)
	if err != nil {
		return whileServed(err, "stop the server first, or restore into another --data-dir")
	}
	t.note("tasks as of %[2]s in %[3]s: %[1]d", out.Tasks, out.CreatedAt.Format(time.RFC3339), out.DataDir)
	if out.Aside != "" {
		t.note("what was there before is in %s", out.Aside)
	}
	if out.Ended > 0 {
		t.note("unfinished and ended: %d; their callers may send the same requests again", out.Ended)
	}
	if out.Findings > 0 {
		t.note("warning: something is wrong with it, as it was when the backup was taken: unitask store check --data-dir %s", out.DataDir)
	}
	t.note("keys that were revoked since the backup open again: unitask keys list --data-dir %s", out.DataDir)
	if o.asJSON {
		return t.json(out)
	}
	return nil
}

// restore unpacks the archive within the data folder, makes it ready there, and moves it to its place.
func (o *storeRestoreOptions) restore(ctx context.Context, t *terminal, dir string) (out restored, err error) {
	free, err := lockAgainstServers(dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, free()) }()
	staging, err := backup.Stage(dir)
	if err != nil {
		return out, err
	}
	defer func() { _ = os.RemoveAll(staging) }() // gone already where all went well
	m, err := o.unpack(t, staging)
	if err != nil {
		return out, err
	}
	out = restored{DataDir: dir, CreatedAt: m.CreatedAt}
	if !o.resume {
		if out.Ended, err = endUnfinished(ctx, staging); err != nil {
			return out, err
		}
	}
	report, err := checkFolder(ctx, staging, false)
	if err != nil {
		return out, err
	}
	out.Tasks, out.Findings = report.Tasks, len(report.Findings)
	if o.force {
		if out.Aside, err = backup.Aside(dir, time.Now()); err != nil {
			return out, err
		}
	}
	return out, backup.Place(staging, dir)
}

// lockAgainstServers keeps servers from the database that is there, if one is and can be opened.
func lockAgainstServers(dir string) (free func() error, err error) {
	db, err := boltstore.OpenOffline(filepath.Join(dir, backup.DatabaseName))
	if _, locked := errors.AsType[*boltstore.LockedError](err); locked {
		return nil, err
	}
	if err != nil { // there is none, or none that anybody could work on
		return func() error { return nil }, nil //nolint:nilerr // see above
	}
	return db.Close, nil
}

func (o *storeRestoreOptions) unpack(t *terminal, staging string) (m backup.Manifest, err error) {
	in := t.in
	if o.file != "-" {
		f, err := os.Open(o.file)
		if err != nil {
			return m, &usageError{message: o.file + ": " + why(err).Error()}
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	m, err = backup.Unpack(in, staging)
	if errors.Is(err, backup.ErrArchive) {
		err = &hinted{error: err, hint: "nothing was changed; use another backup"}
	}
	return m, err
}

// endUnfinished ends the tasks of which nobody knows what became of them since the backup.
func endUnfinished(ctx context.Context, dir string) (n int, err error) {
	db, _, err := openData(dir, boltstore.Config{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.EndOpen(ctx, task.FailureOf(fault.New(fault.ProviderTimeout,
		"the service was restored from a backup and can't tell whether the work was done; the same request may be sent again")))
}
