package chat_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/chat"
	"unitask/internal/journal"
	"unitask/internal/task"
)

var at = chat.Place{BaseURL: "http://a.test", Profile: "local", Mode: "test"}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustTake(t *testing.T, s *chat.Store, id string) *chat.Conversation {
	t.Helper()
	c, err := s.Take(id)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func mustRequest(t *testing.T, c *chat.Conversation) string {
	t.Helper()
	body, _, err := c.Request()
	must(t, err)
	return string(body)
}

func user(text string) []json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"role": "user", "content": text}) // strings can be written
	return []json.RawMessage{raw}
}

// answer is a task that ended; the text of its output makes its id.
func answer(output string) api.Task {
	done := api.Task{ID: fmt.Sprintf("task_%x", output), State: task.Succeeded, Usage: &api.Usage{Cost: api.Cost{Amount: "0.01"}}}
	done.Usage.OutputTokens = 7
	if err := json.Unmarshal([]byte(output), &done.Output); err != nil {
		panic(err)
	}
	return done
}

// killed is a conversation whose client was killed before the answer to its third message, and the request it had sent.
func killed(t *testing.T, s *chat.Store, file string) (id, sent string) {
	t.Helper()
	c := s.New(chat.Settings{Capability: "text.chat", System: "Be <terse> & \u2028 kind.", Parameters: json.RawMessage(`{"seed":12345678901234567890}`)})
	must(t, c.Ask("key-1", at, user("Hello,  world"), nil))
	must(t, c.Answered(answer(`{"text":"Hi!","finish_reason":"stop","state":"abc","citations":[{"url":"https://a.test"}]}`)))
	raw, err := os.ReadFile(file)
	must(t, err)
	picture := json.RawMessage(`{"role":"user","content":[{"type":"text","text":"And this?"},{"type":"image","image":{"data":"` +
		base64.StdEncoding.EncodeToString(raw) + `","content_type":"image/png"}}]}`)
	must(t, c.Ask("key-2", at, []json.RawMessage{picture}, []journal.File{{Path: file, Bytes: raw}}))
	must(t, c.Answered(answer(`{"text":"","tool_calls":[{"id":"call_1","name":"look","arguments":{"at":1}}],"finish_reason":"tool_calls"}`)))
	result, err := c.Calls()[0].Result("a fox")
	must(t, err)
	must(t, c.Ask("key-3", at, []json.RawMessage{result}, nil))
	sent = mustRequest(t, c)
	must(t, c.Close())
	return c.ID, sent
}

// TestKilled: the turn that was open is open again, with the same key and byte for byte the same request.
func TestKilled(t *testing.T) {
	s := chat.Open(t.TempDir())
	file := filepath.Join(t.TempDir(), "fox.png")
	must(t, os.WriteFile(file, []byte("a picture of a fox"), 0o600))
	id, sent := killed(t, s, file)
	c := mustTake(t, s, id)
	if c.Open == nil || c.Open.Key != "key-3" || c.Open.Place != at || len(c.Turns) != 2 || c.Title != "Hello, world" {
		t.Fatalf("%+v", c)
	}
	if diff := cmp.Diff(sent, mustRequest(t, c)); diff != "" {
		t.Errorf("the request (-sent +again):\n%s", diff)
	}
	want := `{"capability":"text.chat","input":{"messages":[{"role":"user","content":"Hello,  world"},` +
		`{"role":"assistant","content":"Hi!","state":"abc"},` +
		`{"role":"user","content":[{"type":"text","text":"And this?"},{"type":"image","image":{"data":"YSBwaWN0dXJlIG9mIGEgZm94","content_type":"image/png"}}]},` +
		`{"role":"assistant","tool_calls":[{"id":"call_1","name":"look","arguments":{"at":1}}]},` +
		`{"role":"tool","content":"a fox","tool_call_id":"call_1"}],"system":"Be \u003cterse\u003e \u0026 \u2028 kind."},` +
		`"parameters":{"seed":12345678901234567890}}`
	if diff := cmp.Diff(decoded(t, want), decoded(t, sent)); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	kept, err := os.ReadFile(s.Path(id))
	must(t, err)
	if strings.Contains(string(kept), "YSBwaWN0dXJlIG9mIGEgZm94") || !strings.Contains(string(kept), file) {
		t.Errorf("a file's bytes are copied, or its path isn't kept:\n%s", kept)
	}
	if _, err := s.Take(id); !errors.Is(err, chat.ErrBusy) {
		t.Errorf("taken from a live process: %v", err)
	}
	must(t, c.Answered(answer(`{"text":"A fox.","finish_reason":"stop"}`)))
	if got := c.Spent(); got.Tasks != 3 || got.Cost.String() != "0.03" || got.OutputTokens != 21 {
		t.Errorf("spent: %+v", got)
	}
	must(t, os.WriteFile(file, []byte("a picture of a dog"), 0o600))
	must(t, c.Ask("key-4", at, user("And now?"), nil))
	if _, _, err := c.Request(); err == nil {
		t.Error("a file that has changed is sent in the place of the former one")
	} else if changed, ok := errors.AsType[*journal.ChangedError](err); !ok || changed.Path != file {
		t.Errorf("%v", err)
	}
}

