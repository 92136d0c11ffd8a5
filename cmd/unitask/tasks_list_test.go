package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"

	"unitask/internal/api"
	"unitask/internal/task"
)

// TestTasksFitTheTerminal: each task stands in one line, with its whole id and its state, and with its capability if
// there is room.
func TestTasksFitTheTerminal(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	made := api.Timestamp{Time: now.Add(-3 * time.Hour)}
	all := []api.Task{
		{ID: task.NewID("task_", now), Capability: "image.background_remove", State: task.Succeeded, CreatedAt: made, FinishedAt: &made},
		{ID: task.NewID("task_", now), Capability: "text.chat", State: task.Queued, CreatedAt: made},
	}
	for width, want := range map[int][]string{
		40:  {all[0].ID, all[1].ID, "STATE", "succe", "queued"},
		60:  {all[0].ID, "CAPABILITY", "image.backgr", "succeeded", "queued"},
		120: {all[0].ID, "image.background_remove", "succeeded", "CREATED", "3h ago", "TOOK"},
	} {
		var out bytes.Buffer
		term := &terminal{out: &out, outTTY: true, style: newStyles(&out), width: func() int { return width }}
		if err := listTasks(term, all, now); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if got := lipgloss.Width(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("%d columns: a line takes %d: %s", width, got, line)
			}
		}
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%d columns: no %q in\n%s", width, text, out.String())
			}
		}
	}
}
