package fleet_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

// kind is a sort of errand.
type kind string

const (
	chat       kind = "chat"
	stream     kind = "stream"
	large      kind = "chat with a large input"
	picture    kind = "picture"
	edit       kind = "picture of an upload"
	video      kind = "video"
	bought     kind = "picture within a budget"
	endlessJob kind = "job without an end, canceled"
)

// mix is the errands, as often as they come.
var mix = []kind{
	chat, chat, chat, chat, chat, chat, stream, stream, stream, stream, large,
	picture, picture, picture, edit, video, endlessJob,
}

// rushes is how often all callers want a picture at once within a budget for half of them. They ask at the next
// multiple of rushTime.
const (
	rushes   = 3
	rushTime = time.Second
)

// errand is one task of a caller.
type errand struct {
	harness.Record
	kind         kind
	budget       *budget       // nil: its key has none
	file         string        // the hash of its result, "" for a text
	cancelsAfter time.Duration // 0: it isn't canceled
	canceling    bool          // a whole answer said that it is canceled, or will be
	began, ended time.Time
}

// add opens the next errand; nil once there are enough, and every fault has been there.
func (s *storm) add(rng *rand.Rand) *errand {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begunLocked() {
		return nil
	}
	e := &errand{kind: mix[rng.IntN(len(mix))]}
	turn, every := len(s.errands)/s.callers, max(s.tasks/s.callers/rushes, 1)
	if turn%every == 0 && turn/every < rushes {
		e.kind, e.budget = bought, s.budgets[turn/every]
	}
	word := fmt.Sprintf("storm-%x-%d", s.seed, len(s.errands))
	if e.kind == endlessJob {
		word = endless + word
	}
	e.APIKey, e.Seen = s.key, invariant.Task{Key: word}
	switch e.kind {
	case chat, stream, large:
		prompt := word
		if e.kind == large {
			prompt += " " + strings.Repeat("Tell me about foxes. ", 5000)
		}
		e.Body = fmt.Sprintf(`{"capability":"text.chat","input":{"messages":[{"role":"user","content":%q}]}}`, prompt)
		e.Seen.Answer = new(harness.AnswerTo(word))
	case video:
		e.Body = fmt.Sprintf(`{"capability":"video.generate","input":{"prompt":%q}}`, word)
		e.file = sumOf(resultOf(word, filmModel))
	case edit:
		e.Body = fmt.Sprintf(`{"capability":"image.edit","input":{"prompt":%q,"images":[{"content_type":"image/png","data":%q}],
			"authorization":{"person":"none"}}}`, word, base64.StdEncoding.EncodeToString(upload(word)))
		e.file = sumOf(resultOf(word, editModel))
	default:
		e.Body = fmt.Sprintf(`{"capability":"image.generate","input":{"prompt":%q}}`, word)
		e.file = sumOf(resultOf(word, pictureModel))
	}
	switch {
	case e.kind == bought:
		e.APIKey = e.budget.secret
	case e.kind == endlessJob || rng.IntN(12) == 0:
		e.cancelsAfter = time.Duration(1+rng.IntN(1500)) * time.Millisecond
	}
	s.errands = append(s.errands, e)
	return e
}

// begunLocked reports whether there are enough errands: all tasks are begun, and every fault has been there.
func (s *storm) begunLocked() bool {
	return len(s.errands) >= s.tasks && (s.faulted || len(s.errands) >= 20*s.tasks)
}

// call runs one errand after the other.
func (s *storm) call(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		e := s.add(rng)
		if e == nil {
			return
		}
		if e.kind == bought {
			rest(ctx, time.Until(time.Now().Add(rushTime).Truncate(rushTime)))
		}
		e.began = time.Now()
		s.pursue(ctx, rng, e)
		if e.succeeded() && rng.IntN(10) == 0 {
			s.take(e, s.post(ctx, rng, e)) // a replay
		}
		s.mu.Lock()
		s.done++
		s.ended = time.Now()
		s.mu.Unlock()
		rest(ctx, time.Duration(rng.IntN(100))*time.Millisecond)
	}
}

// pursue creates the task and follows it, and retries whatever may be retried, until it ended for good.
func (s *storm) pursue(ctx context.Context, rng *rand.Rand, e *errand) {
	for ctx.Err() == nil && !e.Done {
		var twin sync.WaitGroup
		if rng.IntN(8) == 0 {
			own := rand.New(rand.NewPCG(rng.Uint64(), 0))
			twin.Go(func() { e.Acknowledge(s.take(e, s.post(ctx, own, e))) })
		}
		x := s.post(ctx, rng, e)
		twin.Wait()
		if e.refused(x) {
			e.Done = s.spent(e.budget)
		}
		for got := s.take(e, x); ctx.Err() == nil && e.Note(got) && !got.State.Terminal(); {
			got = s.next(ctx, rng, e, got.ID)
		}
		if !e.Done {
			rest(ctx, time.Duration(10+rng.IntN(300))*time.Millisecond)
		}
		e.Done = e.Done || e.canceling && e.last().Terminal()
	}
	e.ended = time.Now()
	if e.kind == bought && e.succeeded() {
		s.mu.Lock()
		e.budget.bought++
		s.mu.Unlock()
	}
}