func decoded(t *testing.T, raw string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var v any
	must(t, d.Decode(&v))
	return v
}

// TestTurns: failures and turns that are taken back are no part of the next request.
func TestTurns(t *testing.T) {
	s := chat.Open(filepath.Join(t.TempDir(), "new", "state"))
	c := s.New(chat.Settings{Capability: "text.chat"})
	const blank = `{"text":" ","finish_reason":"stop"}`
	if ids, err := s.List(); err != nil || len(ids) != 0 || c.Kept() {
		t.Errorf("a conversation without a turn is kept: %v %v", ids, err)
	}
	must(t, c.Set(chat.Settings{Capability: "text.chat", System: "One."}))
	must(t, c.Ask("key-1", at, user("first"), nil))
	must(t, c.Fail(chat.Failure{TaskID: answer(blank).ID, Code: "PROVIDER_TIMEOUT", Retryable: true, Usage: answer(blank).Usage}))
	if c.Failed == nil || !c.Failed.Failure.Retryable {
		t.Errorf("%+v", c.Failed)
	}
	must(t, c.AskAgain(c.Failed.Key, at, c.Failed))
	if c.Failed != nil || !c.Open.Again || c.Open.Key != "key-1" {
		t.Errorf("%+v %+v", c.Failed, c.Open)
	}
	must(t, c.Answered(answer(blank)))
	must(t, c.Ask("key-2", at, user("second"), nil))
	must(t, c.Answered(answer(`{"text":"B","finish_reason":"stop"}`)))
	must(t, c.Undo(1))
	must(t, c.Ask("key-3", at, user("third"), nil))
	must(t, c.Fail(chat.Failure{Message: "too long"}))
	must(t, c.Set(chat.Settings{Capability: "text.chat", System: "Two."}))
	must(t, c.Ask("key-4", at, user("fourth"), nil))
	want := `{"capability":"text.chat","input":{"messages":[{"content":"first","role":"user"},{"content":"fourth","role":"user"}],"system":"Two."}}`
	if got := mustRequest(t, c); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	must(t, c.Close())
	again := mustTake(t, s, c.ID)
	if got := mustRequest(t, again); got != want {
		t.Errorf("read again: %s", got)
	}
	if got := again.Spent(); got.Tasks != 2 || got.Cost.String() != "0.02" {
		t.Errorf("%+v, want both that had an answer", got)
	}
}

// TestTorn: a line that was being written when the process ended is as if it never was, and doesn't spoil the next.
func TestTorn(t *testing.T) {
	s := chat.Open(t.TempDir())
	c := s.New(chat.Settings{Capability: "text.chat"})
	must(t, c.Ask("key-1", at, user("first"), nil))
	must(t, c.Close())
	whole, err := os.ReadFile(s.Path(c.ID))
	must(t, err)
	must(t, os.WriteFile(s.Path(c.ID), append(whole, `{"answer":{"key":"key-1","task_id":"ta`...), 0o600))
	again := mustTake(t, s, c.ID)
	if again.Open == nil || again.Open.Key != "key-1" {
		t.Fatalf("%+v", again.Open)
	}
	must(t, again.Answered(answer(`{"text":"A","finish_reason":"stop"}`)))
	must(t, again.Close())
	if third := mustTake(t, s, c.ID); len(third.Turns) != 1 || third.Open != nil {
		t.Errorf("%+v", third)
	}
	info, err := os.Stat(s.Path(c.ID))
	must(t, err)
	folder, err := os.Stat(filepath.Dir(s.Path(c.ID)))
	must(t, err)
	if runtime.GOOS != "windows" && (info.Mode().Perm() != 0o600 || folder.Mode().Perm() != 0o700) {
		t.Errorf("modes %v in %v", info.Mode(), folder.Mode())
	}
}

