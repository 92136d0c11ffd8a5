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

// body is a stream's: pieces with a pause before each, then the end.
type body struct {
	pieces []string
	pause  time.Duration
	end    error
	eager  bool            // no pause before the first
	ctx    context.Context //nolint:containedctx // the request's, as a connection has it
}

func (b *body) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		return 0, b.end
	}
	if !b.eager {
		select {
		case <-time.After(b.pause):
		case <-b.ctx.Done():
			return 0, context.Cause(b.ctx)
		}
	}
	b.eager = false
	n := copy(p, b.pieces[0])
	if b.pieces[0] = b.pieces[0][n:]; b.pieces[0] == "" {
		b.pieces = b.pieces[1:]
	}
	return n, nil
}

func (b *body) Close() error { return nil }

// TestStreamedFinish creates tasks as streams that end, break off and fall silent at every place. The task is
// finished all the same, with one creation if it was known.
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
		"silent":                 {pieces: []string{running, one, two}, pause: 50 * time.Second, end: io.EOF, posts: 1, gets: 1},
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
						b := &body{pieces: append([]string{}, tt.pieces...), pause: tt.pause, end: tt.end, eager: true, ctx: r.Context()}
						return &http.Response{StatusCode: http.StatusOK, Header: h, Body: b}, nil
					}
					return serve(func(w http.ResponseWriter, _ *http.Request) {
						writeJSON(w, http.StatusOK, api.Task{ID: "task_1", State: task.Succeeded, Output: &api.Output{Text: new("one two")}})
					})(r)
				})
				c := mustClient(t, client.Config{HTTPClient: &http.Client{Transport: transport}})
				told := ""
				var states []task.State
				got, err := c.Finish(t.Context(), request("text.chat"), client.CreateOptions{
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

// TestFinishTellsATextOnce: the stream of a task that is read on after a cut begins its text anew, and none of it is told
// a second time.
func TestFinishTellsATextOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, ended := event(t, api.EventTask, api.Task{ID: "task_1", State: task.Running}), event(t, api.EventTask, api.Task{ID: "task_1", State: task.Succeeded})
		one, two := event(t, api.EventDelta, api.Delta{Text: "one "}), event(t, api.EventDelta, api.Delta{Text: "two"})
		streams := [][]string{{running, one}, {running, one, two, ended}}
		c := mustClient(t, client.Config{HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			b := &body{pieces: streams[0], end: io.EOF, eager: true, ctx: r.Context()}
			streams = streams[1:]
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {sse.ContentType}}, Body: b}, nil
		})}})
		told, retries := "", 0
		got, err := c.Finish(t.Context(), request("text.chat"), client.CreateOptions{
			OnText: func(piece string) { told += piece }, OnRetry: func(client.Retry) { retries++ },
		}, nil)
		if err != nil || got.State != task.Succeeded || told != "one " || retries != 0 {
			t.Errorf("%+v, %v, told %q and %d retries of the creation", got, err, told, retries)
		}
	})
}

// TestFinishHearsStates: a creation whose text isn't wanted is a stream too, so that each state arrives when it is
// reached.
func TestFinishHearsStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			requests++
			var pieces []string
			for _, s := range []task.State{task.Queued, task.Running, task.Transferring, task.Succeeded} {
				pieces = append(pieces, event(t, api.EventTask, api.Task{ID: "task_1", State: s}))
			}
			b := &body{pieces: pieces, pause: time.Second, end: io.EOF, ctx: r.Context()}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {sse.ContentType}}, Body: b}, nil
		})
		c := mustClient(t, client.Config{HTTPClient: &http.Client{Transport: transport}})
		began := time.Now()
		told := map[task.State]time.Duration{}
		_, err := c.Finish(t.Context(), request("image.generate"), client.CreateOptions{}, func(now api.Task) {
			if _, ok := told[now.State]; !ok {
				told[now.State] = time.Since(began)
			}
		})
		want := map[task.State]time.Duration{
			task.Queued: time.Second, task.Running: 2 * time.Second, task.Transferring: 3 * time.Second, task.Succeeded: 4 * time.Second,
		}
		if diff := cmp.Diff(want, told); diff != "" || err != nil || requests != 1 {
			t.Errorf("%v, %d requests, told (-want +got):\n%s", err, requests, diff)
		}
	})
}

// TestHear: a stream is handed on event by event, and a service without streams tells the task.
func TestHear(t *testing.T) {
	const running, ended = `{"id":"task_1","state":"running"}`, `{"id":"task_1","state":"succeeded"}`
	for name, tt := range map[string]struct {
		kind, body string
		want       []string
	}{
		"by a stream": {
			sse.ContentType,
			"event: task\ndata: " + running + "\n\nevent: delta\ndata: {\"text\":\"one\"}\n\nevent: task\ndata: " + ended + "\n\n",
			[]string{"running", "text one", "succeeded"},
		},
		"broken off":     {sse.ContentType, "event: task\ndata: " + running + "\n\n", []string{"running"}},
		"without stream": {"application/json", ended, []string{"succeeded"}},
		"refused":        {"application/json", `{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := overHandler(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				if tt.want == nil {
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = io.WriteString(w, tt.body)
			})
			var got []string
			err := c.Hear(t.Context(), "task_1",
				func(now api.Task) { got = append(got, string(now.State)) },
				func(piece string) { got = append(got, "text "+piece) })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if whole := name == "by a stream" || name == "without stream"; whole != (err == nil) {
				t.Errorf("Hear: %v", err)
			}
		})
	}
}
