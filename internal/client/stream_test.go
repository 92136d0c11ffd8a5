package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// event is one event of a stream as it is sent.
func event(t *testing.T, name string, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(sse.Append(nil, name, raw))
}

// body is a stream's: pieces with a pause before each, then what its end says.
type body struct {
	pieces []string
	pause  time.Duration
	end    error
	ctx    context.Context //nolint:containedctx // the request's, as a connection has it
}

func (b *body) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		return 0, b.end
	}
	select {
	case <-time.After(b.pause):
	case <-b.ctx.Done():
		return 0, context.Cause(b.ctx)
	}
	n := copy(p, b.pieces[0])
	if b.pieces[0] = b.pieces[0][n:]; b.pieces[0] == "" {
		b.pieces = b.pieces[1:]
	}
	return n, nil
}

func (b *body) Close() error { return nil }

// TestStreamedFinish creates tasks as streams that end, break off and fall silent at every place. The
// task is finished all the same, with one creation where it was known.
func TestStreamedFinish(t *testing.T) {
	running := event(t, api.EventTask, api.Task{ID: "task_1", State: task.Running})
	ended := event(t, api.EventTask, api.Task{ID: "task_1", State: task.Succeeded, Output: &api.Output{Text: new("one two")}})
	one, two := event(t, api.EventDelta, api.Delta{Text: "one "}), event(t, api.EventDelta, api.Delta{Text: "two"})
	for name, tt := range map[string]struct {
		pieces []string
		pause  time.Duration
		end    error
		want   string // the pieces told
		posts  int
		gets   int
	}{
		"to its end":             {pieces: []string{running, one, two, ended}, end: io.EOF, want: "one two", posts: 1},
		"byte by byte":           {pieces: strings.Split(running+one+two+ended, ""), pause: time.Second, end: io.EOF, want: "one two", posts: 1},
		"with what is unknown":   {pieces: []string{running, "event: later\ndata: {}\n\n", one, sse.Beat, two, ended}, end: io.EOF, want: "one two", posts: 1},
		"slow, but alive":        {pieces: []string{running, sse.Beat, sse.Beat, one, sse.Beat, two, ended}, pause: 40 * time.Second, end: io.EOF, want: "one two", posts: 1},
		"broken off":             {pieces: []string{running, one}, end: errReset, want: "one ", posts: 1, gets: 1},
		"closed early":           {pieces: []string{running, one}, end: io.EOF, want: "one ", posts: 1, gets: 1},
		"silent":                 {pieces: []string{running, one, two}, pause: 50 * time.Second, end: io.EOF, posts: 2},
		"broken off in an event": {pieces: []string{running, one[:len(one)-8]}, end: errReset, posts: 1, gets: 1},
		"broken off at once":     {end: errReset, posts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				posts, gets := 0, 0
				transport := roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost {
						posts++
					} else {
						gets++
					}
					if r.Method == http.MethodPost && posts == 1 {
						h := http.Header{"Content-Type": {sse.ContentType}}
						b := &body{pieces: append([]string{}, tt.pieces...), pause: tt.pause, end: tt.end, ctx: r.Context()}
						return &http.Response{StatusCode: http.StatusOK, Header: h, Body: b}, nil
					}
					return serve(func(w http.ResponseWriter, _ *http.Request) {
						writeJSON(w, http.StatusOK, api.Task{ID: "task_1", State: task.Succeeded, Output: &api.Output{Text: new("one two")}})
					})(r)
				})
				c := mustClient(t, client.Config{HTTPClient: &http.Client{Transport: transport}})
				told := ""
				var states []task.State
				got, err := c.Finish(t.Context(), api.CreateRequest{Capability: "text.chat"}, client.CreateOptions{
					OnText: func(piece string) { told += piece },
				}, func(now api.Task) { states = append(states, now.State) })
				if err != nil || got.State != task.Succeeded || *got.Output.Text != "one two" {
					t.Errorf("%+v, %v", got, err)
				}
				if told != tt.want || posts != tt.posts || gets != tt.gets {
					t.Errorf("told %q by %d creations and %d reads, want %q by %d and %d", told, posts, gets, tt.want, tt.posts, tt.gets)
				}
				if len(states) == 0 || states[len(states)-1] != task.Succeeded {
					t.Errorf("states %v", states)
				}
			})
		})
	}
}

// TestStreamRefused answers with an error, which is retried as it is without a stream.
func TestStreamRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepts := map[string]int{}
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			accepts[r.Header.Get("Accept")]++
			return serve(func(w http.ResponseWriter, _ *http.Request) {
				writeFault(w, fault.New(fault.CapacityExhausted, "full").WithRetryAfter(time.Second))
			})(r)
		})
		c := mustClient(t, client.Config{HTTPClient: &http.Client{Transport: transport}})
		_, err := c.Create(t.Context(), api.CreateRequest{Capability: "text.chat"}, client.CreateOptions{OnText: func(string) {}})
		if diff := cmp.Diff(map[string]int{sse.ContentType: 6}, accepts); diff != "" || fault.CodeOf(err) != fault.CapacityExhausted {
			t.Errorf("%v, requests (-want +got):\n%s", err, diff)
		}
	})
}

// FuzzStream takes any bytes for a stream: it ends with a task or an error, and tells no empty piece.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{"", "event: task\ndata: {\"id\":\"task_1\",\"state\":\"succeeded\"}\n\n", "event: delta\ndata: {\"text\":\"a\"}\n\n", "event: task\ndata: {\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		transport := roundTripper(func(*http.Request) (*http.Response, error) {
			h := http.Header{"Content-Type": {sse.ContentType}}
			return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(stream))}, nil
		})
		c := mustClient(t, client.Config{HTTPClient: &http.Client{Transport: transport}, OnRetry: func(client.Retry) { cancel() }})
		got, err := c.Create(ctx, api.CreateRequest{Capability: "text.chat"}, client.CreateOptions{OnText: func(piece string) {
			if piece == "" {
				t.Error("an empty piece")
			}
		}})
		if (err == nil) != (got.Task.ID != "") {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
