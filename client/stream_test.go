package client_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/client"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// TestStreamedFollow follows a task by streams that end, break off, are silent and are missing. Reads start as far
// apart as without streams, and ask for no stream after a silent one.
func TestStreamedFollow(t *testing.T) {
	at := func(state task.State) string {
		return clienttest.Event(t, api.EventTask, api.Task{ID: "task_1", State: state})
	}
	queued, running, ended := at(task.Queued), at(task.Running), at(task.Succeeded)
	const stream, plain = true, false
	for name, tt := range map[string]struct {
		streams [][]string // the pieces of each stream in turn; nil for a lost connection
		end     error      // of streams whose pieces are through
		pause   time.Duration
		want    []task.State
		asked   []bool // for a stream, by each read
	}{
		"to its end": {
			streams: [][]string{{queued, running, sse.Beat, running, ended}}, end: io.EOF, pause: 9 * time.Second,
			want: []task.State{task.Queued, task.Running, task.Succeeded}, asked: []bool{stream},
		},
		"broken off": {
			streams: [][]string{{queued, running}, {running, ended}}, end: clienttest.ErrReset, pause: time.Second,
			want: []task.State{task.Queued, task.Running, task.Succeeded}, asked: []bool{stream, stream},
		},
		"broken off at once, again and again": {
			streams: [][]string{{queued}, {queued}, {running}, {ended}}, end: io.EOF,
			want: []task.State{task.Queued, task.Running, task.Succeeded}, asked: []bool{stream, stream, stream, stream},
		},
		"held back": {
			streams: [][]string{{}}, end: clienttest.ErrReset,
			want: []task.State{task.Running, task.Succeeded}, asked: []bool{stream, plain, plain},
		},
		"lost meanwhile": {
			streams: [][]string{{queued}, nil, {running, ended}}, end: clienttest.ErrReset,
			want: []task.State{task.Queued, task.Running, task.Succeeded}, asked: []bool{stream, stream, plain, stream},
		},
		"silent": {
			streams: [][]string{{queued, running}, {ended}}, end: io.EOF, pause: 50 * time.Second,
			want: []task.State{task.Running, task.Succeeded}, asked: []bool{stream, plain, plain},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []bool
				streams, plains := tt.streams, 0
				last := time.Time{}
				transport := clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) {
					if gap := time.Since(last); gap < api.MinPoll {
						t.Errorf("a read %v after the one before", gap)
					}
					last = time.Now()
					asked = append(asked, r.Header.Get("Accept") == sse.ContentType)
					if !asked[len(asked)-1] {
						plains++
						return clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) {
							state := task.Running
							if plains > 1 {
								state = task.Succeeded
							}
							clienttest.WriteJSON(w, http.StatusOK, api.Task{ID: "task_1", State: state})
						})(r)
					}
					pieces := streams[0]
					if streams = streams[1:]; pieces == nil {
						return nil, clienttest.ErrReset
					}
					b := &clienttest.Body{Pieces: append([]string{}, pieces...), Pause: tt.pause, End: tt.end, Ctx: r.Context()}
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {sse.ContentType}}, Body: b}, nil
				})
				c := over(t, transport)
				var states []task.State
				got, err := follow(t.Context(), c, "task_1", func(now api.Task) { states = append(states, now.State) })
				if err != nil || got.State != task.Succeeded {
					t.Errorf("%+v, %v", got, err)
				}
				if diff := cmp.Diff(tt.want, states); diff != "" {
					t.Errorf("states (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.asked, asked); diff != "" {
					t.Errorf("asked for a stream (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestStreamRefused answers with an error, which is retried as it is without a stream.
func TestStreamRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepts := map[string]int{}
		transport := clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			accepts[r.Header.Get("Accept")]++
			return clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) {
				clienttest.WriteFault(w, fault.New(fault.CapacityExhausted, "full").WithRetryAfter(time.Second))
			})(r)
		})
		c := over(t, transport)
		_, err := finish(t.Context(), c, nil, nil)
		if diff := cmp.Diff(map[string]int{sse.ContentType: 6}, accepts); diff != "" || codeOf(err) != fault.CapacityExhausted {
			t.Errorf("%v, requests (-want +got):\n%s", err, diff)
		}
	})
}

// FuzzStream takes any bytes for a stream: it ends with a task that succeeded or an error.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{"", "event: task\ndata: {\"id\":\"task_1\",\"state\":\"succeeded\"}\n\n", "event: delta\ndata: {\"text\":\"a\"}\n\n", "event: task\ndata: {\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		transport := clienttest.RoundTripper(func(*http.Request) (*http.Response, error) {
			h := http.Header{"Content-Type": {sse.ContentType}}
			return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(stream))}, nil
		})
		c := over(t, transport, client.WithOnRetry(func(client.Retry) { cancel() }))
		got, err := finish(ctx, c, nil, nil)
		if (err == nil) != (got.State == task.Succeeded) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestStreamsNotLetThrough has a proxy before the service refuse streams, or buffer them: the task is made and
// followed without.
func TestStreamsNotLetThrough(t *testing.T) {
	refused := func(status int) clienttest.RoundTripper {
		return clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	for name, between := range map[string]clienttest.RoundTripper{
		"500": refused(http.StatusInternalServerError),
		"406": refused(http.StatusNotAcceptable),
		"kept": func(r *http.Request) (*http.Response, error) {
			late := &clienttest.Body{Pieces: []string{"late"}, Pause: time.Hour, Ctx: r.Context()}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {sse.ContentType}}, Body: late}, nil
		},
		"kept, head and all": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				c := over(t, clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) {
					asked = append(asked, r.Method+" "+r.Header.Get("Accept"))
					if r.Header.Get("Accept") == sse.ContentType {
						return between(r)
					}
					state := task.Running
					if r.Method == http.MethodGet {
						state = task.Succeeded
					}
					return clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) {
						clienttest.WriteJSON(w, http.StatusOK, api.Task{ID: "task_1", State: state})
					})(r)
				}))
				done, err := finish(t.Context(), c, nil, nil)
				if err != nil || done.State != task.Succeeded {
					t.Errorf("%+v, %v, want the task", done, err)
				}
				want := []string{"POST " + sse.ContentType, "POST application/json", "GET " + sse.ContentType, "GET application/json"}
				if !slices.Equal(asked, want) {
					t.Errorf("asked %q, want %q", asked, want)
				}
			})
		})
	}
}
