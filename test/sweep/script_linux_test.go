package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	faults "unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

// script is the same few tasks at every point: a chat, two whose input is kept apart from its record, in memory and,
// for one that isn't waited for, in a file, a picture that is worked on while its caller polls, a sound that comes without a job to ask after.
type script struct {
	t        *testing.T
	server   *harness.Server
	supplier *harness.Supplier
	keys     map[task.Mode]string
	roles    []*role
	refused  []faults.Code // codes of the refusals
	broken   []string      // answers that no caller should get
}

// role is one task as its caller knows it.
type role struct {
	mode   task.Mode
	body   string
	prefer string
	done   bool
	seen   invariant.Task
}

// largeInput is more than a task's record takes.
const largeInput = 80 << 10

func newScript(t *testing.T, s *harness.Server, live string) *script {
	t.Helper()
	paid := harness.NewSupplier(t)
	s.Config = paid.Config()
	sc := &script{t: t, server: s, supplier: paid, keys: map[task.Mode]string{task.Live: live}}
	for _, r := range []struct {
		mode                             task.Mode
		capability, field, extra, prefer string
	}{
		{task.Live, "text.chat", "prompt", "", ""},
		{task.Live, "text.chat", "prompt", " " + strings.Repeat("x", largeInput), "wait=30"},
		{task.Live, "text.chat", "prompt", " " + strings.Repeat("x", largeInput), "wait=0"},
		{task.Test, "image.generate", "prompt", "", ""},
		{task.Test, "audio.speech", "text", "", ""},
	} {
		key := fmt.Sprintf("sweep-task-%d", len(sc.roles)+1)
		added := &role{mode: r.mode, prefer: r.prefer, seen: invariant.Task{Key: key}}
		added.body = fmt.Sprintf(`{"capability":%q,"input":{%q:%q}}`, r.capability, r.field, key+r.extra)
		if r.mode == task.Live {
			added.seen.Answer = new(harness.AnswerTo(key))
		}
		sc.roles = append(sc.roles, added)
	}
	return sc
}

var errUnfinished = errors.New("a task hasn't ended well")

// play pursues every task to its success, in order. It stops if the server doesn't answer.
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
	header := map[string]string{api.HeaderIdempotencyKey: r.seen.Key}
	if r.prefer != "" {
		header[api.HeaderPrefer] = r.prefer
	}
	got, err := s.exchange(ctx, r, harness.Request{Method: http.MethodPost, Path: api.PathTasks, Body: r.body, Header: header})
	for err == nil && got.ID != "" {
		r.seen.Acknowledged = append(r.seen.Acknowledged, got.ID)
		r.seen.Seen = append(r.seen.Seen, got.State)
		if got.State == task.Failed {
			r.seen.Shown++
		}
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

// discarded names the tasks whose result was there, and was given up for one failed system call.
func (s *script) discarded() (broken []string) {
	for _, r := range s.roles {
		if r.mode == task.Test && slices.Contains(r.seen.Seen, task.Failed) {
			broken = append(broken, fmt.Sprintf("%s failed, and its result with it", r.seen.Key))
		}
	}
	return broken
}

// observe reads the final tasks and the supplier's counts.
func (s *script) observe(ctx context.Context) (o invariant.Observation, err error) {
	o.Counted = map[string]bool{harness.SupplierName: true}
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
	o.Submissions = s.supplier.Sent()
	return o, nil
}

// scriptTime is how long the script may take on a busy machine.
const scriptTime = 30 * time.Second
