package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/client"
	"unitask/internal/disk"
	"unitask/internal/hint"
	"unitask/internal/snippet"
	"unitask/internal/store/boltstore"
)

type storeBackupOptions struct {
	operatorFlags
	sealFlags
	file  string
	gzip  bool
	force bool
}

func newStoreBackupCmd(t *terminal) *cobra.Command {
	var o storeBackupOptions
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write everything of a data folder into one archive, while the server runs or not",
		Long: `Write everything of a data folder into one archive: a tar, packed by gzip where the name ends in
.gz or .tgz. "-" writes to stdout. The server may run meanwhile. The archive holds the tasks, the keys'
hashes and the service's own secrets: keep it as safe as the folder. Result files that are kept in an
object store are not part of it.

It is sealed with a key, which the first backup makes: backup.key in the data folder. A restore needs that
key to tell whether the archive was changed, so keep a copy of it, on another disk than the archives.`,
		Example: `  unitask store backup /backup/unitask-$(date +%F).tar.gz
  unitask store backup - | ssh elsewhere 'cat > unitask.tar'`,
		Args: exactly(&o.file),
		RunE: func(cmd *cobra.Command, _ []string) error { return storeBackupRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().BoolVar(&o.gzip, "gzip", false, "pack the archive, whatever its name")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a file of that name")
	o.sealFlags.add(cmd, "makes it where there is none")
	o.operatorFlags.add(cmd)
	return cmd
}

// written is a backup as a program reads it.
type written struct {
	File string `json:"file"`
	backup.Manifest
}

func storeBackupRun(ctx context.Context, t *terminal, o *storeBackupOptions) error {
	dir, err := o.folder()
	if err != nil {
		return err
	}
	key, fresh, err := o.ownKey(dir)
	if err != nil {
		return err
	}
	sealed := func() error { return nil }
	if fresh {
		sealed = func() error { return writeKey(o.path(dir), key) }
	}
	o.gzip = o.gzip || strings.HasSuffix(o.file, ".gz") || strings.HasSuffix(o.file, ".tgz")
	var m backup.Manifest
	if o.file == "-" {
		if t.outTTY || o.asJSON {
			return &hint.UsageError{Message: "an archive doesn't go to a terminal or along with JSON", Hint: "unitask store backup FILE"}
		}
		m, err = o.write(ctx, dir, key, sealed, t.out)
	} else {
		m, err = o.writeFile(ctx, dir, key, sealed)
	}
	if err != nil {
		return whileServed(err, "the server that holds the folder doesn't answer on its socket; stop it, or try again once it has started")
	}
	if fresh {
		t.note("made %s, the key that seals backups: a restore on another machine asks for it.", o.path(dir))
		t.note("Keep a copy of it now, on another disk and not beside the archives.")
	}
	t.note("backup of %s: tasks and keys %s, files %d of %s",
		m.CreatedAt.Format(time.RFC3339), api.Size(m.Database), m.Files, api.Size(m.FileBytes))
	if m.Elsewhere != "" {
		t.note("Result files and large inputs are not in it: they are in %s, whose own versions or copies keep them.", m.Elsewhere)
	}
	if len(m.Damaged) > 0 {
		t.note("warning: damaged files are left out: %s", strings.Join(m.Damaged, " "))
	}
	if o.asJSON {
		return t.json(written{File: o.file, Manifest: m})
	}
	return nil
}

// writeFile writes the archive under a temporary name and gives it its own once it is on the disk.
func (o *storeBackupOptions) writeFile(ctx context.Context, dir string, key backup.Key, sealed func() error) (m backup.Manifest, err error) {
	info, err := os.Stat(o.file)
	switch {
	case err == nil && info.IsDir():
		return m, &hint.UsageError{Message: o.file + " is a folder", Hint: "unitask store backup " + filepath.Join(o.file, "unitask.tar.gz")}
	case err == nil && !o.force:
		return m, &hint.UsageError{Message: o.file + " exists", Hint: "--force replaces it"}
	}
	f, err := os.CreateTemp(filepath.Dir(o.file), "."+filepath.Base(o.file)+"-") // made with mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(o.file)
		return m, &hint.UsageError{Message: "there is no folder " + parent, Hint: "mkdir -p " + snippet.Word(parent)}
	}
	if err != nil {
		return m, hint.With(fmt.Errorf("%s can't be written: %w", o.file, disk.Cause(err)), "name a file in a folder that you may write")
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already after a rename
	m, err = o.write(ctx, dir, key, sealed, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return m, err
	}
	if err := os.Rename(f.Name(), o.file); err != nil {
		return m, err
	}
	return m, disk.SyncDir(filepath.Dir(o.file))
}

// write writes the archive to w, sealed, and then calls sealed. It reads along: the received archive fits its
// manifest.
func (o *storeBackupOptions) write(
	ctx context.Context, dir string, key backup.Key, sealed func() error, w io.Writer,
) (backup.Manifest, error) {
	var pack *gzip.Writer
	if o.gzip {
		pack = gzip.NewWriter(w)
		w = pack
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	made := make(chan error, 1)
	go func() {
		err := makeBackup(ctx, dir, in)
		made <- err
		in.CloseWithError(err)
	}()
	m, err := backup.Seal(w, out, key)
	cancel()
	_ = out.CloseWithError(err)
	if cause := <-made; cause != nil && err != nil { // the cause says more than the end it brought about
		err = cause
	}
	if err == nil && pack != nil {
		err = pack.Close()
	}
	if err == nil {
		err = sealed()
	}
	return m, err
}

// makeBackup asks the server on the data folder, and reads the folder itself only if no server answers.
func makeBackup(ctx context.Context, dir string, w io.Writer) (err error) {
	admin, err := client.NewAdmin(dir)
	if err != nil {
		return err
	}
	err = admin.Backup(ctx, w)
	if _, away := errors.AsType[*client.UnreachableError](err); !away || ctx.Err() != nil {
		return err
	}
	if err := mustHoldData(dir); err != nil {
		return err
	}
	db, err := boltstore.OpenOffline(filepath.Join(dir, backup.DatabaseName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	source := backup.Source{Database: db, Program: readBuild().Version, Now: time.Now}
	if source.Elsewhere, err = backup.Location(dir); err != nil {
		return err
	}
	if source.Elsewhere == "" {
		source.Files, err = artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(dir, backup.ArtifactsName)})
		if err != nil {
			return err
		}
	}
	if _, err = backup.Write(ctx, w, source); err != nil {
		return fmt.Errorf("back up %s: %w", dir, err)
	}
	return nil
}
