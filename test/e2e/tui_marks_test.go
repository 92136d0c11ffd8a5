package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unitask/test/harness"
)

// TestDashboardTogether marks tasks and saves and cancels them together, by keys and by the menu, and goes over to
// another profile and back.
func TestDashboardTogether(t *testing.T) {
	t.Parallel()
	h := newHost(t).start()
	for _, prompt := range []string{"one", "two", "three"} {
		h.must("run", "text.chat", prompt)
	}
	for range 2 {
		h.must("run", "image.generate", "stay @slow:10m", "--no-wait")
	}
	p := h.newTerminal(80, 24, "sh", "-c", `cd "$1"; "$0"; echo "code $?"; exec sleep 600`, harness.Binary(), h.Dir)
	p.Keys("Tab")
	p.Shows("5 tasks", "▸ ")
	p.Keys("a")
	p.Shows("5 marked, 5 tasks", "▸*", " *✓ succeeded")
	p.Keys("c")
	p.Shows("Cancel 2 tasks? y yes, n no")
	p.Keys("y")
	p.Shows("Cancel: 2 of 2 done", "✓ image.generate")
	p.Keys("Escape")
	p.Hides("Cancel: 2 of 2")
	p.Keys("S")
	p.Shows("Save 3 tasks in ./")
	p.Keys("texts", "Enter")
	p.Shows("Save: 3 of 3 done")
	p.Keys("Escape")
	p.Hides("Save: 3 of 3")
	p.Keys("S")
	p.Shows("Save 3 tasks in ./texts/")
	p.Keys("Enter")
	p.Shows("Save: 0 of 3 done, 3 not", "there already: task_")
	p.Keys("Escape")
	p.Hides("Save: 0 of 3")
	if found, err := filepath.Glob(filepath.Join(h.Dir, "texts", "task_*.txt")); err != nil || len(found) != 3 {
		t.Errorf("texts/*: %v %v", found, err)
	}
	p.Must("resize-window", "-x", "40", "-y", "10")
	p.Shows("5 marked")
	p.Keys("C-k")
	p.Shows("Go to, or do", "enter takes")
	p.Keys("canceled", "Enter")
	p.Shows("2 tasks", "- canceled")
	p.Keys("p")
	p.Shows("▸ as started", "local")
	p.Keys("local", "Enter")
	p.Shows("✓ now with local")
	p.Keys(":", "as started", "Enter")
	p.Shows("✓ now with as started", "- canceled")
	p.Keys("q")
	p.Shows("code 0")
}

// TestDashboardTalk has a conversation in the dashboard, which is killed in the middle of the second answer. unitask
// chat shows that the next one gets it, as the same task, and both have one history.
func TestDashboardTalk(t *testing.T) {
	t.Parallel()
	h := newHost(t).start()
	h.must("chat", "What is 1+1?")
	pid := filepath.Join(h.Dir, "pid")
	p := h.newTerminal(40, 10, "sh", "-c", `sh -c 'echo $$ >"$1"; exec "$0"' "$0" "$1"; echo "code $?"; exec sleep 600`, harness.Binary(), pid)
	p.Shows("▸ audio.speech")
	p.Keys("t")
	p.Shows("▸ What is 1+1?")
	p.Keys("Enter")
	p.Shows("› text.chat", "1+1 = 2", "1 task, $")
	p.Keys("What is 5+7? @slow:20s", "Enter")
	p.Shows("waiting")
	h.oneRuns()
	harness.KillNoted(t, pid)
	p.Shows("code 137")

	p.Must("respawn-pane", "-k", "sh", "-c", `"$0"; echo "code $?"; exec sleep 600`, harness.Binary())
	p.Shows("▸ audio.speech")
	p.Keys("t")
	p.Shows("▸ ● What is 1+1?")
	p.Keys("Enter")
	p.Shows("5+7 = 12", "2 tasks, $")
	p.Keys("upper two", "C-j", "lines", "Enter")
	p.Shows("TWO", "LINES", "3 tasks, $")
	if err := os.WriteFile(filepath.Join(h.Dir, "notes.txt"), []byte("amber grove"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Keys("/file ~/notes.txt", "Enter")
	p.Shows("@~/notes.txt")
	p.Keys("What is 7+7?", "Enter")
	p.Shows("4 tasks, $")
	p.Keys("What is 9+9? @slow:10m", "Enter")
	h.oneRuns()
	p.Keys("C-x")
	p.Shows("canceled", "ctrl+r asks again")
	p.Keys("C-c")
	p.Shows("code 0")
	if got := strings.Count(h.must("tasks", "list"), "text.chat"); got != 5 {
		t.Errorf("%d tasks, want one for each of the five messages", got)
	}
	h.must("chat", "continue", "What is 8+8?")
	const want = "What is 1+1?|1+1 = 2|What is 5+7? @slow:20s|5+7 = 12|upper two\nlines|TWO\nLINES|What is 7+7?|I read 1 document (plain, 11 bytes). 7+7 = 14|" +
		"What is 8+8?|I read 1 document (plain, 11 bytes). 8+8 = 16\n"
	if got := h.must("chat", "show", "--jq", `[.messages[].text] | join("|")`); got != want {
		t.Errorf("the conversation is %q, want %q", got, want)
	}
	if got, want := h.must("chat", "show", "--jq", `[.messages[].files // [] | .[]] | join("|")`), filepath.Join(h.Dir, "notes.txt")+"\n"; got != want {
		t.Errorf("its files are %q, want %q", got, want)
	}
}
