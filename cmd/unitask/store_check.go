package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/hint"
	"unitask/internal/store/boltstore"
)

type storeCheckOptions struct {
	operatorFlags
	sha256 bool
	repair bool
}

func newStoreCheckCmd(t *terminal) *cobra.Command {
	var o storeCheckOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Compare everything in a data folder with everything that leads to it",
		Example: `  unitask store check --data-dir /var/lib/unitask
  unitask store check --repair --data-dir /var/lib/unitask`,
		Long: `Compare the pages of the database with its tree, and each record with what leads to it and back:
indexes, idempotency keys, what open tasks hold, attempts, result files. Uploads are looked at too.
Nothing is changed.

--repair lets a database go on without what can't be read, and says what that is: rows that are damaged or
were set aside, a log that is damaged or missing, and keys, links and sessions whose account is lost.
What follows from the tasks' records, such as the listing and the queue, is written anew. Copy the folder
first. A task that is given up is unknown from then on, so that its idempotency key makes a new one.
Damaged pages are beyond it: restore a backup.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return storeCheckRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().BoolVar(&o.sha256, "sha256", false, "read every result file and compare its SHA-256")
	cmd.Flags().BoolVar(&o.repair, "repair", false, "give up what can't be read, write anew what follows from the rest, and check then")
	o.add(cmd)
	return cmd
}

// checked is a check as a program reads it.
type checked struct {
	boltstore.Report
	Repaired  *boltstore.Repaired `json:"repaired,omitempty"`            // by --repair
	Elsewhere string              `json:"artifacts_elsewhere,omitempty"` // the object store of files that weren't looked at
}

func storeCheckRun(ctx context.Context, t *terminal, o *storeCheckOptions) error {
	dir, err := o.folder()
	if err != nil {
		return err
	}
	if err := mustHoldData(dir); err != nil {
		return err
	}
	const served = "stop the server first; or restore a backup of it into another folder and check that one"
	var report checked
	if o.repair {
		repaired, err := boltstore.Repair(ctx, filepath.Join(dir, backup.DatabaseName))
		if err != nil {
			return whileServed(err, served)
		}
		report.Repaired = &repaired
	}
	if report.Elsewhere, err = backup.Location(dir); err != nil {
		return err
	}
	if report.Report, err = checkFolder(ctx, dir, o.sha256); err != nil {
		return whileServed(err, served)
	}
	if err := showReport(t, report, o.asJSON); err != nil {
		return err
	}
	t.note("tasks %d (open %d), files %d, keys %d; schema %d, %s", report.Tasks, report.Open, report.Files, report.Keys, report.Schema, api.Size(report.Bytes))
	if report.Elsewhere != "" {
		t.note("result files and large inputs are in %s and were not looked at", report.Elsewhere)
	}
	if n := int64(len(report.Findings)) + report.More; n > 0 {
		return hint.With(
			fmt.Errorf("%d findings", n),
			"keep a copy of the folder; --repair mends rows that can be mended; unitask store restore puts a backup in its place")
	}
	return nil
}

func showReport(t *terminal, report checked, asJSON bool) error {
	if asJSON {
		return t.json(report)
	}
	if r := report.Repaired; r != nil {
		t.note("given up: %d, written anew: %d", len(r.Lost), len(r.Mended))
		err := errors.Join(showFindings(t, "GIVEN UP", r.Lost), showFindings(t, "WRITTEN ANEW", r.Mended))
		if err != nil {
			return err
		}
	}
	return showFindings(t, "PROBLEM", report.Findings)
}

func showFindings(t *terminal, title string, all []boltstore.Finding) error {
	if len(all) == 0 {
		return nil
	}
	b := table{header: []string{"SUBJECT", title}}
	for _, f := range all {
		b.row(same(f.Subject), same(f.Problem))
	}
	return b.write(t)
}

// checkFolder checks the database of a data folder and the files that it names, unless an object store has them; whole
// reads them.
func checkFolder(ctx context.Context, dir string, whole bool) (report boltstore.Report, err error) {
	db, err := boltstore.OpenOffline(filepath.Join(dir, backup.DatabaseName))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	place, err := backup.Location(dir)
	if err != nil {
		return report, err
	}
	if place != "" {
		return db.Check(ctx, boltstore.CheckConfig{Now: time.Now})
	}
	files, err := artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(dir, backup.ArtifactsName)})
	if err != nil {
		return report, err
	}
	c := &filesCheck{ctx: ctx, files: files, whole: whole, told: map[string]bool{}}
	report, err = db.Check(ctx, boltstore.CheckConfig{Now: time.Now, File: c.result, Input: c.input})
	if err == nil {
		err = c.rest(&report)
	}
	return report, err
}
