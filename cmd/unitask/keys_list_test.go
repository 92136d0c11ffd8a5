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

// TestKeysFitTheTerminal: no line wraps, and the important columns stay.
func TestKeysFitTheTerminal(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	k := api.Key{
		ID: task.NewID(task.PrefixKey, now), Name: "the shop's own key", Account: "default", Mode: task.Live, Hint: "a1b2",
		Scopes: []string{"image.*", "text.chat", "audio.transcribe"}, ExpiresAt: &api.Timestamp{Time: now.Add(90*24*time.Hour - time.Minute)},
		Limits: api.Limits{CreatesPerMinute: 60, OpenTasks: 5, Budget: "5", BudgetPeriod: "day"},
	}
	for width, want := range map[int][]string{
		80:  {k.ID, "STATE", "…a1b2", "ends in 90d"},
		200: {k.ID, "ACCOUNT", "…a1b2", "audio.transcribe", "ends in 90d", "60/min 5 open $5/day"},
	} {
		var out bytes.Buffer
		term := &terminal{out: &out, outTTY: true, style: newStyles(&out), width: func() int { return width }}
		if err := listKeys(term, []api.Key{k, {ID: k.ID, Name: "b", Mode: task.Test}}, now); err != nil {
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

// TestKeysAreToldApart: of keys without limits a narrow terminal shows their ends and when they were used.
func TestKeysAreToldApart(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	k := api.Key{
		ID: task.NewID(task.PrefixKey, now), Name: "console", Account: "default", Mode: task.Test, Hint: "QhHn",
		LastUsedAt: &api.Timestamp{Time: now.Add(-3 * time.Hour)},
	}
	var out bytes.Buffer
	term := &terminal{out: &out, outTTY: true, style: newStyles(&out), width: func() int { return 80 }}
	if err := listKeys(term, []api.Key{k}, now); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"KEY", "…QhHn", "LAST USED", "3h"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("no %q in\n%s", text, out.String())
		}
	}
	if strings.Contains(out.String(), "LIMITS") {
		t.Errorf("a column of dashes is shown:\n%s", out.String())
	}
}
