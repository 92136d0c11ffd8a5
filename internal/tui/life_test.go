package tui_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// TestWholeLife goes the way of a person: pick, fill, submit, watch, detail, cancel, quit.
func TestWholeLife(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(imageEdit(), chat())
		r := newTestDashboard(t, service)
		r.shows("▸ image.edit", "needs  prompt, images")

		r.press("down", "enter")
		r.shows("› text.chat", "▸ prompt *", "3 more options")
		r.press("hello", " ", "world", "tab", "enter", "down", "down", "2", "0", "0")
		r.press("ctrl+s")
		want := []creation{{
			Request: api.CreateRequest{
				Capability: "text.chat", Input: json.RawMessage(`{"prompt":"hello world"}`),
				Parameters: json.RawMessage(`{"max_output_tokens":200}`),
			},
			Key: "key-0001", Wait: 2 * time.Second,
		}}
		if diff := cmp.Diff(want, service.creations); diff != "" {
			t.Fatalf("creations (-want +got):\n%s", diff)
		}
		r.shows("Tasks (1 open)", "○ queued", "hello world", "text.chat accepted")

		service.change("task_0001", func(t *api.Task) { t.State, t.Progress = task.Running, new(0.4) })
		r.pass(5 * time.Second)
		r.shows("● running", "██░░░ 40%", " 5s ")

		r.press("enter")
		r.shows("› text.chat", "asked        hello world", "queued       00:00:00", "task_0001", "req_2")
		r.press("c")
		r.shows("Cancel text.chat? y yes, n no")
		r.press("n", "c", "y")
		r.shows("- canceled  5s", "cancel asked for")
		if diff := cmp.Diff([]string{"text.chat canceled"}, r.said); diff != "" {
			t.Errorf("said of tasks that ended (-want +got):\n%s", diff)
		}
		r.press("c")
		r.shows("this task has ended")
		r.press("esc")
		r.shows("- canceled")
		r.press("q")
		if !r.quit {
			t.Error("q doesn't quit")
		}
	})
}

// TestTaskFailedInItsRequest: the answer to the creation is the failed task's error; the form says it
// and the table has the task.
func TestTaskFailedInItsRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.hold(openTask(7, "text.chat"))
		service.change("task_0007", func(t *api.Task) {
			end(t, task.Failed)
			t.Error = &api.Error{Code: fault.ContentPolicyViolation, Message: "the content was refused"}
		})
		service.failCreate = []error{&client.Error{
			Fault:     fault.New(fault.ContentPolicyViolation, "the content was refused").WithTask("task_0007"),
			RequestID: "req_5",
		}}
		r := newTestDashboard(t, service)
		r.press("enter", "hi", "ctrl+s")
		r.shows("✗ CONTENT_POLICY_VIOLATION: the content was refused (request req_5)", "› text.chat")
		r.press("esc", "tab")
		r.shows("✗ failed", "CONTENT_POLICY_VIOLATION")
		r.press("enter")
		r.shows("asked        hi", "CONTENT_POLICY_VIOLATION", "the content was refused")
	})
}

// TestOneKeyUntilAnAnswer: a creation goes out under the key of the last try exactly while that try
// may have made a task, and the request is the same.
func TestOneKeyUntilAnAnswer(t *testing.T) {
	refused := func(c fault.Code) error { return &client.Error{Fault: fault.New(c, "no")} }
	final := fault.New(fault.ProviderTimeout, "no")
	final.Final = true
	tests := []struct {
		name string
		err  error
		edit bool
		want []string
	}{
		{"no answer", errAway, false, []string{"key-0001", "key-0001", "key-0002"}},
		{"no answer, then edited", errAway, true, []string{"key-0001", "key-0002", "key-0003"}},
		{"retryable", refused(fault.CapacityExhausted), false, []string{"key-0001", "key-0001", "key-0002"}},
		{"retryable no more", final, false, []string{"key-0001", "key-0002", "key-0003"}},
		{"refused", refused(fault.ContentPolicyViolation), false, []string{"key-0001", "key-0002", "key-0003"}},
		{"accepted", nil, false, []string{"key-0001", "key-0002", "key-0003"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(chat())
				service.failCreate = []error{tt.err}
				r := newTestDashboard(t, service)
				r.press("enter", "hi")
				for i := range 3 {
					if i == 1 && tt.edit {
						r.press("!")
					}
					r.press("ctrl+s")
					r.press("esc", "enter") // from wherever that led, back to the form
				}
				var got []string
				for _, c := range service.creations {
					got = append(got, c.Key)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("keys (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestBack: esc leads from a form and from conversations to the screen that they were opened from, whose pictures come
// once more.
func TestBack(t *testing.T) {
	for name, keys := range map[string][]string{
		"a form": {"e", "esc"}, "conversations": {"t", "esc"}, "a form by the menu": {":", "text.chat", "enter", "esc"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, service := pictured(t, 2)
				service.disk.slow = 3 * time.Second
				r.press("tab", "enter")
				r.pass(time.Second)
				r.shows("› image.edit", "on its way")
				r.press(keys...)
				r.shows("› image.edit")
				r.pass(10 * time.Second)
				r.shows("██")
				r.press("esc")
				r.shows("▸ ✓ succeeded")
				r.press(keys...)
				r.shows("▸ ✓ succeeded")
			})
		})
	}
}

// TestKeysOfEmptyLists: a list without rows offers no keys for one.
func TestKeysOfEmptyLists(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake())
		r.resize(240, 24)
		r.hides("enter", "move")
		r.press("tab")
		r.shows("tab capabilities", "r read again", "t talk")
		r.hides("enter", "move", "filter", "sort", "e again", "cancel", "mark", "save", "copy")
		r.press("t")
		r.shows("n new")
		r.hides("enter", "move")
	})
}

// TestLongStatus: a long status takes as many lines as it needs.
func TestLongStatus(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _ := ended(t, saysText("hello"))
		r.resize(40, 10)
		r.press("e")
		r.shows("✗ its input isn't kept: only what this", "dashboard sent can be edited")
	})
}
