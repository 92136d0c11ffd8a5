package client_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/client"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// script is a task that changes at given times, served as docs/api.md says: ETag, If-None-Match,
// Prefer: wait, Retry-After. It runs inside a synctest bubble.
type script struct {
	born       time.Time
	moves      []move
	retryAfter string
	away       func(time.Duration) bool // the server can't be reached at this time
	reads      []read
}

type move struct {
	at    time.Duration
	state task.State
}

type read struct {
	start time.Duration
	wait  int
	match string
	code  int
}

func (s *script) revision() int {
	n := -1
	for _, m := range s.moves {
		if time.Since(s.born) >= m.at {
			n++
		}
	}
	return n
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	got := read{start: time.Since(s.born), match: r.Header.Get("If-None-Match")}
	got.wait, _ = strconv.Atoi(strings.TrimPrefix(r.Header.Get("Prefer"), "wait="))
	defer func() { s.reads = append(s.reads, got) }()
	if s.away != nil && s.away(got.start) {
		return nil, clienttest.ErrReset
	}
	known := s.revision()
	if got.match != "" {
		known, _ = strconv.Atoi(got.match)
	}
	end := time.Now().Add(time.Duration(got.wait) * time.Second)
	for s.revision() == known && !s.moves[known].state.Terminal() && time.Now().Before(end) {
		if r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return clienttest.Serve(func(w http.ResponseWriter, _ *http.Request) {
		rev := s.revision()
		w.Header().Set("ETag", strconv.Itoa(rev))
		state := s.moves[rev].state
		if !state.Terminal() {
			w.Header().Set("Retry-After", s.retryAfter)
		}
		got.code = http.StatusOK
		if got.match == strconv.Itoa(rev) {
			got.code = http.StatusNotModified
			w.WriteHeader(got.code)
			return
		}
		clienttest.WriteJSON(w, got.code, api.Task{ID: "task_1", State: state})
	})(r)
}

func (s *script) client(t *testing.T) *client.Client {
	s.born = time.Now()
	return over(t, s)
}

// checkReads asserts the rules of docs/api.md for a client that polls.
func (s *script) checkReads(t *testing.T, least time.Duration) {
	t.Helper()
	for i, r := range s.reads[1:] {
		gap := r.start - s.reads[i].start
		if gap < least || gap > api.MaxPoll {
			t.Errorf("reads %d and %d started %v apart, want %v to %v", i, i+1, gap, least, api.MaxPoll)
		}
		if held := time.Duration(s.reads[i].wait) * time.Second; held == 0 || held >= gap {
			t.Errorf("read %d asked to wait %v in an interval of %v", i, held, gap)
		}
	}
}

func TestFollow(t *testing.T) {
	tests := []struct {
		name       string
		moves      []move
		retryAfter string
		least      time.Duration
		want       []task.State
		latest     time.Duration // of the end
	}{
		{"already over", []move{{0, task.Succeeded}}, "", api.MinPoll, []task.State{task.Succeeded}, 0},
		{
			"an hour",
			[]move{{0, task.Queued}, {10 * time.Second, task.Running}, {time.Hour, task.Succeeded}},
			"2", api.MinPoll,
			[]task.State{task.Queued, task.Running, task.Succeeded},
			time.Hour + 2*time.Second,
		},
		{
			"changes faster than reads",
			[]move{{0, task.Queued}, {time.Second, task.Running}, {1100 * time.Millisecond, task.Transferring}, {1200 * time.Millisecond, task.Failed}},
			"2", api.MinPoll,
			[]task.State{task.Running, task.Failed},
			3 * time.Second,
		},
		{"a longer advice", []move{{0, task.Queued}, {time.Minute, task.Canceled}}, "4", 4 * time.Second, []task.State{task.Queued, task.Canceled}, time.Minute + 4*time.Second},
		{"an advice beyond the law", []move{{0, task.Queued}, {time.Minute, task.Succeeded}}, "3600", 4999 * time.Millisecond, []task.State{task.Queued, task.Succeeded}, time.Minute + 5*time.Second},
		{"an advice below it", []move{{0, task.Queued}, {time.Minute, task.Succeeded}}, "0", api.MinPoll, []task.State{task.Queued, task.Succeeded}, time.Minute + 2*time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{moves: tt.moves, retryAfter: tt.retryAfter}
				var seen []task.State
				c := s.client(t)
				got, err := follow(t.Context(), c, "task_1", func(now api.Task) { seen = append(seen, now.State) })
				if err != nil {
					t.Fatal(err)
				}
				if want := tt.want[len(tt.want)-1]; got.State != want {
					t.Errorf("ended with %s, want %s", got.State, want)
				}
				if diff := cmp.Diff(tt.want, seen); diff != "" {
					t.Errorf("states met (-want +got):\n%s", diff)
				}
				if took := time.Since(s.born); took > tt.latest {
					t.Errorf("took %v, want at most %v", took, tt.latest)
				}
				s.checkReads(t, tt.least)
				for i, r := range s.reads[1:] {
					if r.match == "" {
						t.Errorf("read %d had no If-None-Match", i+1)
					}
				}
			})
		})
	}
}

