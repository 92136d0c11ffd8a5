package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// TestStreamedFinish creates tasks as streams that end, break off and fall silent at every place. The task is
// finished all the same, with one creation if it was known.
func TestStreamedFinish(t *testing.T) {
	running := clienttest.Event(t, api.EventTask, api.Task{ID: "task_1", State: task.Running})
	ended := clienttest.Event(t, api.EventTask, api.Task{ID: "task_1", State: task.Succeeded, Output: &api.Output{Text: new("one two")}})
	one, two := clienttest.Event(t, api.EventDelta, api.Delta{Text: "one "}), clienttest.Event(t, api.EventDelta, api.Delta{Text: "two"})
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
		"broken off":             {pieces: []string{running, one}, end: clienttest.ErrReset, want: "one ", posts: 1, gets: 1},
		"closed early":           {pieces: []string{running, one}, end: io.EOF, want: "one ", posts: 1, gets: 1},
		"silent":                 {pieces: []string{running, one, two}, pause: 50 * time.Second, end: io.EOF, posts: 1, gets: 1},
		"broken off in an event": {pieces: []string{running, one[:len(one)-8]}, end: clienttest.ErrReset, posts: 1, gets: 1},
		"broken off at once":     {end: clienttest.ErrReset, posts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				posts, gets := 0, 0
				transport := clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost {
						posts++
					} else {
						gets++
					}
					if r.Method == http.MethodPost && posts == 1 {
						h := http.Header{"Content-Type": {sse.ContentType}}
						b := &clienttest.Body{Pieces: append([]string{}, tt.pieces...), Pause: tt.pause, End: tt.end, Eager: true, Ctx: r.Context()}
						return &http.Response{StatusCode: http.StatusOK, Header: h, Body: b}, nil
					}
					return clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) {
						clienttest.WriteJSON(w, http.StatusOK, api.Task{ID: "task_1", State: task.Succeeded, Output: &api.Output{Text: new("one two")}})
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
		running, ended := clienttest.Event(t, api.EventTask, api.Task{ID: "task_1", State: task.Running}), clienttest.Event(t, api.EventTask, api.Task{ID: "task_1", State: task.Succeeded})
		one, two := clienttest.Event(t, api.EventDelta, api.Delta{Text: "one "}), clienttest.Event(t, api.EventDelta, api.Delta{Text: "two"})
		hm := clienttest.Event(t, api.EventDelta, api.Delta{Reasoning: "hm"})
		streams := [][]string{{running, hm, one}, {running, hm, one, two, ended}}
		c := mustClient(t, client.Config{HTTPClient: &http.Client{Transport: clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			b := &clienttest.Body{Pieces: streams[0], End: io.EOF, Eager: true, Ctx: r.Context()}
			streams = streams[1:]
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {sse.ContentType}}, Body: b}, nil
		})}})
		told, thought, retries := "", "", 0
		got, err := c.Finish(t.Context(), request("text.chat"), client.CreateOptions{
			OnText: func(piece string) { told += piece }, OnThought: func(piece string) { thought += piece },
			OnRetry: func(client.Retry) { retries++ },
		}, nil)
		if err != nil || got.State != task.Succeeded || told != "one " || thought != "hm" || retries != 0 {
			t.Errorf("%+v, %v, told %q and %q and %d retries of the creation", got, err, told, thought, retries)
		}
	})
}

// TestFinishHearsStates: a creation whose text isn't wanted is a stream too, so that each state arrives when it is
// reached.
func TestFinishHearsStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		transport := clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			requests++
			var pieces []string
			for _, s := range []task.State{task.Queued, task.Running, task.Transferring, task.Succeeded} {
				pieces = append(pieces, clienttest.Event(t, api.EventTask, api.Task{ID: "task_1", State: s}))
			}
			b := &clienttest.Body{Pieces: pieces, Pause: time.Second, End: io.EOF, Ctx: r.Context()}
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
