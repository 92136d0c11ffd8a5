package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/test/harness"
)

// TestChatKilled has a conversation on a small terminal, whose client is killed in the middle of the third answer. The
// next client shows it: it is the same task, and the conversation goes on.
func TestChatKilled(t *testing.T) {
	t.Parallel()
	need(t, "tmux")
	h := newHost(t).start()
	pid := filepath.Join(h.Dir, "pid")
	p := h.newTerminal(40, 10, "sh", "-c", `sh -c 'echo $$ >"$1"; exec "$0" chat' "$0" "$1"; echo "code $?"; exec sleep 600`, harness.Binary(), pid)
	p.shows("/help", "›")
	p.keys("What is 12*7+1?", "Enter")
	p.shows("12*7+1 = 85")
	p.keys(`upper two \`, "Enter")
	p.shows("…")
	p.keys("lines", "Enter")
	p.shows("TWO", "LINES")
	p.keys("What is 5+7? @slow:3s", "Enter")
	h.oneRuns()
	raw, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	victim, err := strconv.Atoi(strings.TrimSpace(string(raw)))
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

	p.must("respawn-pane", "-k", "sh", "-c", `trap : INT; "$0" chat continue; echo "code $?"; exec sleep 600`, harness.Binary())
	p.shows("5+7 = 12", "›")
	if got := strings.Count(h.must("tasks", "list"), "text.chat"); got != 3 {
		t.Errorf("%d tasks, want one for each of the three messages", got)
	}
	p.keys("/undo", "Enter")
	p.shows("taken back: What is 5+7?")
	p.keys("/hlep", "Enter")
	p.shows("you mean /help?")
	p.keys("What is 6+8?", "Enter")
	p.shows("6+8 = 14")

	p.keys("/set reasoning=low", "Enter", "What is 9+9? @slow:10m", "Enter")
	h.oneRuns()
	p.keys("C-c")
	p.shows("goes on without you", "/cancel")
	p.keys("/cancel", "Enter")
	p.shows("canceled")
	p.keys("What is 8+8?", "Enter")
	p.shows("They ask something", "8+8 = 16")
	p.keys("C-d")
	p.shows("code 0")
	if got := strings.Count(h.must("tasks", "list"), "text.chat"); got != 6 {
		t.Errorf("%d tasks, want one for each of the six messages", got)
	}
	const want = "What is 12*7+1?|12*7+1 = 85|upper two \nlines|TWO \nLINES|What is 6+8?|6+8 = 14|What is 8+8?|8+8 = 16\n"
	if got := h.must("chat", "show", "--jq", `[.messages[].text] | join("|")`); got != want {
		t.Errorf("the conversation is %q, want %q", got, want)
	}
}

// oneRuns waits until one task runs.
func (h *host) oneRuns() {
	h.T.Helper()
	h.Until(2*time.Minute, "one task runs", func() bool {
		var running api.TaskList
		h.call(http.MethodGet, api.PathTasks+"?state=running", "", nil, &running)
		return len(running.Data) == 1
	})
}
