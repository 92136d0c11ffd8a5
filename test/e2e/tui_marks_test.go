package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"unitask/test/harness"
)

// TestDashboardTogether marks tasks and saves and cancels them together, by keys and by the menu, and goes over to
// another profile and back.
func TestDashboardTogether(t *testing.T) {
	t.Parallel()
	need(t, "tmux")
	h := newHost(t).start()
	for _, prompt := range []string{"one", "two", "three"} {
		h.must("run", "text.chat", prompt)
	}
	for range 2 {
		h.must("run", "image.generate", "stay @slow:10m", "--no-wait")
	}
	p := h.newTerminal(80, 24, "sh", "-c", `cd "$1"; "$0"; echo "code $?"; exec sleep 600`, harness.Binary(), h.Dir)
	p.keys("Tab")
	p.shows("5 tasks", "▸ ")
	p.keys("a")
	p.shows("5 marked, 5 tasks", "▸*", " *✓ succeeded")
	p.keys("c")
	p.shows("Cancel 2 tasks? y yes, n no")
	p.keys("y")
	p.shows("Cancel: 2 of 2 done", "✓ image.generate")
	p.keys("Escape")
	p.hides("Cancel: 2 of 2")
	p.keys("S")
	p.shows("Save 3 tasks in ./")
	p.keys("texts", "Enter")
	p.shows("Save: 3 of 3 done")
	p.keys("Escape")
	p.hides("Save: 3 of 3")
	p.keys("S")
	p.shows("Save 3 tasks in ./texts/")
	p.keys("Enter")
	p.shows("Save: 0 of 3 done, 3 not", "there already: task_")
	p.keys("Escape")
	p.hides("Save: 0 of 3")
	if found, err := filepath.Glob(filepath.Join(h.Dir, "texts", "task_*.txt")); err != nil || len(found) != 3 {
		t.Errorf("texts/*: %v %v", found, err)
	}
	p.must("resize-window", "-x", "40", "-y", "10")
	p.shows("5 marked")
	p.keys("C-k")
	p.shows("Go to, or do", "enter takes")
	p.keys("canceled", "Enter")
	p.shows("2 tasks", "- canceled")
	p.keys("p")
	p.shows("▸ as started", "local")
	p.keys("local", "Enter")
	p.shows("✓ now with local")
	p.keys(":", "as started", "Enter")
	p.shows("✓ now with as started", "- canceled")
	p.keys("q")
	p.shows("code 0")
}

// TestDashboardTalk has a conversation in the dashboard, which is killed in the middle of the second answer. unitask
// chat shows that the next one gets it, as the same task, and both have one history.
func TestDashboardTalk(t *testing.T) {
	t.Parallel()
	need(t, "tmux")
	h := newHost(t).start()
	h.must("chat", "What is 1+1?")
	pid := filepath.Join(h.Dir, "pid")
	p := h.newTerminal(40, 10, "sh", "-c", `sh -c 'echo $$ >"$1"; exec "$0"' "$0" "$1"; echo "code $?"; exec sleep 600`, harness.Binary(), pid)
	p.shows("▸ audio.speech")
	p.keys("t")
	p.shows("▸ What is 1+1?")
	p.keys("Enter")
	p.shows("› text.chat", "1+1 = 2", "1 task, $")
	p.keys("What is 5+7? @slow:20s", "Enter")
	p.shows("waiting")
	h.oneRuns()
	victim, err := strconv.Atoi(strings.TrimSpace(read(t, pid)))
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(victim)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.shows("code 137")

	p.must("respawn-pane", "-k", "sh", "-c", `"$0"; echo "code $?"; exec sleep 600`, harness.Binary())
	p.shows("▸ audio.speech")
	p.keys("t")
	p.shows("▸ ● What is 1+1?")
	p.keys("Enter")
	p.shows("5+7 = 12", "2 tasks, $")
	p.keys("upper two", "C-j", "lines", "Enter")
	p.shows("TWO", "LINES", "3 tasks, $")
	p.keys("What is 9+9? @slow:10m", "Enter")
	h.oneRuns()
	p.keys("C-x")
	p.shows("canceled", "ctrl+r asks again")
	p.keys("C-c")
	p.shows("code 0")
	if got := strings.Count(h.must("tasks", "list"), "text.chat"); got != 4 {
		t.Errorf("%d tasks, want one for each of the four messages", got)
	}
	h.must("chat", "continue", "What is 8+8?")
	const want = "What is 1+1?|1+1 = 2|What is 5+7? @slow:20s|5+7 = 12|upper two\nlines|TWO\nLINES|What is 8+8?|8+8 = 16\n"
	if got := h.must("chat", "show", "--jq", `[.messages[].text] | join("|")`); got != want {
		t.Errorf("the conversation is %q, want %q", got, want)
	}
}
