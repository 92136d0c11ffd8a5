package tui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// marked are the ids that the dashboard copies of the marked tasks.
func (r *testDashboard) marked() []string {
	r.press("y")
	return strings.Split(r.clipboard, "\n")
}

// marking is a dashboard on the table of five tasks, of which the newest is the last.
func marking(t *testing.T) (*testDashboard, *fake) {
	t.Helper()
	service := newFake(chat(), imageEdit())
	r := newTestDashboard(t, service)
	manyTasks(r, service)
	r.press("tab")
	return r, service
}

// TestMarks: each way to mark marks the tasks that it says.
func TestMarks(t *testing.T) {
	for name, tt := range map[string]struct {
		keys []string
		want string // the ends of the ids
	}{
		"no mark is the selected one": {[]string{"down"}, "4"},
		"space":                       {[]string{" ", "down", " "}, "5 3"},
		"space again":                 {[]string{" ", " ", "up", "up", " "}, "4"},
		"a range":                     {[]string{"down", "v", "down", "down", "v", "end"}, "4 3 2"},
		"a range upwards":             {[]string{"end", "v", "up", " "}, "2 1"},
		"a range that goes on":        {[]string{"v", "down"}, "5 4"},
		"a range that is left":        {[]string{"v", "down", "esc"}, "4"},
		"shift":                       {[]string{"down", "shift+down", "shift+down", "shift+up", "v"}, "4 3"},
		"two ranges":                  {[]string{"v", "down", "v", "end", "v", "v"}, "5 4 1"},
		"all":                         {[]string{"a"}, "5 4 3 2 1"},
		"all shown":                   {[]string{"/", "image", "enter", "a", "esc"}, "4 2"},
		"none":                        {[]string{"a", "a", "home"}, "5"},
		"unmarked":                    {[]string{"a", "esc", "home"}, "5"},
		"over a filter":               {[]string{"/", "image", "enter", " ", "esc", "/", "video", "enter", " "}, "4 3"},
		"over an order":               {[]string{" ", "s", "s", "s", "home", " "}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, _ := marking(t)
				r.press(tt.keys...)
				var got []string
				for _, id := range r.marked() {
					got = append(got, strings.TrimPrefix(id, "task_000"))
				}
				if tt.want == "" {
					if len(got) != 2 || !slices.Contains(got, "5") {
						t.Errorf("%q are marked", got)
					}
				} else if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
					t.Errorf("marked (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestMarksStay: marks are kept while the tasks are read anew, new ones come and others end; one whose task is gone goes.
func TestMarksStay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := marking(t)
		r.press("down", " ", " ") // 4 and 3
		service.hold(append(service.tasks, openTask(6, "image.new"))...)
		service.change("task_0004", func(t *api.Task) { end(t, task.Failed) })
		r.press("r")
		r.pass(11 * time.Second)
		r.shows("image.new", "2 marked, 6 tasks")
		if diff := cmp.Diff([]string{"task_0004", "task_0003"}, r.marked()); diff != "" {
			t.Errorf("marked (-want +got):\n%s", diff)
		}
		r.press("home", " ") // 6, which is open
		service.hold(service.tasks[:5]...)
		r.pass(11 * time.Second)
		r.shows("2 marked, 5 tasks")
	})
}

// TestCancelMarked: one question, and each marked task that goes on is canceled and its outcome said.
func TestCancelMarked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := marking(t)
		r.press("a", "c")
		r.shows("Cancel 2 tasks? y yes, n no")
		r.press("n")
		if service.tasks[3].State.Terminal() {
			t.Fatal("a no cancels")
		}
		service.mu.Lock()
		service.failCancel = map[string]error{"task_0004": &client.Error{Fault: fault.New(fault.CapacityExhausted, "full"), RequestID: "req_7"}}
		service.mu.Unlock()
		r.press("c", "y")
		r.shows("Cancel: 1 of 2 done, 1 not", "✓ text.chat", "canceled", "✗ image.edit", "CAPACITY_EXHAUSTED: full (requ")
		if diff := cmp.Diff([]string{"task_0004", "task_0005"}, slices.Sorted(slices.Values(service.canceled))); diff != "" {
			t.Errorf("canceled (-want +got):\n%s", diff)
		}
		r.press("esc")
		r.shows("5 marked, 5 tasks", "- canceled")
		r.press("/", "succeeded", "enter", "c")
		r.shows("Cancel 1 task (1 hidden)?")
		r.press("n", "esc", "esc", "end", " ", "c")
		r.shows("the marked tasks have ended")
	})
}

// TestSaveMarked: the marked results go into one folder, and a file that is there stays.
func TestSaveMarked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := marking(t)
		service.disk.there["out/task_0002.txt"] = true
		r.press("a", "S")
		r.shows("Save 2 tasks in ./")
		r.press("ctrl+u", "out", "enter")
		r.shows("Save: 1 of 2 done, 1 not", "✓ text.chat: The fox", "task_0001.txt", "✗ image.edit: 1 file", "there already: task_0002.txt")
		slices.SortFunc(service.disk.savings, func(a, b saving) int { return strings.Compare(a.ID, b.ID) })
		if diff := cmp.Diff([]saving{{"task_0001", "out/", false}, {"task_0002", "out/", false}}, service.disk.savings); diff != "" {
			t.Errorf("saved (-want +got):\n%s", diff)
		}
		r.press("esc", "esc", "home", "S")
		r.shows("there is no result to save")
	})
}

// TestWorkGoesOn: outcomes that are left are told when they are all there, and no other action begins meanwhile.
func TestWorkGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := marking(t)
		service.mu.Lock()
		service.slowCancel = time.Minute
		service.mu.Unlock()
		r.press("a", "c", "y")
		r.shows("Cancel: 0 of 2 done", "… text.chat")
		r.press("esc")
		r.shows("Cancel goes on")
		r.press("S")
		r.shows("Cancel: 0 of 2 done so far: it goes on")
		r.pass(2 * time.Minute)
		r.shows("✓ Cancel: 2 of 2 done")
	})
}

// TestMarksByMouse: a click beside a row marks it, as one with ctrl does.
func TestMarksByMouse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _ := marking(t)
		r.click(0, 4)
		r.update(tea.MouseMsg{X: 9, Y: 6, Ctrl: true, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
		r.shows("2 marked, 5 tasks", " *◆ transferring", " *✓ succeeded")
		r.click(1, 4)
		r.shows("1 marked, 5 tasks")
	})
}
