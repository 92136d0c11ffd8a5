package tui_test

import (
	"context"
	"io"
	"sync"

	"unitask/internal/api"
	"unitask/internal/tui"
)

// saving is one call of Save.
type saving struct {
	ID, To  string
	Replace bool
}

// disk is what the dashboard does on this machine, in memory.
type disk struct {
	mu       sync.Mutex
	contents map[string][]byte // of the files that can be fetched, by the artifacts' ids
	fetched  []string
	there    map[string]bool // places that are taken
	savings  []saving
	desktop  bool
	named    []string // what Save and Open say of every result, where that isn't nil
	fail     error    // of every call
}

func (f *fake) files() *disk { return &f.disk }

func (d *disk) Fetch(_ context.Context, a api.Artifact, w io.Writer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fetched = append(d.fetched, a.ID)
	if d.fail != nil {
		return d.fail
	}
	_, err := w.Write(d.contents[a.ID])
	return err
}

func (d *disk) Save(_ context.Context, t api.Task, to string, replace bool) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.savings = append(d.savings, saving{t.ID, to, replace})
	switch {
	case d.fail != nil:
		return nil, d.fail
	case d.there[to] && !replace:
		return nil, &tui.ExistError{Names: []string{to}}
	}
	d.there[to] = true
	if d.named != nil {
		return d.named, nil
	}
	return []string{to}, nil
}

func (d *disk) Open(_ context.Context, t api.Task) ([]string, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.named != nil {
		return d.named, d.desktop, d.fail
	}
	return []string{"/cache/" + t.ID}, d.desktop, d.fail
}
