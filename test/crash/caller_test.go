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

// record is one task of an observer.
type record struct {
	harness.Record
	mode task.Mode
}

// newRecord opens the record of a task.
func (b *observer) newRecord(mode task.Mode, key, body string) *record {
	return &record{Record: harness.Record{APIKey: b.keys[mode], Body: body, Seen: invariant.Task{Key: key}}, mode: mode}
}

func (b *observer) surprise(r *record, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.surprises = append(b.surprises, r.Seen.Key+": "+fmt.Sprintf(format, args...))
}

// add opens the record of a new task: a chat that is paid for, or now and then a picture.
func (b *observer) add(rng *rand.Rand) *record {
	if rng.IntN(4) == 0 {
		return b.addPicture(rng)
	}
	return b.open(func(key string) *record {
		r := b.newRecord(task.Live, key, fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, key))
		r.Seen.Answer = new(harness.AnswerTo(key))
		return r
	})
}

// addPicture opens the record of a picture, which may be of a class.
func (b *observer) addPicture(rng *rand.Rand) *record {
	class := []string{"", "", " @class:findable", " @class:neither"}[rng.IntN(4)]
	return b.open(func(key string) *record {
		return b.newRecord(task.Test, key, fmt.Sprintf(`{"capability":"image.generate","input":{"prompt":%q}}`, key+class))
	})
}

// open takes up the record that of makes of a key.
func (b *observer) open(of func(key string) *record) *record {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := of(fmt.Sprintf("crash-%x-%d", b.seed, len(b.records)))
	b.records = append(b.records, r)
	return r
}

// begun returns how many tasks there are.
func (b *observer) begun() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.records)
}

// call makes one task after the other until ctx ends. Some tasks are left before they end.
func (b *observer) call(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		patience, cancel := context.WithTimeout(ctx, time.Duration(200+rng.IntN(3000))*time.Millisecond)
		r := b.add(rng)
		b.pursue(patience, rng, r)
		if r.Done && rng.IntN(5) == 0 {
			b.post(ctx, r) // a replay
		}
		cancel()
		rest(ctx, time.Duration(rng.IntN(100))*time.Millisecond)
	}
}

// pursue creates the task and polls it, and retries whatever may be retried, until it ended for good
// or ctx did.
func (b *observer) pursue(ctx context.Context, rng *rand.Rand, r *record) {
	for ctx.Err() == nil && !r.Done {
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
	if !b.undone.Load() {
		return r.Note(got)
	}
	if !b.acknowledge(r, got) {
		return false
	}
	r.See(got)
	return true
}

func (b *observer) acknowledge(r *record, got api.Task) bool {
	if got.ID != "" && b.undone.Load() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.doubtful[got.ID] = true
		return true
	}
	return r.Acknowledge(got)
}

// post sends the request to create; it returns the zero Task if no answer named one.
func (b *observer) post(ctx context.Context, r *record) api.Task {
	e := r.Exchange(ctx, b.server, harness.Request{Method: http.MethodPost, Path: api.PathTasks, Body: r.Body}, exchangeTime)
	b.mu.Lock()
	b.calls = append(b.calls, call{e.Sent, e.Reply.Status, e.Reply.Header.Get(api.HeaderIdempotentReplay) != "", e.Err})
	b.mu.Unlock()
	return b.take(r, e)
}

func (b *observer) get(ctx context.Context, r *record, id string) api.Task {
	for ctx.Err() == nil {
		e := r.Exchange(ctx, b.server, harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + id}, exchangeTime)
		var refused api.ErrorResponse
		if e.Err == nil && e.Task.ID == "" && (json.Unmarshal(e.Reply.Body, &refused) != nil || refused.Error.Code != fault.Internal) {
			b.surprise(r, "GET: %d %s", e.Reply.Status, e.Reply.Body)
		}
		if got := b.take(r, e); got.ID != "" {
			return got
		}
		rest(ctx, 20*time.Millisecond)
	}
	return api.Task{}
}

// take returns the task in an answer. A request without a whole answer proves nothing.
func (b *observer) take(r *record, e harness.Exchanged) api.Task {
	if e.Surprise != "" {
		b.surprise(r, "%s", e.Surprise)
	}
	return e.Task
}

// exchangeTime is longer than a synchronous task takes at both suppliers.
const exchangeTime = 10 * time.Second

// rest waits d or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
