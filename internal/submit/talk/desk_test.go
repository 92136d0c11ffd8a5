package talk_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/chat"
	"unitask/internal/client"
	"unitask/internal/client/clienttest"
	"unitask/internal/journal"
	"unitask/internal/secret"
	"unitask/internal/submit"
	"unitask/internal/submit/talk"
	"unitask/internal/task"
)

// model is a service that makes one task of each key. Its tasks end once they may.
type model struct {
	*httptest.Server

	state  string // this machine's, with the journal and the conversations
	mu     sync.Mutex
	bodies map[string][]string // by key
	ids    map[string]string   // of the tasks, by key
	may    bool
	made   chan struct{} // gets one for each request that makes a task
	calls  []task.ToolCall
	ended  task.State
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{
		state: t.TempDir(), bodies: map[string][]string{}, ids: map[string]string{}, made: make(chan struct{}, 100), ended: task.Succeeded,
	}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if strings.HasSuffix(r.URL.Path, "/cancel") {
		m.may, m.ended = true, task.Canceled
		id = strings.Split(strings.TrimPrefix(r.URL.Path, api.PathTasks+"/"), "/")[0]
	} else if r.Method == http.MethodPost {
		key := r.Header.Get("Idempotency-Key")
		if m.ids[key] == "" {
			m.ids[key] = task.NewID("task_", time.Now())
		}
		id, m.bodies[key] = m.ids[key], append(m.bodies[key], string(raw))
		m.made <- struct{}{}
	}
	now := api.Timestamp{Time: time.Now()}
	t := api.Task{ID: id, Capability: "text.chat", Mode: task.Test, State: task.Running, CreatedAt: now, UpdatedAt: now}
	if m.may {
		t.State, t.FinishedAt = m.ended, &now
	}
	if t.State == task.Succeeded {
		t.Output = &api.Output{Text: new("an answer"), ToolCalls: m.calls}
	}
	clienttest.WriteJSON(w, http.StatusOK, t)
}

