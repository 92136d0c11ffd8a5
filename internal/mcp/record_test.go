package mcp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/mcp"
)

// diary is a record that logs its use, and the requests that the service had got by then.
type diary struct {
	f     *fake
	lines []string
}

func (d *diary) note(what string) {
	if d.f.heard() == 0 {
		what += " before the first byte"
	}
	d.lines = append(d.lines, what)
}

func (d *diary) begin(context.Context, api.CreateRequest, string) (mcp.Record, error) {
	d.note("begun")
	return d, nil
}

func (d *diary) Accepted(id string) error { d.note("accepted " + id); return nil }
func (d *diary) Erase() error             { d.note("erased"); return nil }
func (d *diary) Close() error             { d.note("left"); return nil }

// heard is how many submissions reached the service.
func (f *fake) heard() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.created)
}

// TestRecord checks the records on disk: one from before the first byte, the task's id as soon as it is known, and no
// record after the answer.
func TestRecord(t *testing.T) {
	tests := []struct {
		name string
		set  func(*fake)
		want []string
	}{
		{"a task that ends", func(f *fake) { f.output.Text = new("x") }, []string{"begun before the first byte", "accepted task_1", "erased"}},
		{"a task that is handed over", func(f *fake) { f.takes = time.Hour }, []string{"begun before the first byte", "accepted task_1", "erased"}},
		{"a refusal", func(f *fake) { f.refuse = fault.New(fault.ContentPolicyViolation, "no") }, []string{"begun before the first byte", "erased"}},
		{"no answer", func(f *fake) { f.silent = true }, []string{"begun before the first byte", "left before the first byte"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			tt.set(f)
			d := &diary{f: f}
			converse(t, f, mcp.Config{Begin: d.begin}, func(s *session) {
				s.call("image_generate", `{"input":{"prompt":"a fox"}}`)
			})
			var got []string
			for _, line := range d.lines { // the id is noted at each revision
				if len(got) == 0 || got[len(got)-1] != line {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoRecord sends no request that can't be recorded.
func TestNoRecord(t *testing.T) {
	f := newFake(t)
	begin := func(context.Context, api.CreateRequest, string) (mcp.Record, error) {
		return nil, errors.New("disk full")
	}
	converse(t, f, mcp.Config{Begin: begin}, func(s *session) {
		if got := text(s.call("image_generate", `{"input":{"prompt":"a fox"}}`)); got != "ERROR\ndisk full" || f.heard() != 0 {
			t.Errorf("%q, %d submissions", got, f.heard())
		}
	})
}
