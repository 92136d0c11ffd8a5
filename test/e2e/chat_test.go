package e2e_test

import (
	"net/http"
	"path/filepath"
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
	h := newHost(t).start()
	pid := filepath.Join(h.Dir, "pid")
	p := h.newTerminal(40, 10, "sh", "-c", `sh -c 'echo $$ >"$1"; exec "$0" chat' "$0" "$1"; echo "code $?"; exec sleep 600`, harness.Binary(), pid)
	p.Shows("/help", "›")
	p.Keys("What is 12*7+1?", "Enter")
	p.Shows("12*7+1 = 85")
	p.Keys(`upper two \`, "Enter")
	p.Shows("…")
	p.Keys("lines", "Enter")
	p.Shows("TWO", "LINES")
	p.Keys("What is 5+7? @slow:3s", "Enter")
	h.oneRuns()
	harness.KillNoted(t, pid)
	p.Shows("code 137")

	p.Must("respawn-pane", "-k", "sh", "-c", `trap : INT; "$0" chat continue; echo "code $?"; exec sleep 600`, harness.Binary())
	p.Shows("5+7 = 12", "›")
	if got := strings.Count(h.must("tasks", "list"), "text.chat"); got != 3 {
		t.Errorf("%d tasks, want one for each of the three messages", got)
	}
	p.Keys("/undo", "Enter")
	p.Shows("taken back: What is 5+7?")
	p.Keys("/hlep", "Enter")
	p.Shows("you mean /help?")
	p.Keys("What is 6+8? @slow:2s", "Enter", "typed ahead")
	p.Shows("6+8 = 14", "› typed ahead")
	p.Keys("C-u")
	p.Hides("typed ahead")

	p.Keys("/save no/such/x", "Enter")
	p.Shows("there is no folder")
	p.Keys("/system Be brief.", "Enter")
	p.Shows("next message on")
	p.Keys("/set reasoning=low", "Enter", "What is 9+9? @slow:10m", "Enter")
	h.oneRuns()
	if modes := p.Modes(); !strings.Contains(modes, " icanon ") || !strings.Contains(modes, " -echo ") {
		t.Errorf("keys that are typed into an answer would be shown there: %s", modes)
	}
	p.Keys("C-c")
	p.Shows("goes on without you", "/cancel")
	p.Keys("/cancel", "Enter")
	p.Shows("canceled; it cost nothing")
	p.Keys("What is 8+8?", "Enter")
	p.Shows("They ask something", "8+8 = 16")
	p.Keys("C-d")
	p.Shows("code 0")
	if modes := p.Modes(); !strings.Contains(modes, " echo ") {
		t.Errorf("keys aren't shown after the end: %s", modes)
	}
	if got := strings.Count(h.must("tasks", "list"), "text.chat"); got != 6 {
		t.Errorf("%d tasks, want one for each of the six messages", got)
	}
	const want = "What is 12*7+1?|12*7+1 = 85|upper two \nlines|TWO \nLINES|What is 6+8? @slow:2s|6+8 = 14|What is 8+8?|8+8 = 16\n"
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
