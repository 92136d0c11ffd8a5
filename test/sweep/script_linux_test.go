package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	faults "unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

const supplierName = "paid"

// supplier is a paid chat server that answers at once and counts.
type supplier struct {
	base string
	mu   sync.Mutex
	sent []invariant.Submission
}

// charge is ten tokens in and ten out, by the route's price.
const charge task.Money = 10*1_000 + 10*2_000

func newSupplier(t *testing.T) *supplier {
	t.Helper()
	s := &supplier{}
	server := httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(server.Close)
	s.base = server.URL
	return s
}

func (s *supplier) config() string {
	return fmt.Sprintf(`suppliers:
  - {name: %s, kind: openai, base_url: %q}
routes:
  text.chat:
    - {supplier: %[1]s, model: one, price: {unit: mtok, input: "1", output: "2"}}
`, supplierName, s.base)
}

func (s *supplier) handle(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) != 1 {
		return // cut off by the end of the server: it never arrived
	}
	key, _, _ := strings.Cut(asked.Messages[0].Content, " ")
	s.mu.Lock()
	s.sent = append(s.sent, invariant.Submission{Key: key, Supplier: supplierName, Charge: charge})
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`, answerTo(key))
}

func answerTo(key string) string { return "the answer to " + key }

// script is the same few tasks at every point: a chat, one whose input is kept apart from its record, a
// picture that is worked on while its caller polls.
type script struct {
	t        *testing.T
	server   *harness.Server
	supplier *supplier
	keys     map[task.Mode]string
	roles    []*role
	refused  []faults.Code // what the callers were told where they weren't served
	broken   []string      // answers that no caller should get
}

// role is one task as its caller knows it.
type role struct {
	mode task.Mode
	body string
	done bool
	seen invariant.Task
}

// largeInput is more than a task's record takes.
const largeInput = 80 << 10

func newScript(t *testing.T, s *harness.Server, live string) *script {
	t.Helper()
	paid := newSupplier(t)
	s.Config = paid.config()
	sc := &script{t: t, server: s, supplier: paid, keys: map[task.Mode]string{task.Live: live}}
	for _, r := range []struct {
		mode              task.Mode
		capability, extra string
	}{
		{task.Live, "text.chat", ""}, {task.Live, "text.chat", " " + strings.Repeat("x", largeInput)},
		{task.Test, "image.generate", ""},
	} {
		key := fmt.Sprintf("sweep-task-%d", len(sc.roles)+1)
		added := &role{mode: r.mode, seen: invariant.Task{Key: key}}
		added.body = fmt.Sprintf(`{"capability":%q,"input":{"prompt":%q}}`, r.capability, key+r.extra)
		if r.mode == task.Live {
			added.seen.Answer = new(answerTo(key))
		}
		sc.roles = append(sc.roles, added)
	}
	return sc
}

var errUnfinished = errors.New("a task hasn't ended well")

// play pursues every task to its success, in order. It stops where the server doesn't answer.
func (s *script) play(ctx context.Context) error {
	for _, r := range s.roles {
		if r.mode == task.Test && s.keys[task.Test] == "" {
			key, err := s.server.NewKey(ctx, task.Test)
			for ctx.Err() == nil && err != nil && s.server.Ready() { // refused
				key, err = s.server.NewKey(ctx, task.Test)
			}
			if err != nil {
				return err
			}
			s.keys[task.Test] = key
		}
		for !r.done {
			if ctx.Err() != nil {
				return errUnfinished
			}
			if err := s.pursue(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// pursue sends the request once more and waits for the task's end.
func (s *script) pursue(ctx context.Context, r *role) error {
	r.seen.Posts++
	got, err := s.exchange(ctx, r, harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Body: r.body,
		Header: map[string]string{api.HeaderIdempotencyKey: r.seen.Key},
	})
	for err == nil && got.ID != "" {
		r.seen.Acknowledged = append(r.seen.Acknowledged, got.ID)
		r.seen.Seen = append(r.seen.Seen, got.State)
		if got.State.Terminal() {
			r.done = got.State == task.Succeeded
			return nil
		}
		got, err = s.exchange(ctx, r, harness.Request{
			Method: http.MethodGet, Path: api.PathTasks + "/" + got.ID, Header: map[string]string{"Prefer": "wait=5"},
		})
	}
	return err
}

// exchange returns the task that an answer names, the zero Task for a refusal without one.
func (s *script) exchange(ctx context.Context, r *role, request harness.Request) (got api.Task, err error) {
	request.Key = s.keys[r.mode]
	reply, err := s.server.Send(ctx, request)
	if err != nil {
		return got, err
	}
	if reply.Status == http.StatusOK || reply.Status == http.StatusAccepted {
		return got, json.Unmarshal(reply.Body, &got)
	}
	var refused api.ErrorResponse
	if err := json.Unmarshal(reply.Body, &refused); err != nil || reply.Status < 500 || !refused.Error.Retryable {
		s.broken = append(s.broken, fmt.Sprintf("%s %s: %d %s", request.Method, request.Path, reply.Status, reply.Body))
		return got, errUnfinished
	}
	s.refused = append(s.refused, refused.Error.Code)
	if refused.Error.Code == faults.CapacityExhausted && reply.Header.Get("Retry-After") == "" {
		s.broken = append(s.broken, "a refusal for want of room without Retry-After")
	}
	if refused.TaskID == "" {
		return got, nil
	}
	return api.Task{ID: refused.TaskID, State: task.Failed}, nil
}

// observe reads what there is in the end and what the supplier counted.
func (s *script) observe(ctx context.Context) (o invariant.Observation, err error) {
	o.Counted = map[string]bool{supplierName: true}
	for _, key := range s.keys {
		ids, err := s.server.List(ctx, key)
		if err != nil {
			return o, err
		}
		o.Listed = append(o.Listed, ids...)
	}
	for _, r := range s.roles {
		if err := s.server.Look(ctx, s.keys[r.mode], &r.seen); err != nil {
			return o, err
		}
		o.Tasks = append(o.Tasks, r.seen)
	}
	s.supplier.mu.Lock()
	defer s.supplier.mu.Unlock()
	o.Submissions = append(o.Submissions, s.supplier.sent...)
	return o, nil
}

// scriptTime is how long the script may take on a busy machine.
const scriptTime = 30 * time.Second
