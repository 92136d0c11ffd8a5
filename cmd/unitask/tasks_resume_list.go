package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"unitask/internal/api"
	"unitask/internal/journal"
)

// leftover is an entry of the journal as tasks resume --list shows it.
type leftover struct {
	ID         string         `json:"id"` // of the entry
	TaskID     string         `json:"task_id,omitempty"`
	Capability string         `json:"capability,omitempty"`
	State      string         `json:"state"` // unfinished, failed, running (here, in another process) or damaged
	BaseURL    string         `json:"base_url,omitempty"`
	Profile    string         `json:"profile,omitempty"`
	Mode       string         `json:"mode,omitempty"`
	Output     string         `json:"output,omitempty"`
	ChangedAt  *api.Timestamp `json:"changed_at,omitempty"`
}

// list shows the entries that can be resumed.
func (o *tasksResumeOptions) list(t *terminal, j *journal.Journal, ids []string) error {
	rows := []leftover{}
	for _, id := range ids {
		row, err := look(j, id)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, journal.ErrUnsent) {
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

// look reads an entry. One that was never finished goes, as it does whenever one is taken.
func look(j *journal.Journal, id string) (leftover, error) {
	row := leftover{ID: id, State: "unfinished"}
	e, err := j.Take(id)
	if err == nil {
		defer func() { _ = e.Close() }()
	}
	if errors.Is(err, journal.ErrBusy) {
		row.State = "running"
		e, err = j.Peek(id)
	}
	if _, damaged := errors.AsType[*journal.DamagedError](err); damaged {
		row.State = "damaged"
		return row, nil
	}
	if err != nil {
		return row, err
	}
	if e.Failed {
		row.State = "failed"
	}
	var request api.CreateRequest
	if body, err := e.Load(); err == nil {
		_ = json.Unmarshal(body, &request) // else the capability isn't shown
	}
	row.TaskID, row.Capability, row.BaseURL, row.Profile = e.TaskID, request.Capability, e.BaseURL, e.Profile
	row.Mode, row.Output, row.ChangedAt = e.Mode, e.Output, &api.Timestamp{Time: time.Now().Add(-e.Age)}
	return row, nil
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
	all, err := j.List()
	if err == nil {
		var id string
		if id, err = findEntry(j, all, taskID); err != nil {
			return
		}
		err = j.Forget(id)
	}
	if err != nil && !errors.Is(err, journal.ErrBusy) {
		t.note("unitask tasks resume may show the result again: %s", plain(err))
	}
}
