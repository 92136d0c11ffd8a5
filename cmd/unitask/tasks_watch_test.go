package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/task"
)

// TestWatchMany watches unfinished tasks behind pages that are short or empty, and says if there are too many.
func TestWatchMany(t *testing.T) {
	for made, note := range map[int]string{
		3 * watched / 2:   "",
		3*watched/2 + 3*2: "more than 50 tasks are unfinished; these are the newest 50\n",
	} {
		t.Run(fmt.Sprint(made), func(t *testing.T) {
			f := newFake(t)
			defer f.Close()
			unfinished := map[string]bool{}
			for i := range made {
				one := &fakeTask{Task: api.Task{ID: fmt.Sprintf("task_%03d", i), Capability: "text.chat"}, prompt: "@quick:"}
				one.move([]task.State{task.Queued, task.Succeeded, task.Running}[i%3])
				f.tasks = append(f.tasks, one)
				unfinished[one.ID] = i%3 != 1
			}
			t.Setenv("UNITASK_BASE_URL", f.URL)
			t.Setenv("UNITASK_API_KEY", fakeKey)
			t.Setenv("UNITASK_CONFIG_DIR", t.TempDir())
			var out, errs bytes.Buffer
			if err := tasksWatchRun(t.Context(), &terminal{out: &out, err: &errs}, &tasksWatchOptions{}); err != nil {
				t.Fatal(err)
			}
			lines, newest := strings.Split(strings.TrimSpace(out.String()), "\n"), fmt.Sprintf("\ttask_%03d\t", made-1)
			if len(lines) != watched || !strings.Contains(out.String(), newest) || errs.String() != note {
				t.Errorf("%d lines, stderr %q, want %d with%s and %q", len(lines), errs.String(), watched, newest, note)
			}
			for _, line := range lines {
				if id := strings.Split(line, "\t")[1]; !unfinished[id] {
					t.Errorf("%s was watched, and had ended", id)
				}
			}
		})
	}
}
