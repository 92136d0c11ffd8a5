package tui_test

import (
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// sending starts a dashboard with one task sent from it.
func sending(t *testing.T) (*testDashboard, *fake) {
	t.Helper()
	service := newFake(chat())
	r := newTestDashboard(t, service)
	r.press("enter", "hi", "ctrl+s")
	return r, service
}

// wantSpaced fails the test if two reads of a task started less than two seconds apart, or more than most; it returns
// how many there were.
func wantSpaced(t *testing.T, service *fake, since time.Time, most time.Duration) int {
	t.Helper()
	all := service.readsOf("task_0001")
	before := since
	for i, r := range all {
		gap := r.At.Sub(before)
		if gap < api.MinPoll || gap > most {
			t.Errorf("read %d started %s after the one before, want %s to %s", i, gap, api.MinPoll, most)
		}
		if i+1 < len(all) && r.Wait >= all[i+1].At.Sub(r.At) || r.Wait >= api.MaxPoll {
			t.Errorf("read %d waits %s, want less than the interval", i, r.Wait)
		}
		before = r.At
	}
	if service.overlapped {
		t.Error("two reads of one task at once")
	}
	return len(all)
}

// TestPolling: an open task is read every two to five seconds with its ETag and a wait shorter than
// that, and not once after its end.
func TestPolling(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began := time.Now()
		r, service := sending(t)
		r.pass(time.Minute)
		n := wantSpaced(t, service, began, api.MaxPoll)
		if n < 12 || n > 30 {
			t.Errorf("%d reads in a minute", n)
		}
		if last := service.readsOf("task_0001")[n-1]; last.ETag == "" || last.Wait < time.Second {
			t.Errorf("a later read is unconditional: %+v", last)
		}
		service.change("task_0001", func(t *api.Task) { end(t, task.Succeeded) })
		r.pass(3 * time.Second)
		r.shows("✓ succeeded")
		n = len(service.readsOf("task_0001"))
		r.pass(10 * time.Minute)
		if more := len(service.readsOf("task_0001")) - n; more != 0 {
			t.Errorf("%d reads after the end", more)
		}
		if len(r.said) != 1 {
			t.Errorf("said of one task that ended: %q", r.said)
		}
	})
}

// TestPollingUnderImpatience: opening the task again and again and reading the list anew don't make reads more
// frequent.
func TestPollingUnderImpatience(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began := time.Now()
		r, service := sending(t)
		for range 300 {
			r.press("enter", "esc", "r")
			r.pass(100 * time.Millisecond)
		}
		if n := wantSpaced(t, service, began, api.MaxPoll); n < 6 {
			t.Errorf("%d reads in 30 s", n)
		}
		if service.lists > 16 {
			t.Errorf("%d lists in 30 s", service.lists)
		}
	})
}

// TestSlowService: a slow read isn't sent twice at once.
func TestSlowService(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := sending(t)
		service.mu.Lock()
		service.slow = 10 * time.Second
		service.mu.Unlock()
		for range 60 {
			r.press("r")
			r.pass(time.Second)
		}
		if service.overlapped || service.lists > 8 {
			t.Errorf("%d lists, two at once: %t", service.lists, service.overlapped)
		}
	})
}

// TestNoReadOfACanceledTask: the answer to the cancellation ends the polling before its timer.
func TestNoReadOfACanceledTask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := sending(t)
		r.press("c", "y")
		r.shows("- canceled")
		r.pass(time.Minute)
		if n := len(service.readsOf("task_0001")); n != 0 {
			t.Errorf("%d reads", n)
		}
	})
}

// TestServerAway: the dashboard says so, goes on asking no faster, and recovers by itself.
func TestServerAway(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		err        error
	}{
		{"no answer", "✗ server away, retrying", errAway},
		{"retryable", "✗ server says INTERNAL, retrying", &client.Error{Fault: fault.New(fault.Internal, "no")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				began := time.Now()
				r, service := sending(t)
				r.pass(4 * time.Second)
				service.set(tt.err)
				r.pass(30 * time.Second)
				r.shows(tt.says, "○ queued")
				service.set(nil)
				service.change("task_0001", func(t *api.Task) { t.State = task.Running })
				r.pass(6 * time.Second)
				r.hides("retrying")
				r.shows("● running")
				wantSpaced(t, service, began, api.MaxPoll)
			})
		})
	}
}

// TestRetryAfterIsKept: an advice longer than the interval delays the reads; the lists meanwhile
// don't shorten it.
func TestRetryAfterIsKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := sending(t)
		r.pass(4 * time.Second)
		service.mu.Lock()
		service.failGet = fault.New(fault.RateLimitExceeded, "slow down").WithRetryAfter(20 * time.Second)
		service.mu.Unlock()
		r.pass(5 * time.Second)
		n := len(service.readsOf("task_0001"))
		r.pass(14 * time.Second)
		if more := len(service.readsOf("task_0001")) - n; more != 0 {
			t.Errorf("%d reads within the advised pause", more)
		}
	})
}

// TestServerAwayFromTheStart: the directory comes once there is a server.
func TestServerAwayFromTheStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.set(errAway)
		r := newTestDashboard(t, service)
		r.shows("Asking for the capabilities…", "server away, retrying")
		r.pass(time.Minute)
		service.set(nil)
		r.pass(6 * time.Second)
		r.shows("▸ text.chat")
		r.hides("away")
	})
}

// TestTasksFromElsewhere: other clients' tasks appear by themselves, are followed, and are gone when the service
// doesn't know them any more.
func TestTasksFromElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		r := newTestDashboard(t, service)
		r.press("tab")
		r.shows("No task yet.")
		service.hold(openTask(1, "text.chat"))
		r.pass(11 * time.Second)
		r.shows("○ queued")
		service.change("task_0001", func(t *api.Task) { end(t, task.Succeeded) })
		r.pass(5 * time.Second)
		r.shows("✓ succeeded")

		service.hold(openTask(2, "text.chat"))
		r.pass(11 * time.Second)
		r.shows("○ queued")
		service.hold()
		r.pass(6 * time.Second)
		r.hides("○ queued")
		r.shows("NOT_FOUND: no such task (request req_9)")
	})
}

// TestKeyIsRefused: an answer that no retry changes is shown.
func TestKeyIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.set(&client.Error{Fault: fault.New(fault.Unauthenticated, "the key isn't valid"), RequestID: "req_1"})
		r := newTestDashboard(t, service)
		r.shows("UNAUTHENTICATED: the service doesn't take this key: it is mistyped, unknown,", "(request req_1)", "Press r to try again.")
		r.hides("isn't valid")
		service.set(nil)
		r.pass(3 * time.Second)
		r.press("r")
		r.shows("▸ text.chat")
	})
}

// TestOvertakenAnswers: a list that was made before a read doesn't turn the task back.
func TestOvertakenAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := sending(t)
		old := service.tasks[0]
		r.pass(4 * time.Second)
		service.change("task_0001", func(t *api.Task) { end(t, task.Succeeded) })
		r.pass(4 * time.Second)
		service.hold(old)
		r.pass(11 * time.Second)
		r.shows("✓ succeeded")
	})
}
