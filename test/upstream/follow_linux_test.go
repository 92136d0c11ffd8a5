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

// What the caller of a stream is told.
const (
	allText   = "the text"
	noText    = "no text, then the error"
	firstText = "the first piece, then the error"
)

// told is one answer to a request for a stream.
type told struct {
	status int
	plain  []byte // an answer that is no stream
	pieces []string
	tasks  []api.Task
}

func (a told) text() string { return strings.Join(a.pieces, "") }

// last is the task as it was told last; nil where none was.
func (a told) last() *api.Task {
	if len(a.tasks) == 0 {
		return nil
	}
	return &a.tasks[len(a.tasks)-1]
}

// seen sums an answer up.
func (a told) seen() string {
	last := a.last()
	switch {
	case last == nil:
		return fmt.Sprintf("JSON of status %d", a.status)
	case last.State == task.Succeeded && last.Output.Text != nil && *last.Output.Text == a.text():
		return allText
	case last.State == task.Failed && a.text() == "":
		return noText
	case last.State == task.Failed && a.text() == words[0]:
		return firstText
	default:
		return fmt.Sprintf("%q, then %s", a.pieces, last.State)
	}
}

// stream submits the dialect's request under the one key for a stream, and returns the task that it has made
// and what the caller was told. One who hangs up does so at the first piece and follows the task anew, with
// all of the text so far.
func (s *service) stream(g *barrier, hangsUp bool) (end api.Task, seen string) {
	s.t.Helper()
	heard := g.heard
	ctx, hangUp := context.WithCancel(s.t.Context())
	defer hangUp()
	if hangsUp {
		heard = func(int) { hangUp() }
	}
	got := s.follow(ctx, http.MethodPost, api.PathTasks, heard)
	var id string
	if last := got.last(); last != nil {
		id = last.ID
	} else if id = idOf(reply{got.status, got.plain}); id == "" {
		s.t.Fatalf("the service answered %d %s", got.status, got.plain)
	}
	if hangsUp && ctx.Err() != nil {
		got = s.follow(s.t.Context(), http.MethodGet, api.PathTasks+"/"+id, g.heard)
	}
	end = s.end(id)
	if last := got.last(); last != nil {
		if diff := cmp.Diff(*last, end, cmpopts.IgnoreFields(api.Task{}, "RequestID")); diff != "" {
			s.t.Errorf("what the stream told last isn't the task (-stream +task):\n%s", diff)
		}
	} else if !bytes.Contains(got.plain, fmt.Appendf(nil, `"code":%q`, end.Error.Code)) {
		s.t.Errorf("the caller was told %s, the task says %s", got.plain, end.Error.Code)
	}
	return end, got.seen()
}

// follow makes one request for a stream and reads it to its end, or until ctx ends. heard hears of each piece
// how much of the text has come.
func (s *service) follow(ctx context.Context, method, path string, heard func(int)) told {
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
	got := told{status: resp.StatusCode}
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
			heard(len(got.text()))
		}
	}
	return got
}

// take takes one event.
func (a *told) take(s *service, e sse.Event) {
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
		a.pieces = append(a.pieces, piece.Text)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
