package mcp_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/journal"
	"unitask/internal/mcp"
)

// look notes how the journal stands when a request about a task arrives.
func (f *fake) look(method string) {
	for _, state := range f.entriesNow() {
		f.seen = append(f.seen, method+" "+state)
	}
}

// entriesNow are the tasks that the journal's entries name.
func (f *fake) entriesNow() []string {
	var states []string
	ids, err := f.journal.List()
	for _, id := range ids {
		e, peekErr := f.journal.Peek(id)
		if peekErr != nil {
			err = peekErr
			break
		}
		states = append(states, "an entry for "+e.TaskID)
	}
	if err != nil {
		states = append(states, err.Error())
	}
	return states
}

// TestRecord checks the journal: an entry from before the first byte, the task's id as soon as it is known, and no
// entry after the answer.
func TestRecord(t *testing.T) {
	const before, known = "POST an entry for ", "GET an entry for task_1"
	tests := []struct {
		name string
		set  func(*fake)
		want []string
		left []string
	}{
		{"a task that ends", func(f *fake) { f.takes, f.output.Text = 5*time.Second, new("x") }, []string{before, known}, nil},
		{"a task that is handed over", func(f *fake) { f.takes = time.Hour }, []string{before, known}, nil},
		{"a refusal", func(f *fake) { f.refuse = fault.New(fault.ContentPolicyViolation, "no") }, []string{before}, nil},
		{"no answer", func(f *fake) { f.silent = true }, []string{before}, []string{"an entry for "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			tt.set(f)
			converse(t, f, mcp.Config{}, func(s *session) {
				s.call("image_generate", `{"input":{"prompt":"a fox"}}`)
				if diff := cmp.Diff(tt.left, f.entriesNow()); diff != "" {
					t.Errorf("left in the journal (-want +got):\n%s", diff)
				}
			})
			if diff := cmp.Diff(tt.want, slices.Compact(f.seen)); diff != "" {
				t.Errorf("the journal at each request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoRecord sends no request that can't be recorded.
func TestNoRecord(t *testing.T) {
	f := newFake(t)
	f.journal = journal.Open("/dev/null")
	converse(t, f, mcp.Config{}, func(s *session) {
		const want = "ERROR\nnothing was sent, because the journal of submissions can't be written: open /dev/null/journal: not a directory"
		if got := text(s.call("image_generate", `{"input":{"prompt":"a fox"}}`)); got != want || len(f.created) != 0 {
			t.Errorf("%q, %d submissions", got, len(f.created))
		}
	})
}