// desk takes a conversation, or begins one for "".
func (m *model) desk(t *testing.T, id string) *talk.Desk {
	t.Helper()
	key := func(context.Context) (secret.Value, error) { return secret.New("svc_test_x"), nil }
	c, err := client.New(client.Config{BaseURL: m.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	s := &talk.Session{
		Service: &submit.Service{Client: c, Key: key, Journal: journal.Open(m.state)}, Store: chat.Open(m.state), Describe: error.Error,
	}
	if s.Place, err = talk.PlaceOf(t.Context(), s.Service); err != nil {
		t.Fatal(err)
	}
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range directory.All() {
		if one.Name == catalog.TextChat {
			s.Entry = api.FromCapability(one, task.Price{Unit: task.PerMillionTokens})
		}
	}
	s.Talk = s.Store.New(chat.Settings{Capability: "text.chat"})
	if id != "" {
		if s.Talk, err = s.Store.Take(id); err != nil {
			t.Fatal(err)
		}
		if err := s.Owns(false); err != nil {
			t.Fatal(err)
		}
	}
	d := talk.NewDesk(s)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func wait(ctx context.Context, d *talk.Desk) error {
	return d.Wait(ctx, func(string) {}, func(string) {}, func() {})
}

// tasks are how many requests each task got, all alike.
func (m *model) tasks(t *testing.T) []int {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []int
	for key, bodies := range m.bodies {
		for _, b := range bodies {
			if b != bodies[0] {
				t.Errorf("%s: two requests under one key:\n%s\n%s", key, bodies[0], b)
			}
		}
		all = append(all, len(bodies))
	}
	return all
}

func texts(v chat.View) string {
	var all []string
	for _, m := range v.Messages {
		all = append(all, m.Role+": "+m.Text)
	}
	return strings.Join(all, "|")
}

// TestLeftAndTakenAgain: a conversation whose process ends at any moment goes on with the same task, and with one.
func TestLeftAndTakenAgain(t *testing.T) {
	for name, sent := range map[string]bool{"before the request": false, "during the answer": true} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t)
			d := m.desk(t, "")
			if err := d.Say(t.Context(), "hello", nil); err != nil {
				t.Fatal(err)
			}
			if sent {
				ctx, leave := context.WithCancel(t.Context())
				go func() {
					<-m.made
					leave()
				}()
				err := wait(ctx, d)
				if _, open := errors.AsType[*talk.OpenError](err); !open || !errors.Is(err, context.Canceled) {
					t.Fatalf("left: %T %v", err, err)
				}
			}
			before := d.View()
			if !before.Unanswered || texts(before) != "user: hello" {
				t.Fatalf("left as %+v", before)
			}
			if err := d.Say(t.Context(), "more", nil); err == nil {
				t.Error("two messages without an answer")
			}
			if err := errors.Join(d.Undo(), d.Again()); err == nil {
				t.Error("an open turn is taken back or sent again")
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			if err := d.Say(t.Context(), "closed", nil); err == nil {
				t.Error("it is closed and takes a message")
			}
			m.mu.Lock()
			m.may = true
			m.mu.Unlock()
			again := m.desk(t, before.ID)
			if err := wait(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			if got := texts(again.View()); got != "user: hello|assistant: an answer" {
				t.Errorf("the conversation is %q", got)
			}
			if all := m.tasks(t); len(all) != 1 {
				t.Errorf("%d tasks", len(all))
			}
			left, err := journal.Open(m.state).List()
			if err != nil || len(left) != 0 {
				t.Errorf("the journal holds %v %v", left, err)
			}
		})
	}
}

// TestCancelAndAgain: a canceled answer is a failure of its turn, and another try makes another task.
func TestCancelAndAgain(t *testing.T) {
	m := newModel(t)
	d := m.desk(t, "")
	if err := d.Say(t.Context(), "hello", nil); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-m.made
		leave()
	}()
	_ = wait(ctx, d) // whose end the test above knows
	if err := d.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := wait(t.Context(), d)
	if v := d.View(); err == nil || v.Unanswered || v.Failure == nil || len(v.Failed) != 1 || len(v.Messages) != 0 {
		t.Fatalf("after the cancellation: %v %+v", err, v)
	}
	m.mu.Lock()
	m.ended = task.Succeeded
	m.mu.Unlock()
	if err := d.Again(); err != nil {
		t.Fatal(err)
	}
	if err := wait(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if all := m.tasks(t); len(all) != 2 {
		t.Errorf("%d tasks", len(all))
	}
	if err := d.Undo(); err != nil {
		t.Fatal(err)
	}
	if got := texts(d.View()); got != "" {
		t.Errorf("taken back, the conversation is %q", got)
	}
}

// TestResults: the results of two calls go out together, an empty one as a word that says so.
func TestResults(t *testing.T) {
	m := newModel(t)
	m.may, m.calls = true, []task.ToolCall{{ID: "1", Name: "weather", Arguments: []byte(`{}`)}, {ID: "2", Name: "time", Arguments: []byte(`{}`)}}
	d := m.desk(t, "")
	if err := errors.Join(d.Say(t.Context(), "hello", nil), wait(t.Context(), d)); err != nil {
		t.Fatal(err)
	}
	var asked []string
	m.mu.Lock()
	m.calls = nil
	m.mu.Unlock()
	for len(d.View().Calls) > 0 {
		asked = append(asked, d.View().Calls[0].Name)
		if err := d.Say(t.Context(), strings.Repeat("rain", 2-len(asked)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := wait(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"weather", "time"}, asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	if got, want := texts(d.View()), "user: hello|assistant: an answer|tool: rain|tool: "+talk.NoResult+"|assistant: an answer"; got != want {
		t.Errorf("the conversation is %q, want %q", got, want)
	}
}

// TestFiles: a message takes files, which its line in the conversation names; the result of a tool takes none, and a
// file that can't be read begins no turn.
func TestFiles(t *testing.T) {
	m := newModel(t)
	m.may = true
	name := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(name, []byte("amber grove"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := m.desk(t, "")
	if entry, ok := d.Files(); !ok || len(entry.Kinds) == 0 {
		t.Fatalf("files of a chat: %+v %v", entry, ok)
	}
	if err := d.Say(t.Context(), "what is this?", []string{name + ".gone"}); err == nil || d.View().Unanswered {
		t.Fatalf("without the file: %v, %+v", err, d.View())
	}
	m.calls = []task.ToolCall{{ID: "1", Name: "weather", Arguments: []byte(`{}`)}}
	if err := errors.Join(d.Say(t.Context(), "what is this?", []string{name}), wait(t.Context(), d)); err != nil {
		t.Fatal(err)
	}
	if said := d.View().Messages[0]; said.Text != "what is this?" || !cmp.Equal(said.Files, []string{name}) {
		t.Errorf("the message is %+v", said)
	}
	for _, bodies := range m.bodies {
		if len(bodies) != 1 || !strings.Contains(bodies[0], base64.StdEncoding.EncodeToString([]byte("amber grove"))) {
			t.Errorf("sent %q", bodies)
		}
	}
	if err := d.Say(t.Context(), "rain", []string{name}); err == nil || len(d.View().Calls) != 1 {
		t.Errorf("a result with a file: %v", err)
	}
}
