package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"unitask/internal/artifact"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

func newStoreCmd(t *terminal) *cobra.Command {
	cmd := group("store", "Back up, restore, check and compact a data folder",
		newStoreBackupCmd(t), newStoreRestoreCmd(t), newStoreCheckCmd(t), newStoreCompactCmd(t))
	cmd.Long = `Back up, restore, check and compact a data folder, as its operator.

A backup is taken while the server runs, or from the folder where none does. All others work on a
folder that no server runs on.`
	return cmd
}

// whileServed adds to an error that says who holds the data folder what can be done meanwhile.
func whileServed(err error, hint string) error {
	if _, locked := errors.AsType[*boltstore.LockedError](err); locked {
		return &hinted{error: err, hint: hint}
	}
	if errors.Is(err, store.ErrFull) {
		return &hinted{error: err, hint: "make room on the disk of the data folder"}
	}
	return err
}

// bytesText shows a number of bytes to a person: "12.3 MB".
func bytesText(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d bytes", n)
	}
	value, names := float64(n)/unit, []string{"kB", "MB", "GB", "TB"}
	at := 0
	for ; value >= unit && at < len(names)-1; at++ {
		value /= unit
	}
	return fmt.Sprintf("%.1f %s", value, names[at])
}

// wantFile compares a kept file with what its task says of it.
func wantFile(a task.Artifact, m artifact.Meta) error {
	if m.Bytes != a.Bytes || m.SHA256 != a.SHA256 {
		return errors.New("it isn't the one that the task describes")
	}
	return nil
}