// TestFind: the beginning of an id suffices if it is that of one conversation alone.
func TestFind(t *testing.T) {
	s := chat.Open(t.TempDir())
	if _, err := s.Find(""); err == nil {
		t.Error("there is a newest one of none")
	}
	var ids []string
	for range 2 {
		c := s.New(chat.Settings{Capability: "text.chat"})
		must(t, c.Ask("key-1", at, user("hello"), nil))
		must(t, c.Close())
		ids = append(ids, c.ID)
	}
	for name, want := range map[string]string{ids[0]: ids[0], ids[1][:28]: ids[1]} {
		if got, err := s.Find(name); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	_, err := s.Find("chat_")
	if e, ok := errors.AsType[*chat.NotFoundError](err); !ok || e.Many != 2 {
		t.Errorf("a prefix of both: %v", err)
	}
	must(t, s.Remove(ids[0]))
	if err := s.Remove(ids[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
	if got, err := s.Find(""); got != ids[1] || err != nil {
		t.Errorf("the newest: %s, %v", got, err)
	}
}

// full fails a write; written says how much of it there is then.
func full(written int) func(*os.File, []byte) error {
	return func(f *os.File, raw []byte) error {
		_, err := f.Write(raw[:min(written, len(raw))])
		return errors.Join(err, syscall.ENOSPC)
	}
}

// TestHeadless: a conversation whose head couldn't be written has no file, and begins when there is room again.
func TestHeadless(t *testing.T) {
	s := chat.Open(t.TempDir())
	write := s.Writing(full(3))
	c := s.New(chat.Settings{Capability: "text.chat"})
	if err := c.Ask("key-1", at, user("hello"), nil); !errors.Is(err, syscall.ENOSPC) || c.Kept() {
		t.Errorf("%v, kept: %v", err, c.Kept())
	}
	if ids, err := s.List(); err != nil || len(ids) != 0 {
		t.Errorf("%v is left, %v", ids, err)
	}
	s.Writing(write)
	must(t, c.Ask("key-1", at, user("hello"), nil))
	must(t, c.Close())
}

// TestUnwritten: a line whose write failed, at its beginning, in its middle or in its sync, isn't there.
func TestUnwritten(t *testing.T) {
	for _, written := range []int{0, 9, 1 << 20} {
		s := chat.Open(t.TempDir())
		c := s.New(chat.Settings{Capability: "text.chat"})
		must(t, c.Ask("key-1", at, user("first"), nil))
		must(t, c.Answered(answer(`{"text":"A","finish_reason":"stop"}`)))
		write := s.Writing(full(written))
		if err := c.Ask("key-2", at, user("second"), nil); !errors.Is(err, syscall.ENOSPC) || c.Open != nil {
			t.Errorf("%d bytes: %v, open: %+v", written, err, c.Open)
		}
		s.Writing(write)
		must(t, c.Ask("key-3", at, user("third"), nil))
		must(t, c.Close())
		again, err := s.Take(c.ID)
		if err != nil || len(again.Turns) != 1 || again.Open.Key != "key-3" {
			t.Errorf("%d bytes: %+v, %v", written, again, err)
			continue
		}
		must(t, again.Close())
	}
}

// TestFindSkips: a file that can't be read isn't the newest conversation, unless there is no other.
func TestFindSkips(t *testing.T) {
	s := chat.Open(t.TempDir())
	c := s.New(chat.Settings{Capability: "text.chat"})
	must(t, c.Ask("key-1", at, user("hello"), nil))
	must(t, c.Close())
	damaged := s.New(chat.Settings{}).ID
	must(t, os.WriteFile(s.Path(damaged), nil, 0o600))
	later := time.Now().Add(time.Hour)
	must(t, os.Chtimes(s.Path(damaged), later, later))
	if got, err := s.Find(""); got != c.ID || err != nil {
		t.Errorf("%s, %v, want %s", got, err, c.ID)
	}
	must(t, s.Remove(c.ID))
	if got, err := s.Find(""); got != damaged || err != nil {
		t.Errorf("the only one: %s, %v", got, err)
	}
}

// FuzzRead: any file is a conversation that can be written on, or an error.
func FuzzRead(f *testing.F) {
	s := chat.Open(f.TempDir())
	c := s.New(chat.Settings{Capability: "text.chat"})
	for _, err := range []error{
		c.Ask("key-1", at, user("first"), nil), c.Answered(answer(`{"text":"A","finish_reason":"stop"}`)), c.Undo(1),
		c.Ask("key-2", at, user("second"), nil), c.Fail(chat.Failure{Message: "no"}), c.Close(),
	} {
		if err != nil {
			f.Fatal(err)
		}
	}
	seed, err := os.ReadFile(s.Path(c.ID))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"head":{"version":1}}` + "\n" + `{"undo":1}` + "\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := chat.Open(t.TempDir())
		must(t, os.MkdirAll(filepath.Dir(s.Path("x")), 0o700))
		must(t, os.WriteFile(s.Path(c.ID), raw, 0o600))
		got, err := s.Take(c.ID)
		if err != nil {
			return
		}
		defer func() { _ = got.Close() }()
		got.Calls()
		got.Last()
		for _, turn := range got.Turns {
			turn.Said()
		}
		if got.Open == nil {
			must(t, got.Ask("key", at, user("next"), nil))
		}
		_, _, _ = got.Request() // files may be absent
	})
}
