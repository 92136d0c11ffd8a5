package tui_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/save"
)

// saving is one call of Save.
type saving struct {
	ID, To  string
	Replace bool
}

// disk is the dashboard's files, in memory.
type disk struct {
	mu       sync.Mutex
	contents map[string][]byte // of the files that can be fetched, by the artifacts' ids
	fetched  []string
	slow     time.Duration   // the length of a fetch
	left     int             // fetches that were ended
	there    map[string]bool // places that are taken
	savings  []saving
	paths    []string // the completions
	desktop  bool
	named    []string // the error of Save and Open for every result, if not nil
	fail     error    // of every call
}

func (f *fake) files() *disk { return &f.disk }

func (d *disk) Fetch(ctx context.Context, a api.Artifact, w io.Writer) error {
	d.mu.Lock()
	d.fetched = append(d.fetched, a.ID)
	d.mu.Unlock()
	ended := false
	select {
	case <-time.After(d.slow):
	case <-ctx.Done():
		ended = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if ended {
		d.left++
		return ctx.Err()
	}
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
	if strings.HasSuffix(to, "/") && d.named == nil {
		to += t.ID + ".txt"
	}
	switch {
	case d.fail != nil:
		return nil, d.fail
	case d.there[to] && !replace:
		return nil, &save.ExistError{Names: []string{to}}
	}
	d.there[to] = true
	if d.named != nil {
		return d.named, nil
	}
	return []string{to}, nil
}

func (d *disk) Complete(prefix string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var paths []string
	for _, p := range d.paths {
		if strings.HasPrefix(p, prefix) {
			paths = append(paths, p)
		}
	}
	return paths
}

func (d *disk) Open(_ context.Context, t api.Task) ([]string, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.named != nil {
		return d.named, d.desktop, d.fail
	}
	return []string{"/cache/" + t.ID}, d.desktop, d.fail
}

// TestSavePath: the suggested folder goes when another path is started, and tab completes a path as far as it is
// certain.
func TestSavePath(t *testing.T) {
	paths := []string{"/tmp/", "/tmp/été.txt", "/tmp/étè/", "/tmp/pictures/", "~/pictures/", "./a.txt", "./b.txt"}
	for name, tt := range map[string]struct {
		keys  []string
		shows []string
		want  string
	}{
		"in this folder":      {keys: []string{"fox.png", "enter"}, want: "./fox.png"},
		"absolute":            {keys: []string{"/", "t", "m", "p", "/", "x", "enter"}, want: "/tmp/x"},
		"typed at once":       {keys: []string{"/tmp/x", "enter"}, want: "/tmp/x"},
		"at home":             {keys: []string{"~", "/", "x", "enter"}, want: "~/x"},
		"a slash later on":    {keys: []string{"a", "/", "b", "enter"}, want: "./a/b"},
		"after a correction":  {keys: []string{"backspace", "/", "b", "enter"}, want: "./b"},
		"completed":           {keys: []string{"/tmp/p", "tab", "fox.png", "enter"}, want: "/tmp/pictures/fox.png"},
		"completed at home":   {keys: []string{"~/", "tab", "enter"}, want: "~/pictures/"},
		"as far as certain":   {keys: []string{"/tmp/é", "tab"}, shows: []string{"/tmp/ét", "été.txt  étè/"}},
		"nothing to choose":   {keys: []string{"/tmp/z", "tab"}, shows: []string{"/tmp/z", "nothing begins so"}},
		"in this folder, tab": {keys: []string{"tab"}, shows: []string{"a.txt  b.txt"}},
	} {
		for _, size := range [][2]int{{80, 24}, {40, 12}} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					service := newFake(chat())
					service.hold(old(1)...)
					service.disk.paths = paths
					r := newTestDashboard(t, service)
					r.resize(size[0], size[1])
					r.press("tab", "enter", "s")
					r.press(tt.keys...)
					r.shows(tt.shows...)
					if tt.want == "" {
						return
					}
					if diff := cmp.Diff([]saving{{"task_0001", tt.want, false}}, service.disk.savings); diff != "" {
						t.Errorf("savings (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// TestCompletionComesLate: completions for a path that was edited meanwhile are ignored.
func TestCompletionComesLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.hold(old(1)...)
		service.disk.paths = []string{"/tmp/pictures/"}
		r := newTestDashboard(t, service)
		r.press("tab", "enter", "s", "/tmp/p")
		r.update(key("tab"))
		r.update(key("x"))
		r.settle()
		r.shows("/tmp/px")
	})
}
