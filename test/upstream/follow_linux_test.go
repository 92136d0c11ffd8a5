package upstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/api"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// The ends of a stream, for its caller.
const (
	allText   = "the text"
	noText    = "no text, then the error"
	firstText = "the first piece, then the error"
)

// streamAnswer is one answer to a request for a stream.
type streamAnswer struct {
	status int
	plain  []byte // an answer that is no stream
	pieces []string
	tasks  []api.Task
}

func (a streamAnswer) text() string { return strings.Join(a.pieces, "") }

// last is the task of the last event; nil without one.
func (a streamAnswer) last() *api.Task {
	if len(a.tasks) == 0 {
		return nil
	}
	return &a.tasks[len(a.tasks)-1]
}

// told is all that a stream of an output tells, in order.
func told(o api.Output) string {
	all := o.Reasoning
	if o.Text != nil {
		all += *o.Text
	}
	for _, c := range o.ToolCalls {
		all += string(c.Arguments)
	}
	return all
}

// seen sums an answer up. first is the first piece.
func (a streamAnswer) seen(first string) string {
	last := a.last()
	switch {
	case last == nil:
		return fmt.Sprintf("JSON of status %d", a.status)
	case last.State == task.Succeeded && last.Output.Text != nil && told(*last.Output) == a.text():
		return allText
	case last.State == task.Failed && a.text() == "":
		return noText
	case last.State == task.Failed && a.text() == first:
		return firstText
	default:
		return fmt.Sprintf("%q, then %s", a.pieces, last.State)
	}
}

// stream submits the dialect's request under the one key for a stream, and returns the task that it has made
// and the caller's answers. A caller that hangs up does so at the first piece and follows the task anew, with
// all of the text so far.
func (s *service) stream(g *barrier, hangsUp bool) (end api.Task, seen string) {
	s.t.Helper()
	received := g.received
	ctx, hangUp := context.WithCancel(s.t.Context())
	defer hangUp()
	if hangsUp {
		received = func(int) { hangUp() }
	}
	got := s.follow(ctx, http.MethodPost, api.PathTasks, received)
	var id string
	if last := got.last(); last != nil {
		id = last.ID
	} else if id = idOf(reply{got.status, got.plain}); id == "" {
		s.t.Fatalf("the service answered %d %s", got.status, got.plain)
	}
	if hangsUp && ctx.Err() != nil {
		got = s.follow(s.t.Context(), http.MethodGet, api.PathTasks+"/"+id, g.received)
	}
	end = s.end(id)
	if last := got.last(); last != nil {
		if diff := cmp.Diff(*last, end, cmpopts.IgnoreFields(api.Task{}, "RequestID")); diff != "" {
			s.t.Errorf("the stream's last event isn't the task (-stream +task):\n%s", diff)
		}
	} else if !bytes.Contains(got.plain, fmt.Appendf(nil, `"code":%q`, end.Error.Code)) {
		s.t.Errorf("the caller was told %s, the task says %s", got.plain, end.Error.Code)
	}
	return end, got.seen(s.cell.dialect.says[0])
}

// follow makes one request for a stream and reads it to its end, or until ctx ends. received is called at each piece
// with the size of the text so far.
func (s *service) follow(ctx context.Context, method, path string, received func(int)) streamAnswer {
	s.t.Helper()
	r := fixture.Must(http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(s.cell.dialect.body())))(s.t)
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Accept", sse.ContentType)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(api.HeaderIdempotencyKey, theKey)
	} else {
		r.Body, r.ContentLength = nil, 0
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got := streamAnswer{status: resp.StatusCode}
	var raw bytes.Buffer
	defer func() { s.scan("the stream of "+method+" "+path, resp.Header, raw.Bytes()) }()
	body := io.TeeReader(resp.Body, &raw)
	if resp.Header.Get("Content-Type") != sse.ContentType {
		got.plain = fixture.Must(io.ReadAll(body))(s.t)
		return got
	}
	for e, err := range sse.Read(body, 0) {
		if ctx.Err() != nil {
			return got
		}
		if err != nil {
			s.t.Fatal(err)
		}
		got.take(s, e)
		if e.Name == api.EventDelta {
			received(len(got.text()))
		}
	}
	return got
}

// take takes one event.
func (a *streamAnswer) take(s *service, e sse.Event) {
	s.t.Helper()
	var err error
	switch e.Name {
	case api.EventTask:
		var now api.Task
		err = json.Unmarshal([]byte(e.Data), &now)
		a.tasks = append(a.tasks, now)
	case api.EventDelta:
		var piece api.Delta
		err = json.Unmarshal([]byte(e.Data), &piece)
		words := piece.Reasoning + piece.Text
		if c := piece.ToolCall; c != nil {
			words += c.Arguments
		}
		a.pieces = append(a.pieces, words)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
