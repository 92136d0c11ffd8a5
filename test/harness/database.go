package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// CheckData compares every page and every record of a data folder that no server works on with each
// other, and the results with their files. PostgreSQL checks its own pages.
func CheckData(ctx context.Context, dir string) error {
	if OnPostgres() {
		return nil
	}
	files, err := artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(dir, "artifacts")})
	if err != nil {
		return err
	}
	db, err := boltstore.OpenOffline(filepath.Join(dir, "unitask.db"))
	if err != nil {
		return err
	}
	report, err := db.Check(ctx, boltstore.CheckConfig{
		Now: time.Now,
		File: func(a task.Artifact) error {
			m, err := files.Stat(ctx, a.ID)
			if err == nil && m.SHA256 != a.SHA256 {
				err = errors.New("it isn't the file of its task")
			}
			return err
		},
		Input: func(ref string) error { _, err := files.Stat(ctx, ref); return err },
	})
	for _, f := range report.Findings {
		err = errors.Join(err, fmt.Errorf("%s: %s", f.Subject, f.Problem))
	}
	return errors.Join(err, db.Close())
}
