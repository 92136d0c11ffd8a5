package tui_test

import (
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
)

// streaming is a dashboard with an open task, sent from it and shown, and the channel of its stream.
func streaming(t *testing.T) (*testDashboard, *fake, chan event) {
	t.Helper()
	r, service := sending(t)
	events := make(chan event, 10)
	service.streams = map[string]chan event{"task_0001": events}
	r.press("enter")
	r.pass(6 * time.Second)
	return r, service, events
}

// TestShownTaskStreams: the text of the task that is shown appears as it comes, and so do its states, without
// a read.
func TestShownTaskStreams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service, events := streaming(t)
		n := len(service.readsOf("task_0001"))
		running := service.tasks[0]
		running.State, running.UpdatedAt = task.Running, api.Timestamp{Time: time.Now()}
		for _, e := range []event{{task: running}, {text: "one "}, {text: "two"}} {
			events <- e
		}
		r.settle()
		r.shows("● running", "one two")
		r.pass(5 * time.Second)
		if more := len(service.readsOf("task_0001")) - n; more != 0 || service.followed != 1 {
			t.Errorf("%d reads beside the stream; %d streams", more, service.followed)
		}
		done := running
		end(&done, task.Succeeded)
		done.Output = &api.Output{Text: new("one two three")}
		events <- event{task: done}
		close(events)
		r.settle()
		r.shows("✓ succeeded", "one two three")
		r.pass(time.Minute)
		if more := len(service.readsOf("task_0001")) - n; more != 0 || service.followed != 1 || len(r.said) != 1 {
			t.Errorf("%d reads after the end, %d streams, said %q", more, service.followed, r.said)
		}
	})
}

// TestStreamBreaksOff: the shown task is read as any other after its stream has ended, and a text that comes from its
// beginning again isn't shown twice.
func TestStreamBreaksOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service, events := streaming(t)
		n := len(service.readsOf("task_0001"))
		events <- event{text: "one "}
		again := make(chan event, 10)
		again <- event{text: "one two"}
		service.mu.Lock()
		service.streams["task_0001"] = again
		service.mu.Unlock()
		close(events)
		r.pass(6 * time.Second)
		r.shows(" one two")
		r.hides("one one")
		if more := len(service.readsOf("task_0001")) - n; more != 0 {
			t.Errorf("%d reads between two streams", more)
		}
		service.mu.Lock()
		delete(service.streams, "task_0001")
		service.mu.Unlock()
		close(again)
		r.pass(time.Second)
		service.change("task_0001", func(t *api.Task) { t.State = task.Running })
		r.pass(6 * time.Second)
		r.shows("● running")
		if service.overlapped {
			t.Error("two reads of one task at once")
		}
	})
}

// TestStreamEndsWithTheScreen: a task that isn't shown any more has no stream, and is read on.
func TestStreamEndsWithTheScreen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service, events := streaming(t)
		events <- event{text: "one"}
		r.settle()
		r.press("esc")
		n := len(service.readsOf("task_0001"))
		r.pass(12 * time.Second)
		if more := len(service.readsOf("task_0001")) - n; more < 2 || service.followed != 1 {
			t.Errorf("%d reads, %d streams", more, service.followed)
		}
	})
}

// TestEndStaysAtTheEnd: who has gone to the end of a page sees what is added to it.
func TestEndStaysAtTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _, events := streaming(t)
		events <- event{text: strings.Repeat("a line\n", 100)}
		r.settle()
		r.press("end")
		events <- event{text: strings.Repeat("another\n", 100) + "the last one"}
		r.settle()
		r.shows("the last one")
		r.press("up")
		events <- event{text: "\n\n\n\nstill more"}
		r.settle()
		r.hides("still more")
	})
}
