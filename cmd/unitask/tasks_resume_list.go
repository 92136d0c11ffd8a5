package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"unitask/internal/journal"
	"unitask/internal/submit"
)

// list shows the entries that can be resumed.
func (o *tasksResumeOptions) list(t *terminal, j *journal.Journal, ids []string) error {
	rows := []submit.State{}
	for _, id := range ids {
		row, err := submit.Look(j, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	switch {
	case o.asJSON:
		return t.json(rows)
	case len(rows) == 0:
		t.note("nothing to resume")
		return nil
	}
	b := table{header: []string{"ID", "CAPABILITY", "STATE", "CHANGED", "SERVICE", "OUTPUT"}, spare: []string{"OUTPUT", "SERVICE"}}
	for _, r := range rows {
		b.row(same(cmp.Or(r.TaskID, r.ID)), same(r.Capability), same(r.State), when(r.ChangedAt, time.Now()),
			same(cmp.Or(r.Profile, r.BaseURL)), same(r.Output))
	}
	return b.write(t)
}

// drop forgets entries, whatever has become of their tasks.
func (o *tasksResumeOptions) drop(t *terminal, j *journal.Journal, ids []string) error {
	for _, id := range ids {
		e, err := j.Peek(id)
		if err := j.Forget(id); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if err == nil && e.TaskID != "" {
			t.note("forgotten: %s; the task stays, and unitask tasks get %s shows it", id, e.TaskID)
		} else {
			t.note("forgotten: %s; if its task was made, unitask tasks list shows it", id)
		}
	}
	return nil
}

// resultShown forgets the entry of a task whose result has been shown or saved by another command than the entry's,
// if there is one. That of a live run stays.
func (t *terminal) resultShown(taskID string) {
	j := journal.Open(journal.StateDir())
	id, err := submit.Find(j, taskID)
	if err != nil {
		return
	}
	if err := j.Forget(id); err != nil && !errors.Is(err, journal.ErrBusy) {
		t.note("unitask tasks resume may show the result again: %s", plain(err))
	}
}
