package main

import (
	"errors"

	"github.com/spf13/cobra"

	"unitask/internal/artifact"
	"unitask/internal/hint"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

func newStoreCmd(t *terminal) *cobra.Command {
	cmd := group("store", "Back up, restore, check, compact and copy what a server keeps",
		newStoreBackupCmd(t), newStoreRestoreCmd(t), newStoreCheckCmd(t), newStoreCompactCmd(t), newStoreCopyCmd(t), newStoreEndCmd(t))
	cmd.Long = `Back up, restore, check and compact a data folder, and copy its store into PostgreSQL or back, as its operator.

A backup is taken while the server runs, or from the folder where none does. All others work on a
folder or a database that no server runs on.`
	return cmd
}

// whileServed adds the possible steps to an error about a data folder that is in use.
func whileServed(err error, next string) error {
	if _, locked := errors.AsType[*boltstore.LockedError](err); locked {
		return hint.With(err, next)
	}
	if errors.Is(err, store.ErrFull) {
		return hint.With(err, "make room on the disk of the data folder")
	}
	return err
}

// wantFile compares a stored file with its task's description.
func wantFile(a task.Artifact, m artifact.Meta) error {
	if m.Bytes != a.Bytes || m.SHA256 != a.SHA256 {
		return errors.New("it isn't the one that the task describes")
	}
	return nil
}