// last returns the state that the caller read last.
func (e *errand) last() task.State {
	if len(e.Seen.Seen) == 0 {
		return ""
	}
	return e.Seen.Seen[len(e.Seen.Seen)-1]
}

func (e *errand) succeeded() bool { return e.last() == task.Succeeded }

// next reads the task again, or cancels it when the time has come.
func (s *storm) next(ctx context.Context, rng *rand.Rand, e *errand, id string) api.Task {
	path, method, header := api.PathTasks+"/"+id, http.MethodGet, map[string]string{}
	rest(ctx, time.Duration(50+rng.IntN(400))*time.Millisecond)
	if e.cancelsAfter > 0 && !e.canceling && time.Since(e.began) > e.cancelsAfter {
		method, path = http.MethodPost, path+"/cancel"
	} else if waits := e.cancelsAfter == 0 || e.canceling; waits && e.Seen.Answer != nil && rng.IntN(3) == 0 {
		header["Accept"] = sse.ContentType
	} else if waits && rng.IntN(2) == 0 {
		header[api.HeaderPrefer] = "wait=5"
	}
	for ctx.Err() == nil {
		x := e.Exchange(ctx, s.through, harness.Request{Method: method, Path: path, Header: header}, exchangeTime)
		s.heed(e, x)
		if got := s.take(e, x); got.ID != "" {
			e.canceling = e.canceling || method == http.MethodPost
			return got
		}
		rest(ctx, 200*time.Millisecond)
	}
	return api.Task{}
}

// exchangeTime is longer than any answer takes, so that no caller hangs up: the proxy doesn't tell a node whether its
// answer arrived.
const exchangeTime = 80 * time.Second

// post sends the request to create.
func (s *storm) post(ctx context.Context, rng *rand.Rand, e *errand) harness.Exchanged {
	header := map[string]string{api.HeaderPrefer: "wait=20"}
	switch {
	case e.kind == stream:
		header = map[string]string{"Accept": sse.ContentType}
	case e.cancelsAfter > 0 || rng.IntN(4) == 0:
		header = map[string]string{api.HeaderPrefer: "wait=0"}
	}
	r := harness.Request{Method: http.MethodPost, Path: api.PathTasks, Body: e.Body, Header: header}
	var second sync.WaitGroup
	if e.kind == stream && rng.IntN(2) == 0 {
		r.Tee = &firstID{found: func(id string) { second.Go(func() { s.follow(ctx, e, id) }) }}
	}
	x := e.Exchange(ctx, s.through, r, exchangeTime)
	second.Wait()
	s.heed(e, x)
	return x
}

// firstID finds the task's id in a stream as it comes.
type firstID struct {
	found func(id string)
	read  []byte
	over  bool
}

var idIn = regexp.MustCompile(`"id":"(task_[^"]+)"`)

// Write implements io.Writer.
func (f *firstID) Write(b []byte) (int, error) {
	if f.over {
		return len(b), nil
	}
	f.read = append(f.read, b...)
	if id := idIn.FindSubmatch(f.read); id != nil {
		f.over = true
		f.found(string(id[1]))
	}
	return len(b), nil
}

// follow reads a text by a second stream, at any node.
func (s *storm) follow(ctx context.Context, e *errand, id string) {
	x := e.Exchange(ctx, s.through, harness.Request{
		Method: http.MethodGet, Path: api.PathTasks + "/" + id, Header: map[string]string{"Accept": sse.ContentType},
	}, exchangeTime)
	s.heed(e, x)
	e.Acknowledge(s.take(e, x))
	if x.Text != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.followed++
	}
}

// heed checks that the pieces of a stream are of the task's text, and all of it if the task succeeded.
func (s *storm) heed(e *errand, x harness.Exchanged) {
	if x.Text != "" {
		whole := e.Seen.Answer != nil && strings.HasPrefix(*e.Seen.Answer, x.Text)
		if out := x.Task.Output; !whole || x.Task.State == task.Succeeded && (out == nil || out.Text == nil || *out.Text != x.Text) {
			s.surprise(e, "streamed %q, then %s with %+v", x.Text, x.Task.State, out)
		}
	}
}

// take returns the task in an answer.
func (s *storm) take(e *errand, x harness.Exchanged) api.Task {
	if x.Surprise != "" && !e.refused(x) {
		s.surprise(e, "%s", x.Surprise)
	}
	return x.Task
}

// refused reports whether the budget refused a creation.
func (e *errand) refused(x harness.Exchanged) bool {
	return e.kind == bought && x.Reply.Status == http.StatusTooManyRequests
}

// spent reports whether the budget's pictures are there: a refusal before that may be about reservations of tasks that
// fail.
func (s *storm) spent(b *budget) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return b.bought >= b.of
}

func (s *storm) surprise(e *errand, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.surprises = append(s.surprises, fmt.Sprintf("%s (%s): ", e.Seen.Key, e.kind)+fmt.Sprintf(format, args...))
}

// rest waits d or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
