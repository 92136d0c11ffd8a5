package tui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// old returns so many tasks that have ended, oldest first, each with its number as its text.
func old(n int) []api.Task {
	tasks := make([]api.Task, n)
	for i := range tasks {
		tasks[i] = openTask(i+1, "text.chat")
		end(&tasks[i], task.Succeeded)
		tasks[i].Output = &api.Output{Text: new(fmt.Sprintf("text %d.", i+1))}
		tasks[i].Usage = &api.Usage{Cost: api.Cost{Currency: "USD", Amount: "0.01"}}
	}
	return tasks
}

// TestPages: the table says that there are more tasks, reads on when the person comes near its end, says when it has
// all of them, and keeps them when new ones come.
func TestPages(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}} {
		bubble(t, func(t *testing.T) {
			service := newFake(chat())
			service.hold(old(470)...)
			r := newTestDashboard(t, service)
			r.resize(size[0], size[1])
			r.press("tab")
			r.shows("50 tasks, ↓")
			r.pass(20 * time.Second)
			r.shows("50 tasks, ↓")
			r.press("end")
			r.shows("250 tasks")
			r.press("end", "end")
			r.shows("470 tasks")
			r.hides("↓")
			for _, p := range service.pages {
				if (p.Limit != 50 || p.Cursor != "") && (p.Limit != 200 || p.Cursor == "") {
					t.Errorf("asked for %+v", p)
				}
			}
			r.press("end", "enter")
			r.shows("text 1.")
			r.press("esc", "home")
			service.hold(append(service.tasks, openTask(471, "image.new"))...)
			r.pass(11 * time.Second)
			r.shows("471 tasks", "image.new")
			r.press("r")
			r.pass(11 * time.Second)
			r.shows("471 tasks")
		})
	}
}

// TestFilterAsksTheService: a state and a capability in the filter find tasks that were never listed, and so
// does another word, as far as is looked.
func TestFilterAsksTheService(t *testing.T) {
	for filter, want := range map[string]client.ListOptions{
		"failed":            {State: task.Failed},
		"image.edit":        {Capability: "image.edit"},
		"IMAGE.EDIT failed": {State: task.Failed, Capability: "image.edit"},
		"needle":            {},
		"image.edit needle": {Capability: "image.edit"},
	} {
		t.Run(filter, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(chat(), imageEdit())
				tasks := old(300)
				tasks[1].Capability, tasks[1].State, tasks[1].Output = "image.edit", task.Failed, nil
				tasks[1].Error = &api.Error{Code: "A_NEEDLE"}
				service.hold(tasks...)
				r := newTestDashboard(t, service)
				r.press("tab", "/", filter, "enter")
				r.shows("▸ ✗ failed        image.edit", "1 task /")
				r.hides("✓ succeeded", "↓ more")
				if last := service.pages[len(service.pages)-1].Query; last != want {
					t.Errorf("asked for %+v, want %+v", last, want)
				}
				r.pass(11 * time.Second)
				r.shows("▸ ✗ failed        image.edit")
				r.press("esc")
				r.hides("✗ failed        image.edit")
				r.shows("✓ succeeded")
				if want == (client.ListOptions{}) {
					return // all were listed
				}
				r.shows("50 tasks, ↓ more")
			})
		})
	}
}

// TestOrderReadsOn: an order that the service doesn't know takes in tasks that were never listed.
func TestOrderReadsOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		tasks := old(600)
		tasks[1].Usage.Cost.Amount = "9.99"
		service.hold(tasks...)
		r := newTestDashboard(t, service)
		r.press("tab", "s", "s", "s", "s", "s", "enter")
		r.shows("text 2.")
	})
}

// TestSearchIsBounded: a missing task is looked for among a thousand tasks more with each key, and the table says
// that this isn't all.
func TestSearchIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.hold(old(600)...)
		service.looks = 50 // so that pages are short
		r := newTestDashboard(t, service)
		r.press("tab", "/", "zebra", "enter")
		if n := len(service.pages); n != 1+5 {
			t.Errorf("%d lists for one key", n)
		}
		r.shows("No task matches zebra so far.")
		for range 2 {
			r.press("down")
		}
		r.shows("No task matches zebra.")
		r.hides("so far")
		if n := len(service.pages); n != 12 {
			t.Errorf("%d lists, want 12 pages once", n)
		}
	})
}

// TestNoSilentGap: if more new tasks came than a page holds, the table begins anew instead of leaving some out.
func TestNoSilentGap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.hold(old(60)...)
		r := newTestDashboard(t, service)
		r.press("tab", "end")
		r.shows("60 tasks")
		r.press("home")
		service.hold(old(160)...)
		r.pass(11 * time.Second)
		r.shows("50 tasks, ↓ more", "text 160.")
		r.press("end")
		r.shows("160 tasks")
	})
}

// TestPageRefused: a page that doesn't come is asked for again, one that is refused at the next key.
func TestPageRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.hold(old(130)...)
		r := newTestDashboard(t, service)
		r.press("tab")
		service.set(errAway)
		r.press("end")
		r.shows("50 tasks, reading on", "server away, retrying")
		service.set(nil)
		r.pass(6 * time.Second)
		r.shows("130 tasks")
	})
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.hold(old(130)...)
		r := newTestDashboard(t, service)
		r.press("tab")
		service.set(fault.Invalid("cursor", "is not one that a list returned"))
		r.press("end")
		r.shows("50 tasks", "INVALID_REQUEST")
		n := len(service.pages)
		r.pass(time.Second)
		if len(service.pages) != n {
			t.Errorf("asked %d times again", len(service.pages)-n)
		}
		service.set(nil)
		r.pass(4 * time.Second)
		r.press("end")
		r.shows("130 tasks")
	})
}

// TestManyOpenTasks: all open tasks are kept up to date, however many there are, and only so many are read
// at the same time.
func TestManyOpenTasks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		tasks := make([]api.Task, 180)
		for i := range tasks {
			tasks[i] = openTask(i+1, "text.chat")
		}
		service.hold(tasks...)
		r := newTestDashboard(t, service)
		r.press("tab", "end")
		r.shows("Tasks (180 open)")
		r.pass(40 * time.Second)
		least := 1000
		for i := range tasks {
			least = min(least, len(service.readsOf(tasks[i].ID)))
		}
		if least < 2 || service.most > 50 {
			t.Errorf("a task was read %d times in 40 s; %d at once", least, service.most)
		}
		service.change("task_0001", func(t *api.Task) { end(t, task.Succeeded) })
		r.pass(20 * time.Second)
		if diff := cmp.Diff([]string{"text.chat succeeded"}, r.said); diff != "" {
			t.Errorf("said of tasks that ended (-want +got):\n%s", diff)
		}
	})
}
