package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

// observer is the observations of all callers together.
type observer struct {
	t      *testing.T
	server *harness.Server
	seed   uint64
	keys   map[task.Mode]string // API keys

	// undone is set while a restore may undo events: callers and suppliers go on, and no event is recorded.
	undone atomic.Bool

	mu        sync.Mutex
	doubtful  map[string]bool // ids that were named then
	records   []*record
	surprises []string // answers that no caller should ever get
	calls     []call
}

// call is one request to create as it went.
type call struct {
	sent     time.Time
	status   int
	replayed bool
	err      error
}

// record is one task as its caller knows it. One goroutine works on it at a time, but for the second
// of two requests sent at once, which only acknowledges.
type record struct {
	mode task.Mode
	body string
	done bool // it ended, and no retry is left

	mu   sync.Mutex
	seen invariant.Task
}

func (b *observer) surprise(r *record, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.surprises = append(b.surprises, r.seen.Key+": "+fmt.Sprintf(format, args...))
}

// add opens the record of a new task: a chat that is paid for, or now and then a picture.
func (b *observer) add(rng *rand.Rand) *record {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := fmt.Sprintf("crash-%x-%d", b.seed, len(b.records))
	r := &record{mode: task.Live, seen: invariant.Task{Key: key}}
	r.body = fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, key)
	if rng.IntN(4) == 0 {
		r.mode = task.Test
		class := []string{"", "", " @class:findable", " @class:neither"}[rng.IntN(4)]
		r.body = fmt.Sprintf(`{"capability":"image.generate","input":{"prompt":%q}}`, key+class)
	} else {
		r.seen.Answer = new(answerTo(key))
	}
	b.records = append(b.records, r)
	return r
}

// call makes one task after the other until ctx ends. Some tasks are left before they end.
func (b *observer) call(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		patience, cancel := context.WithTimeout(ctx, time.Duration(200+rng.IntN(3000))*time.Millisecond)
		r := b.add(rng)
		b.pursue(patience, rng, r)
		if r.done && rng.IntN(5) == 0 {
			b.post(ctx, r) // a replay
		}
		cancel()
		rest(ctx, time.Duration(rng.IntN(100))*time.Millisecond)
	}
}

// pursue creates the task and polls it, and retries whatever may be retried, until it ended for good
// or ctx did.
func (b *observer) pursue(ctx context.Context, rng *rand.Rand, r *record) {
	for ctx.Err() == nil && !r.done {
		var twin sync.WaitGroup
		if rng.IntN(8) == 0 {
			twin.Go(func() { b.acknowledge(r, b.post(ctx, r)) })
		}
		got := b.post(ctx, r)
		twin.Wait()
		for ctx.Err() == nil && b.note(r, got) && !got.State.Terminal() {
			rest(ctx, time.Duration(20+rng.IntN(100))*time.Millisecond)
			if rng.IntN(5) == 0 {
				b.snapshot(ctx, r, got.ID)
			}
			got = b.get(ctx, r, got.ID)
		}
		rest(ctx, time.Duration(10+rng.IntN(150))*time.Millisecond)
	}
}

// note records an answer and reports whether it named the task.
func (b *observer) note(r *record, got api.Task) bool {
	if !b.acknowledge(r, got) {
		return false
	}
	if !b.undone.Load() {
		r.seen.Seen = append(r.seen.Seen, got.State)
	}
	r.done = got.State.Terminal() && (got.Error == nil || !got.Error.Retryable)
	return true
}

func (b *observer) acknowledge(r *record, got api.Task) bool {
	if got.ID == "" {
		return false
	}
	if b.undone.Load() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.doubtful[got.ID] = true
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Acknowledged = append(r.seen.Acknowledged, got.ID)
	return true
}

// post sends the request to create; it returns the zero Task if no answer named one.
func (b *observer) post(ctx context.Context, r *record) api.Task {
	r.mu.Lock()
	r.seen.Posts++
	r.mu.Unlock()
	return b.exchange(ctx, r, http.MethodPost, api.PathTasks)
}

func (b *observer) get(ctx context.Context, r *record, id string) api.Task {
	for ctx.Err() == nil {
		if got := b.exchange(ctx, r, http.MethodGet, api.PathTasks+"/"+id); got.ID != "" {
			return got
		}
		rest(ctx, 20*time.Millisecond)
	}
	return api.Task{}
}

// exchange sends a request about the record's task. A request without a whole answer proves nothing.
func (b *observer) exchange(ctx context.Context, r *record, method, path string) api.Task {
	status, raw, err := b.send(ctx, r.mode, method, path, r)
	if err != nil {
		return api.Task{}
	}
	if status == http.StatusOK || status == http.StatusAccepted {
		var got api.Task
		if err := json.Unmarshal(raw, &got); err != nil || got.ID == "" {
			b.surprise(r, "%s: %d %s", method, status, raw)
		}
		return got
	}
	var refused api.ErrorResponse
	if err := json.Unmarshal(raw, &refused); err != nil || status < 500 || (method == http.MethodGet && refused.Error.Code != fault.Internal) {
		b.surprise(r, "%s: %d %s", method, status, raw)
		return api.Task{}
	}
	if refused.TaskID == "" {
		return api.Task{}
	}
	return api.Task{ID: refused.TaskID, State: task.Failed, Error: &refused.Error}
}

// exchangeTime is longer than a synchronous task takes at both suppliers.
const exchangeTime = 10 * time.Second

func (b *observer) send(ctx context.Context, mode task.Mode, method, path string, r *record) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	request := harness.Request{Method: method, Path: path, Key: b.keys[mode]}
	if method == http.MethodPost {
		request.Body = r.body
		request.Header = map[string]string{api.HeaderIdempotencyKey: r.seen.Key}
	}
	e := &capture{}
	request.Client = e.client()
	sent := time.Now()
	got, err := b.server.Send(ctx, request)
	if carriesFailure(e.whole()) {
		r.mu.Lock()
		r.seen.Shown++
		r.mu.Unlock()
	}
	if method == http.MethodPost {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls = append(b.calls, call{sent, got.Status, got.Header.Get(api.HeaderIdempotentReplay) != "", err})
	}
	return got.Status, got.Body, err
}

// rest waits d or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
