package main

import (
	"bytes"
	"context"
	"errors"
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
	"unitask/internal/task"
)

// pages is a server whose answers are given.
type pages struct {
	operatorAPI
	answers []func() (api.LogPage, error)
	end     context.CancelFunc
	asked   []string
}

func (p *pages) Log(_ context.Context, cursor string) (api.LogPage, error) {
	p.asked = append(p.asked, cursor)
	if len(p.answers) == 0 {
		p.end()
		return api.LogPage{}, nil
	}
	next := p.answers[0]
	p.answers = p.answers[1:]
	return next()
}

func logEvents() (refused, poll, failed api.LogEvent) {
	at := api.Timestamp{Time: time.Date(2026, 11, 26, 9, 8, 7, 6e6, time.UTC)}
	refused = api.LogEvent{At: at, Request: &api.RequestRecord{
		ID: "req_1", At: at, KeyID: "key_1", Account: "acct_1", Method: http.MethodPost, Route: "POST /api/ai/v1/tasks", Status: 429,
		Code: fault.RateLimitExceeded, DurationMS: 1.25,
	}}
	poll = api.LogEvent{At: at, Request: &api.RequestRecord{ID: "req_2", At: at, Account: "acct_2", TaskID: "task_1", Method: http.MethodGet, Route: "/api/ai/v1/tasks/{task_id}", Status: 200}}
	failed = api.LogEvent{At: at, Task: &api.TaskEnd{
		ID: "task_1", Account: "acct_2", KeyID: "key_2", Capability: "image.generate", Mode: task.Live, State: task.Failed, Code: fault.ProviderTimeout,
		Supplier: "fast\x1b[2J", Attempts: 2, Cost: "0", DurationMS: 12_340,
	}}
	return refused, poll, failed
}

// TestLogs holds the lines that a person and a pipe see, through a restart of the server.
func TestLogs(t *testing.T) {
	refused, poll, failed := logEvents()
	page := func(next string, all ...api.LogEvent) func() (api.LogPage, error) {
		return func() (api.LogPage, error) { return api.LogPage{Data: all, Next: next}, nil }
	}
	away := func() (api.LogPage, error) {
		return api.LogPage{}, &client.UnreachableError{Err: errors.New("refused")}
	}
	lossy := func() (api.LogPage, error) { return api.LogPage{Missed: 7, Next: "a:9"}, nil }
	for name, tt := range map[string]struct {
		tty  bool
		want string
	}{
		"a person": {true, strings.ReplaceAll(`CLOCK 429    1ms POST   /api/ai/v1/tasks RATE_LIMIT_EXCEEDED key_1 req_1
CLOCK 200    0ms GET    /api/ai/v1/tasks/task_1
CLOCK failed 12s image.generate task_1 live PROVIDER_TIMEOUT fast[2J key_2 2 attempts $0
`, "CLOCK", refused.At.Local().Format(time.TimeOnly))},
		"a pipe": {false, `2026-11-26T09:08:07.006Z	request	429	RATE_LIMIT_EXCEEDED	1.25	POST /api/ai/v1/tasks	key_1	acct_1		req_1	
2026-11-26T09:08:07.006Z	request	200		0	GET /api/ai/v1/tasks/{task_id}		acct_2	task_1	req_2	
2026-11-26T09:08:07.006Z	request	200		0	GET /api/ai/v1/tasks/{task_id}		acct_2	task_1	req_2	
2026-11-26T09:08:07.006Z	task	failed	PROVIDER_TIMEOUT	12340	image.generate	key_2	acct_2	task_1	fast` + "\x1b[2J" + `	0
`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				server := &pages{answers: []func() (api.LogPage, error){page("a:2", refused, poll, poll), away, away, lossy, page("a:10", failed)}, end: cancel}
				var out, problems bytes.Buffer
				f := follower{t: &terminal{out: &out, err: &problems, outTTY: tt.tty, style: newStyles(io.Discard), width: func() int { return 200 }}, filter: &logFilter{}, polls: newFolds()}
				if err := f.run(ctx, server, "a:0"); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, out.String()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if diff := cmp.Diff("the server can't be reached; trying again\nfollowing again\n7 events came too fast to be shown\n", problems.String()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"a:0", "a:2", "a:2", "a:2", "a:9", "a:10"}, server.asked); diff != "" {
					t.Errorf("cursors (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestLogsEndAtARefusal: a key that was revoked meanwhile isn't tried again for ever.
func TestLogsEndAtARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &pages{answers: []func() (api.LogPage, error){func() (api.LogPage, error) { return api.LogPage{}, fault.New(fault.Unauthenticated, "revoked") }}}
		f := follower{t: &terminal{out: io.Discard, err: io.Discard}, filter: &logFilter{}, polls: newFolds()}
		if err := f.run(t.Context(), server, ""); fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestLogFilter(t *testing.T) {
	refused, poll, failed := logEvents()
	for _, tt := range []struct {
		filter logFilter
		want   [3]bool // of the refused request, the poll and the failed task
	}{
		{logFilter{}, [3]bool{true, true, true}},
		{logFilter{errors: true}, [3]bool{true, false, true}},
		{logFilter{account: "acct_2"}, [3]bool{false, true, true}},
		{logFilter{key: "key_1"}, [3]bool{true, false, false}},
		{logFilter{code: "PROVIDER_TIMEOUT"}, [3]bool{false, false, true}},
		{logFilter{status: "4XX"}, [3]bool{true, false, false}},
		{logFilter{status: "200"}, [3]bool{false, true, false}},
		{logFilter{capabilities: []string{"image.*"}}, [3]bool{false, false, true}},
		{logFilter{capabilities: []string{"text.*"}}, [3]bool{false, false, false}},
		{logFilter{account: "acct_2", errors: true}, [3]bool{false, false, true}},
	} {
		if err := tt.filter.check(); err != nil {
			t.Errorf("%+v: %v", tt.filter, err)
		}
		if got := [3]bool{tt.filter.takes(refused), tt.filter.takes(poll), tt.filter.takes(failed)}; got != tt.want {
			t.Errorf("%+v takes %v, want %v", tt.filter, got, tt.want)
		}
	}
	for _, bad := range []logFilter{{status: "x"}, {status: "9xx"}, {status: "xx"}, {status: "1000"}, {code: "NO_SUCH"}} {
		if bad.check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
