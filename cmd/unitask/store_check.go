package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

type storeCheckOptions struct {
	operatorFlags
	sha256 bool
	asJSON bool
}

func newStoreCheckCmd(t *terminal) *cobra.Command {
	var o storeCheckOptions
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Compare everything in a data folder with everything that leads to it",
		Example: `  unitask store check --data-dir /var/lib/unitask`,
		Long: `Compare the pages of the database with its tree, and each record with what leads to it and back:
indexes, idempotency keys, what open tasks hold, attempts, result files. Nothing is changed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return storeCheckRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().BoolVar(&o.sha256, "sha256", false, "read every result file and compare its SHA-256")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func storeCheckRun(ctx context.Context, t *terminal, o *storeCheckOptions) error {
	dir, err := o.folder()
	if err != nil {
		return err
	}
	if err := mustHoldData(dir); err != nil {
		return err
	}
	report, err := checkFolder(ctx, dir, o.sha256)
	if err != nil {
		return whileServed(err, "stop the server first; or restore a backup of it into another folder and check that one")
	}
	if err := showReport(t, report, o.asJSON); err != nil {
		return err
	}
	t.note("tasks %d (open %d), files %d, keys %d; schema %d, %s", report.Tasks, report.Open, report.Files, report.Keys, report.Schema, api.Size(report.Bytes))
	if n := int64(len(report.Findings)) + report.More; n > 0 {
		return &hinted{
			error: fmt.Errorf("%d findings", n),
			hint:  "keep a copy of the folder; unitask store restore puts a backup in its place",
		}
	}
	return nil
}

func showReport(t *terminal, report boltstore.Report, asJSON bool) error {
	if asJSON {
		return t.json(report)
	}
	if len(report.Findings) == 0 {
		return nil
	}
	b := table{header: []string{"SUBJECT", "PROBLEM"}}
	for _, f := range report.Findings {
		b.row(same(f.Subject), same(f.Problem))
	}
	return b.write(t)
}

// checkFolder checks the database of a data folder and the files that it names; whole reads them.
func checkFolder(ctx context.Context, dir string, whole bool) (report boltstore.Report, err error) {
	db, err := boltstore.OpenOffline(filepath.Join(dir, backup.DatabaseName))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(dir, backup.ArtifactsName)})
	if err != nil {
		return report, err
	}
	return db.Check(ctx, boltstore.CheckConfig{
		Now: time.Now,
		File: func(a task.Artifact) error {
			m, err := files.Stat(ctx, a.ID)
			if err == nil {
				err = wantFile(a, m)
			}
			if err == nil && whole {
				err = compareBytes(ctx, files, m)
			}
			return err
		},
		Input: func(ref string) error {
			m, err := files.Stat(ctx, ref)
			if err == nil && whole {
				err = compareBytes(ctx, files, m)
			}
			return err
		},
	})
}

// compareBytes reads a kept file to its end.
func compareBytes(ctx context.Context, files *artifact.Folder, m artifact.Meta) (err error) {
	_, body, err := files.Open(ctx, m.ID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		return errors.New("its SHA-256 is another")
	}
	return nil
}
