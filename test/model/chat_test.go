package model_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

const question = "What grows by the river?"

// TestChatKilled has a conversation with the model on a terminal, whose client or server is killed while the answer
// comes. After a client's end the next client gets that answer. A server's end leaves it unknown whether the model has
// done its work: the client says so and asks anew, and the account pays once.
func TestChatKilled(t *testing.T) {
	o := startOllama(t)
	for name, pieces := range map[string]int{"client in mid-answer": 3, "client before the first piece": 0} {
		t.Run(name, func(t *testing.T) {
			c := newTalk(t, o, pieces)
			harness.KillNoted(t, c.pid)
			c.goesOn()
			c.gate.open()
			c.ends(t, task.OK)
		})
	}
	const told = "the outcome of the work is unknown"
	t.Run("server in mid-answer", func(t *testing.T) {
		c := newTalk(t, o, 3)
		c.service.Kill()
		c.service.Start()
		c.terminal.Shows(told)
		c.gate.open()
		c.ends(t, task.UnknownOutcome, task.OK)
	})
	t.Run("both in mid-answer", func(t *testing.T) {
		c := newTalk(t, o, 3)
		id := c.task(t).ID
		harness.KillNoted(t, c.pid)
		c.service.Kill()
		c.service.Start()
		c.service.Until(answerLimit, "the task has failed", func() bool { // as its operator sees it: its account doesn't know yet
			got, err := c.service.AdminTask(t.Context(), id)
			return err == nil && got.State == task.Failed
		})
		if got := c.gate.count(); got != 1 {
			t.Errorf("the model was asked %d times before its caller knew of the first", got)
		}
		c.gate.open()
		c.goesOn()
		c.terminal.Shows(told)
		c.ends(t, task.UnknownOutcome, task.OK)
	})
}

// conversation is one on a terminal, with the generated model behind a gate.
type conversation struct {
	service  *service
	gate     *gate
	terminal *harness.Terminal
	pid      string // the file with the client's number
}

// newTalk asks the model and returns when some pieces of the answer are on the screen, and the next one is held up.
func newTalk(t *testing.T, o *ollama, pieces int) *conversation {
	t.Helper()
	g := newGate(t, o.base, pieces)
	s := startService(t, byOpenAI(g.URL))
	c := &conversation{service: s, gate: g, pid: filepath.Join(s.Dir, "pid")}
	c.terminal = harness.NewTerminal(t, s.clients(), 160, 20, "sh", "-c",
		`sh -c 'echo $$ >"$1"; exec "$0" chat max_output_tokens=16' "$0" "$1"; echo "code $?"; exec sleep 600`, harness.Binary(), c.pid)
	c.terminal.Shows("/help", "›")
	c.terminal.Keys(question, "Enter")
	s.Until(answerLimit, "the model answers", func() bool { return g.count() == 1 && len(g.passed()) == pieces })
	if words := g.passed(); pieces > 0 { // the last one may go on, and comes with the next
		c.terminal.Shows(strings.TrimSpace(strings.Join(words[:pieces-1], "")))
	}
	s.Until(answerLimit, "the task runs", func() bool { return c.task(t).State == task.Running })
	return c
}

// goesOn continues the conversation after its client was killed.
func (c *conversation) goesOn() {
	c.terminal.Shows("code 137")
	c.terminal.Must("respawn-pane", "-k", "sh", "-c", `"$0" chat continue; echo "code $?"; exec sleep 600`, harness.Binary())
	c.terminal.Shows("› " + question)
}

// task returns the conversation's task, which has to be the only one.
func (c *conversation) task(t *testing.T) api.Task {
	t.Helper()
	var all []api.Task
	if err := json.Unmarshal([]byte(c.service.must(t, "tasks", "list", "--json")), &all); err != nil || len(all) != 1 {
		t.Fatalf("%d tasks, want 1 (%v)", len(all), err)
	}
	return all[0]
}

// ends waits for the answer and makes sure that it is whole, the model's, and paid once. attempts are the ledger's.
func (c *conversation) ends(t *testing.T, attempts ...task.AttemptState) {
	t.Helper()
	c.service.Until(answerLimit, "the task ends", func() bool { return c.task(t).State == task.Succeeded })
	done := c.task(t)
	checkChat(t, done)
	text := *done.Output.Text
	if said := strings.Join(c.gate.passed(), ""); text != said {
		t.Errorf("the answer is %q, and the model said %q", text, said)
	}
	c.terminal.Shows(strings.TrimSpace(text), "$"+done.Usage.Cost.Amount+"\n›")
	c.terminal.Keys("C-d")
	c.terminal.Shows("code 0")
	if got, want := c.service.must(t, "chat", "show", "--jq", `[.messages[].text] | join("|")`), question+"|"+text+"\n"; got != want {
		t.Errorf("the conversation is %q, want %q", got, want)
	}
	if got := c.gate.count(); got != len(attempts) {
		t.Errorf("the model was asked %d times, want %d", got, len(attempts))
	}
	ledger, err := c.service.AdminTask(t.Context(), done.ID)
	if err != nil {
		t.Fatal(err)
	}
	var states []task.AttemptState
	for _, a := range ledger.Attempts {
		states = append(states, a.State)
	}
	if diff := cmp.Diff(attempts, states); diff != "" {
		t.Errorf("the ledger's attempts (-want +got):\n%s", diff)
	}
	var usage api.UsageReport
	err = json.Unmarshal([]byte(c.service.must(t, "usage", "--json", "--data-dir", c.service.Data())), &usage)
	if err != nil || len(usage.Data) != 1 || usage.Data[0].Succeeded != 1 || usage.Data[0].Cost != done.Usage.Cost.Amount {
		t.Errorf("charged is %+v (%v), want %s once", usage.Data, err, done.Usage.Cost.Amount)
	}
	t.Logf("%d of %d tokens had come by the kill, the model was asked %d times, charged $%s for 1 task in %s",
		c.gate.pieces, done.Usage.OutputTokens, c.gate.count(), done.Usage.Cost.Amount, done.FinishedAt.Sub(done.CreatedAt.Time).Round(time.Millisecond))
}