func TestFollowJitters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{moves: []move{{0, task.Queued}, {10 * time.Minute, task.Succeeded}}, retryAfter: "2"}
		if _, err := follow(t.Context(), s.client(t), "task_1", nil); err != nil {
			t.Fatal(err)
		}
		gaps := map[time.Duration]bool{}
		for i := range s.reads[1:] {
			gaps[s.reads[i+1].start-s.reads[i].start] = true
		}
		if len(gaps) < len(s.reads)/2 {
			t.Errorf("%d different intervals among %d reads: no jitter", len(gaps), len(s.reads))
		}
	})
}

func TestFollowSurvivesTheServersAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{moves: []move{{0, task.Running}, {2 * time.Minute, task.Succeeded}}, retryAfter: "2"}
		s.away = func(at time.Duration) bool { return at > 20*time.Second && at < 90*time.Second }
		got, err := follow(t.Context(), s.client(t), "task_1", nil)
		if err != nil || got.State != task.Succeeded {
			t.Errorf("Follow = %s, %v, want succeeded", got.State, err)
		}
		s.checkReads(t, api.MinPoll)
	})
}

func TestFollowEnds(t *testing.T) {
	tests := []struct {
		name     string
		fault    *fault.Error
		want     error
		requests int
	}{
		{"at an unknown task", fault.New(fault.NotFound, "no such task"), fault.New(fault.NotFound, "no such task"), 1},
		{"with its context while the service is full", fault.New(fault.CapacityExhausted, "full").WithRetryAfter(30 * time.Second), context.DeadlineExceeded, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
				defer cancel()
				requests := 0
				_, err := follow(ctx, overHandler(t, func(w http.ResponseWriter, _ *http.Request) {
					requests++
					clienttest.WriteFault(w, tt.fault)
				}), "task_1", nil)
				if fmt.Sprint(err) != tt.want.Error() || requests != tt.requests {
					t.Errorf("ended with %v after %d requests, want %v after %d", err, requests, tt.want, tt.requests)
				}
			})
		})
	}
}

// TestWatchCreated: the first read keeps the pause that the creation's answer advised.
func TestWatchCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{moves: []move{{0, task.Queued}, {time.Second, task.Running}, {10 * time.Second, task.Succeeded}}, retryAfter: "2"}
		c := s.client(t)
		var seen []task.State
		created := &client.Task[output]{ID: "task_1", State: client.Queued, RetryAfter: 3 * time.Second}
		_, err := heard(client.Watch(t.Context(), c, created), func(now api.Task) { seen = append(seen, now.State) }, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]task.State{task.Running, task.Succeeded}, seen); diff != "" {
			t.Errorf("states met (-want +got):\n%s", diff)
		}
		if first := s.reads[0].start; first < 3*time.Second || first > 4*time.Second {
			t.Errorf("the first read came after %v, want the advised 3s and up to 1s by chance", first)
		}
	})
}
