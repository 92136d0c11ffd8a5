package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/backup"
	"unitask/internal/disk"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/node"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

type storeRestoreOptions struct {
	operatorFlags
	sealFlags
	file     string
	force    bool
	resume   bool
	skipSeal bool
}

func newStoreRestoreCmd(t *terminal) *cobra.Command {
	var o storeRestoreOptions
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup into an empty data folder",
		Example: `  unitask store restore /backup/unitask.tar.gz --data-dir /var/lib/unitask
  unitask store restore unitask.tar.gz --key-file backup.key --data-dir data   # on a new machine`,
		Long: `Verify a backup and put it into an empty data folder. "-" reads it from stdin.

Each backup carries a seal, which only the key of the folder that was backed up can make: on a new
machine bring that folder's backup.key and name it with --key-file. --skip-seal goes on without: then
whoever could write to the archive may have put into it API keys and members of their own, other limits
and prices owed, other results, and nothing would tell. Look through the keys and accounts afterwards.

Nobody knows what became of tasks that weren't finished when the backup was taken: they may have been
done, and paid for, since. Each of them is therefore ended with the error PROVIDER_TIMEOUT, and goes on
when its caller sends the same request with the same key again. --resume lets all of them go on by
themselves, as after a crash: for a backup after which the server did no more work.`,
		Args: exactly(&o.file),
		RunE: func(cmd *cobra.Command, _ []string) error { return storeRestoreRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "move what the folder holds aside, into a folder within it")
	cmd.Flags().BoolVar(&o.resume, "resume", false, "let unfinished tasks go on by themselves; may pay twice for what was done since the backup")
	cmd.Flags().BoolVar(&o.skipSeal, "skip-seal", false, "don't check the seal: the archive may hold API keys that somebody added")
	o.sealFlags.add(cmd, "checks the seal")
	o.operatorFlags.add(cmd)
	return cmd
}

// restored is a restore as a program reads it.
type restored struct {
	DataDir   string    `json:"data_dir"`
	CreatedAt time.Time `json:"created_at"` // of the backup
	Tasks     int64     `json:"tasks"`
	Ended     int       `json:"ended"`           // tasks that weren't finished
	Aside     string    `json:"aside,omitempty"` // the place of the folder's former files
	Findings  int       `json:"findings"`
	Sealed    bool      `json:"sealed"`                        // the seal was checked
	Elsewhere string    `json:"artifacts_elsewhere,omitempty"` // the object store that has the result files
}

