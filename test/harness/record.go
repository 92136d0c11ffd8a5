package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// Record is one task as its caller knows it. One goroutine works on it at a time; a second one may make an exchange and
// Acknowledge its answer.
type Record struct {
	APIKey string
	Body   string // of the request that creates it
	Seen   invariant.Task
	Done   bool // it ended, and no retry is left

	mu sync.Mutex
}

// Exchanged is one exchange about a task.
type Exchanged struct {
	Sent     time.Time
	Reply    Reply
	Err      error // no whole answer came
	Task     api.Task
	Text     string // the pieces of a stream, as far as they came
	Surprise string // what no caller should ever get; "" for an answer as it should be
}

// Exchange makes a request about the task, under its idempotency key if it is a POST with a body, and waits for the whole
// answer, for patience at most. The task in the answer is the zero one if it names none.
func (r *Record) Exchange(ctx context.Context, s *Server, q Request, patience time.Duration) Exchanged {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	q.Key = r.APIKey
	if q.Body != "" {
		r.mu.Lock()
		r.Seen.Posts++
		r.mu.Unlock()
		header := map[string]string{api.HeaderIdempotencyKey: r.Seen.Key}
		for name, value := range q.Header {
			header[name] = value
		}
		q.Header = header
	}
	c := &Capture{Patience: patience}
	q.Client = c.Client()
	e := Exchanged{Sent: time.Now()}
	e.Reply, e.Err = s.Send(ctx, q)
	if CarriesFailure(c.Whole()) {
		r.mu.Lock()
		r.Seen.Shown++
		r.mu.Unlock()
	}
	e.read(q.Method)
	return e
}

// read takes the answer apart.
func (e *Exchanged) read(method string) {
	stream := strings.HasPrefix(e.Reply.Header.Get("Content-Type"), sse.ContentType)
	switch status := e.Reply.Status; {
	case stream:
		e.readStream()
	case e.Err != nil:
	case status == http.StatusOK || status == http.StatusAccepted:
		if err := json.Unmarshal(e.Reply.Body, &e.Task); err != nil || e.Task.ID == "" {
			e.Surprise = fmt.Sprintf("%s: %d %s", method, status, e.Reply.Body)
		}
	default:
		var refused api.ErrorResponse
		if err := json.Unmarshal(e.Reply.Body, &refused); err != nil || status < 500 {
			e.Surprise = fmt.Sprintf("%s: %d %s", method, status, e.Reply.Body)
		} else if refused.TaskID != "" {
			e.Task = api.Task{ID: refused.TaskID, State: task.Failed, Error: &refused.Error}
		}
	}
}

// readStream takes the last state of the task, and adds the pieces of its text up. A stream may be cut short.
func (e *Exchanged) readStream() {
	for event := range sse.Read(bytes.NewReader(e.Reply.Body), 0) {
		var piece api.Delta
		switch data := []byte(event.Data); event.Name {
		case api.EventTask:
			var now api.Task
			if json.Unmarshal(data, &now) == nil {
				e.Task = now
			}
		case api.EventDelta:
			if json.Unmarshal(data, &piece) == nil {
				e.Text += piece.Text
			}
		}
	}
}

// Acknowledge notes that an answer named the task, and reports whether it did.
func (r *Record) Acknowledge(got api.Task) bool {
	if got.ID == "" {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Seen.Acknowledged = append(r.Seen.Acknowledged, got.ID)
	return true
}

// Note is Acknowledge, and notes the task's state.
func (r *Record) Note(got api.Task) bool {
	if !r.Acknowledge(got) {
		return false
	}
	r.Seen.Seen = append(r.Seen.Seen, got.State)
	r.See(got)
	return true
}

// See ends the record if the task ended for good.
func (r *Record) See(got api.Task) {
	r.Done = got.State.Terminal() && (got.Error == nil || !got.Error.Retryable)
}

// Snapshot keeps the operator's view of a task at work.
func (r *Record) Snapshot(got api.AdminTask) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Seen.Snapshots = append(r.Seen.Snapshots, got)
}
