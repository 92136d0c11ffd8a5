//go:build unix

package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unitask/internal/backup"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/disk"
	"unitask/internal/node"
)

// TestPlantedLinks: a symbolic link in the data folder, planted under the name of a file that is made there,
// leads no write outside of the folder.
func TestPlantedLinks(t *testing.T) {
	names := []string{
		backup.DatabaseName, backup.DatabaseName + ".log0", backup.DatabaseName + ".log1", backup.DatabaseName + ".holder",
		backup.DatabaseName + ".compact", "admin.addr", "admin.sock", backup.KeyName,
	}
	for _, name := range names {
		for _, there := range []bool{true, false} {
			outside := t.TempDir()
			victim := filepath.Join(outside, "victim")
			if there {
				if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			dir := filepath.Join(t.TempDir(), "data")
			if name == backup.DatabaseName+".compact" || name == backup.KeyName { // the others meet a fresh folder
				mustServeOnce(t, dir)
			}
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.Symlink(victim, filepath.Join(dir, name))); err != nil {
				t.Fatal(err)
			}
			err := serveOnce(t, dir)
			_ = storeCompactRun(&terminal{out: &strings.Builder{}, err: &strings.Builder{}}, &storeCompactOptions{operatorFlags: operatorFlags{dataDir: dir}})
			_ = writeKey(filepath.Join(dir, backup.KeyName), backup.NewKey())
			raw, readErr := os.ReadFile(victim)
			if there && string(raw) != "mine" || !there && !errors.Is(readErr, os.ErrNotExist) {
				t.Errorf("%s leads outside: %d bytes were written there, %v", name, len(raw), err)
			}
		}
	}
}

func mustServeOnce(t *testing.T, dir string) {
	t.Helper()
	if err := serveOnce(t, dir); err != nil {
		t.Fatal(err)
	}
}

// serveOnce opens and closes a node on the data folder, which makes all files of a start.
func serveOnce(t *testing.T, dir string) error {
	t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		return err
	}
	settings, _, err := config.Load(config.Sources{Flags: map[string]string{"data_dir": dir}})
	if err != nil {
		return err
	}
	n, err := node.Open(t.Context(), node.Config{Settings: settings, Directory: directory, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	return n.Close(t.Context())
}

// TestOpenDataFolder: a data folder to which others may write is refused with the command that mends it.
func TestOpenDataFolder(t *testing.T) {
	for mode, refused := range map[os.FileMode]bool{0o700: false, 0o755: false, 0o770: true, 0o707: true} {
		dir := filepath.Join(t.TempDir(), "data")
		mustServeOnce(t, dir)
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		err := serveOnce(t, dir)
		if _, writable := errors.AsType[*disk.WritableError](err); writable != refused {
			t.Errorf("mode %o: got %v, want refused: %t", mode, err, refused)
		}
		if hint := hintOf("unitask serve", err); refused && hint != "chmod go-w "+dir {
			t.Errorf("mode %o: hint %q", mode, hint)
		}
		err = mustHoldData(dir)
		if _, writable := errors.AsType[*disk.WritableError](err); writable != refused {
			t.Errorf("mode %o, without a server: got %v, want refused: %t", mode, err, refused)
		}
	}
}