func storeRestoreRun(ctx context.Context, t *terminal, o *storeRestoreOptions) error {
	dir, err := o.chosen()
	if err != nil {
		return err
	}
	if backup.Occupied(dir) && !o.force {
		return hint.With(
			errors.New(dir+" holds data already"),
			"--data-dir names another folder; --force moves what is there aside")
	}
	out, err := o.restore(ctx, t, dir)
	if err != nil {
		return whileServed(err, "stop the server first, or restore into another --data-dir")
	}
	t.note("tasks as of %[2]s in %[3]s: %[1]d", out.Tasks, out.CreatedAt.Format(time.RFC3339), out.DataDir)
	if out.Aside != "" {
		t.note("what was there before is in %s", out.Aside)
	}
	if out.Elsewhere != "" {
		t.note("result files and large inputs are not part of the backup: they are in %s, if they are still there", out.Elsewhere)
	}
	if out.Ended > 0 {
		t.note("unfinished and ended: %d; their callers may send the same requests again", out.Ended)
	}
	if out.Findings > 0 {
		t.note("warning: something is wrong with it, as it was when the backup was taken: unitask store check --data-dir %s", out.DataDir)
	}
	if !out.Sealed {
		t.note("warning: the seal was not checked. Whoever could write to the archive may have added API keys and members, raised "+
			"limits or changed results: look through unitask keys list and unitask accounts list --data-dir %s before a server starts", out.DataDir)
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
	archive, err := o.open(ctx, t)
	if err != nil {
		return out, err
	}
	defer func() { _ = archive.Close() }()
	terms, err := o.terms(dir)
	if err != nil {
		return out, err
	}
	staging, err := backup.Stage(dir)
	if err != nil {
		return out, err
	}
	defer func() { _ = os.RemoveAll(staging) }() // gone already after success
	m, err := unpack(ctx, archive, staging, terms)
	if err != nil {
		return out, err
	}
	out = restored{DataDir: dir, CreatedAt: m.CreatedAt, Sealed: !o.skipSeal, Elsewhere: m.Elsewhere}
	report, err := checkRestored(ctx, staging)
	if err != nil {
		return out, err
	}
	out.Tasks, out.Findings = report.Tasks, len(report.Findings)
	if !o.resume {
		if out.Ended, err = endUnfinished(ctx, staging); err != nil {
			return out, err
		}
	}
	if o.force {
		if out.Aside, err = backup.Aside(dir, time.Now()); err != nil {
			return out, err
		}
	}
	if err := backup.Place(staging, dir); err != nil {
		return out, err
	}
	return out, o.keepKey(dir, terms.Key)
}

// terms reads the key, unless its holder goes on without.
func (o *storeRestoreOptions) terms(dir string) (backup.Terms, error) {
	terms := backup.Terms{Unsealed: o.skipSeal}
	if o.skipSeal {
		return terms, nil
	}
	var err error
	if terms.Key, err = o.key(dir); errors.Is(err, fs.ErrNotExist) {
		return terms, hint.With(
			fmt.Errorf("%w: no file %s", backup.ErrNoKey, o.path(dir)),
			"--key-file names the backup.key of the data folder that was backed up; --skip-seal goes on without, and --help says what that means")
	}
	return terms, err
}

// keepKey leaves the key for the backups to come, unless there is one or it is kept elsewhere.
func (o *storeRestoreOptions) keepKey(dir string, key backup.Key) error {
	if key.IsZero() {
		return nil
	}
	if err := writeKey(filepath.Join(dir, backup.KeyName), key); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// lockAgainstServers keeps servers from the database that is there, if one is and can be opened.
func lockAgainstServers(dir string) (free func() error, err error) {
	db, err := boltstore.OpenOffline(filepath.Join(dir, backup.DatabaseName))
	if _, locked := errors.AsType[*boltstore.LockedError](err); locked {
		return nil, err
	}
	if err != nil { // there is no database, or only an unusable one
		return func() error { return nil }, nil //nolint:nilerr // see above
	}
	return db.Close, nil
}

// open opens the archive; standard input is one that can't be read twice.
func (o *storeRestoreOptions) open(ctx context.Context, t *terminal) (io.ReadCloser, error) {
	if o.file == "-" {
		return io.NopCloser(t.stdin(ctx)), nil
	}
	f, err := os.Open(o.file)
	if err != nil {
		return nil, &hint.UsageError{Message: o.file + ": " + disk.Cause(err).Error()}
	}
	return f, nil
}

// unpack writes the archive's files to the staging folder. A file is verified whole before that.
func unpack(ctx context.Context, archive io.Reader, staging string, terms backup.Terms) (m backup.Manifest, err error) {
	if terms.Room, err = room(staging); err != nil {
		return m, err
	}
	if f, ok := archive.(*os.File); ok {
		if _, err = backup.Verify(f, terms); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			return m, notTaken(err)
		}
	}
	m, err = backup.Unpack(ctx, archive, staging, terms)
	return m, notTaken(err)
}

// room is the bytes that an archive's files may take: the disk is left with something for the start after it.
func room(dir string) (int64, error) {
	free, err := freeBytes(dir)
	return max(1, free-min(noRoom, free/20)), err
}

// notTaken adds the remedy for a refused archive.
func notTaken(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, backup.ErrNoSeal):
		return hint.With(err, "an earlier version made it, or somebody took the seal off; --skip-seal takes it, and --help says what that means")
	case errors.Is(err, backup.ErrSeal):
		return hint.With(err, "nothing was changed; use another backup, or --key-file with the key of the folder that was backed up")
	case errors.Is(err, backup.ErrNoRoom):
		return hint.With(err, "nothing was changed; make room, or name a --data-dir on a larger disk")
	case errors.Is(err, backup.ErrArchive):
		return hint.With(err, "nothing was changed; use another backup")
	}
	return err
}

// checkRestored checks an unpacked folder before anything works on it. Damaged pages are an error; other
// findings stand in the report.
func checkRestored(ctx context.Context, dir string) (boltstore.Report, error) {
	report, err := checkFolder(ctx, dir, false)
	if ctx.Err() != nil {
		return report, ctx.Err()
	}
	for _, f := range report.Findings {
		if f.Subject == "file" {
			err = errors.Join(err, errors.New(f.Problem))
			break
		}
	}
	if err != nil {
		err = hint.With(
			fmt.Errorf("%w: its database is damaged: %w", backup.ErrArchive, err), "nothing was changed; use another backup")
	}
	return report, err
}

// endUnfinished ends the tasks whose progress since the backup is unknown.
func endUnfinished(ctx context.Context, dir string) (int, error) {
	return node.FolderPlace(dir).EndOpen(ctx, restoredFailure())
}

// restoredFailure is how a task ends of which nobody knows what became of it after a backup.
func restoredFailure() task.Failure {
	return task.FailureOf(fault.New(fault.ProviderTimeout,
		"the service was restored from a backup and can't tell whether the work was done; the same request may be sent again"))
}
