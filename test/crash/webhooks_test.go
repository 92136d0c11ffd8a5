package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/internal/webhook"
	"unitask/test/harness"
)

const (
	hookEnds   = 120
	hookKills  = 3
	endsAtOnce = 8
)

// TestWebhooksKilled ends UNITASK_WEBHOOK_ENDS tasks, by success, failure and cancellation, while the server is killed
// UNITASK_WEBHOOK_KILLS times and receivers fail, hang, redirect and answer 410. Every end that its caller or the store
// knows of has to be delivered to the endpoint that is there all the time and to the one that fails now and then, with
// signatures that the specification's own library verifies.
func TestWebhooksKilled(t *testing.T) {
	ends := int(harness.Setting(t, "UNITASK_WEBHOOK_ENDS", hookEnds))
	kills := int(harness.Setting(t, "UNITASK_WEBHOOK_KILLS", hookKills))
	seed := harness.Setting(t, "UNITASK_CRASH_SEED", rand.Uint64())
	t.Logf("UNITASK_WEBHOOK_ENDS=%d UNITASK_WEBHOOK_KILLS=%d UNITASK_CRASH_SEED=%d", ends, kills, seed)
	r := newReceivers(t, seed)
	s := harness.NewServer(t)
	s.Config = "webhook_http: true\nwebhook_allow: [127.0.0.1]\nlimits: {creates_per_minute: 0, reads_per_minute: 0, open_tasks: 0}\n"
	s.Start()
	h := hooked{Server: s, key: s.MustNewKey(task.Test)}
	for _, kind := range []string{"good", "fails", "hangs", "redirects", "gone"} {
		r.endpoint(kind, h.create(`{"url":"`+r.base+"/"+kind+`"}`))
	}
	h.endAll(ends, kills, rand.New(rand.NewPCG(seed, 1)))
	ended := h.ended()
	if len(ended) < ends*9/10 {
		t.Errorf("only %d of %d tasks ended", len(ended), ends)
	}
	states := map[task.State]int{}
	for _, state := range ended {
		states[state]++
	}
	if states[task.Succeeded] == 0 || states[task.Failed] == 0 || states[task.Canceled] == 0 {
		t.Errorf("the run put too little to the test: %v", states)
	}
	h.Until(3*time.Minute+time.Duration(ends)*50*time.Millisecond, "every end is delivered", func() bool {
		h.hasten(r)
		return len(r.missing("good", ended)) == 0 && len(r.missing("fails", ended)) == 0
	})
	h.judgeGone(r)
	h.Kill() // no request comes from now on
	r.verify(t, ended)
	t.Logf("%d ends (%v), %d kills, %d requests to receivers", len(ended), states, kills, len(r.all()))
}

// hooked is a server with the account's key.
type hooked struct {
	*harness.Server

	key      string
	ids      []string
	hastened time.Time
}

func (h *hooked) create(body string) api.Webhook {
	h.T.Helper()
	var made api.Webhook
	reply, err := h.Send(h.T.Context(), harness.Request{Method: http.MethodPost, Path: api.PathWebhooks, Key: h.key, Body: body})
	if err != nil || reply.Status != http.StatusCreated || json.Unmarshal(reply.Body, &made) != nil {
		h.T.Fatalf("%d %s %v", reply.Status, reply.Body, err)
	}
	return made
}

// prompts end by success, by failure and, once they are canceled, by cancellation.
var prompts = []string{"1+1", "@fail:CONTENT_POLICY_VIOLATION", "@stuck:running a boat"}

// endAll has callers end tasks while the server is killed at random moments.
func (h *hooked) endAll(ends, kills int, rng *rand.Rand) {
	ctx, stop := context.WithCancel(h.T.Context())
	defer stop()
	var all sync.WaitGroup
	var mu sync.Mutex
	work := make(chan int)
	var done int
	for range endsAtOnce {
		all.Go(func() {
			for n := range work {
				id := h.end(ctx, n)
				mu.Lock()
				if id != "" {
					h.ids = append(h.ids, id)
				}
				done++
				mu.Unlock()
			}
		})
	}
	all.Go(func() {
		defer close(work)
		for n := range ends {
			work <- n
		}
	})
	for k := range kills { // spread over the run: each after its part of the ends
		for at := ends * (k + 1) / (kills + 1); ; <-time.After(time.Millisecond) {
			mu.Lock()
			reached := done >= at
			mu.Unlock()
			if reached {
				break
			}
		}
		<-time.After(time.Duration(rng.IntN(40)) * time.Millisecond)
		h.Kill()
		h.Start()
	}
	all.Wait()
}

// end creates a task, and cancels it if it is one that would run for ever. Each request is sent again until it is
// answered.
func (h *hooked) end(ctx context.Context, n int) string {
	prompt := prompts[n%len(prompts)]
	body := fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, prompt)
	if strings.HasPrefix(prompt, "@stuck") {
		body = fmt.Sprintf(`{"capability":"image.generate","input":{"prompt":%q}}`, prompt)
	}
	var got struct {
		ID     string `json:"id"`
		TaskID string `json:"task_id"`
	}
	h.until(ctx, harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: h.key, Body: body,
		Header: map[string]string{api.HeaderIdempotencyKey: fmt.Sprintf("webhook-%06d", n), api.HeaderPrefer: "wait=0"},
	}, &got)
	id := got.ID + got.TaskID
	if strings.HasPrefix(prompt, "@stuck") && id != "" {
		h.until(ctx, harness.Request{Method: http.MethodPost, Path: api.PathTasks + "/" + id + "/cancel", Key: h.key}, &got)
	}
	return id
}

// until sends a request until it has an answer that isn't about the server's end.
func (h *hooked) until(ctx context.Context, r harness.Request, into any) {
	for ctx.Err() == nil {
		reply, err := h.Send(ctx, r)
		if err == nil && reply.Status != http.StatusServiceUnavailable && reply.Status != http.StatusTooManyRequests {
			_ = json.Unmarshal(reply.Body, into)
			return
		}
		<-time.After(10 * time.Millisecond)
	}
}

// ended waits until every task has ended, and returns how, by the event's id.
func (h *hooked) ended() map[string]task.State {
	h.T.Helper()
	out := map[string]task.State{}
	for _, id := range h.ids {
		var got api.Task
		h.Until(2*time.Minute, id+" has ended", func() bool {
			reply, err := h.Send(h.T.Context(), harness.Request{Path: api.PathTasks + "/" + id, Key: h.key})
			return err == nil && json.Unmarshal(reply.Body, &got) == nil && got.State.Terminal()
		})
		out[id+".0"] = got.State
	}
	return out
}

// hasten brings forward, twice a second, what waits for the end of a pause. What a killed server has leased comes by
// itself.
func (h *hooked) hasten(r *receivers) {
	if time.Since(h.hastened) < time.Second/2 {
		return
	}
	for _, kind := range []string{"good", "fails"} {
		one := api.PathWebhooks + "/" + r.ids[kind] + "/deliveries"
		for cursor := ""; ; { // a page looks at a bounded number of deliveries, and may be empty
			var list api.DeliveryList
			reply, err := h.Send(h.T.Context(), harness.Request{Method: http.MethodGet, Path: one + "?state=waiting&limit=200&cursor=" + url.QueryEscape(cursor), Key: h.key})
			if err != nil || json.Unmarshal(reply.Body, &list) != nil {
				break
			}
			for _, d := range list.Data {
				if d.NextAt == nil || time.Until(d.NextAt.Time) < time.Second {
					continue
				}
				_, _ = h.Send(h.T.Context(), harness.Request{Method: http.MethodPost, Path: one + "/" + d.ID + "/replay", Key: h.key})
			}
			if list.NextCursor == nil {
				break
			}
			cursor = *list.NextCursor
		}
	}
	h.hastened = time.Now()
}

// judgeGone checks that the endpoint which answered 410 is disabled.
func (h *hooked) judgeGone(r *receivers) {
	h.T.Helper()
	var got api.Webhook
	reply, err := h.Send(h.T.Context(), harness.Request{Path: api.PathWebhooks + "/" + r.ids["gone"], Key: h.key})
	if err != nil || json.Unmarshal(reply.Body, &got) != nil || got.Disabled == nil || *got.Disabled != string(webhook.DisabledGone) {
		h.T.Errorf("the endpoint that is gone: %s %v", reply.Body, err)
	}
}

// delivery is one request to a receiver; its members are those that verify.mjs reads.
type delivery struct {
	Kind    string            `json:"kind"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	taken   bool
}

// receivers are several in one: each kind has a path of its own.
type receivers struct {
	base    string
	ids     map[string]string // of the endpoints, by kind
	secrets map[string]string

	mu   sync.Mutex
	rng  *rand.Rand
	got  []delivery
	over chan struct{} // closed at the end of the test
}

func newReceivers(t *testing.T, seed uint64) *receivers {
	t.Helper()
	r := &receivers{ids: map[string]string{}, secrets: map[string]string{}, rng: rand.New(rand.NewPCG(seed, 7)), over: make(chan struct{})}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(r.over) })
	r.base = server.URL
	return r
}

func (r *receivers) endpoint(kind string, made api.Webhook) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[kind], r.secrets[kind] = made.ID, made.Secret
}

// ServeHTTP keeps the request and answers as its kind does.
func (r *receivers) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	kind := strings.TrimPrefix(req.URL.Path, "/")
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the server was killed in the middle of it
	}
	headers := map[string]string{}
	for name := range req.Header {
		headers[strings.ToLower(name)] = req.Header.Get(name)
	}
	r.mu.Lock()
	status := map[string]int{"good": http.StatusNoContent, "redirects": http.StatusFound, "gone": http.StatusGone, "followed": http.StatusOK}[kind]
	if kind == "fails" {
		status = []int{200, 200, 202, 500, 503}[r.rng.IntN(5)]
	}
	r.got = append(r.got, delivery{kind, r.secrets[kind], headers, string(body), status/100 == 2})
	r.mu.Unlock()
	switch kind {
	case "hangs":
		select {
		case <-r.over:
		case <-req.Context().Done():
		}
		return
	case "redirects":
		w.Header().Set("Location", r.base+"/followed")
	}
	w.WriteHeader(status)
}

func (r *receivers) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[:len(r.got):len(r.got)]
}

// missing returns the events that a receiver hasn't taken.
func (r *receivers) missing(kind string, ended map[string]task.State) (out []string) {
	taken := map[string]bool{}
	for _, d := range r.all() {
		if d.Kind == kind && d.taken {
			taken[d.Headers["webhook-id"]] = true
		}
	}
	for id := range ended {
		if !taken[id] {
			out = append(out, id)
		}
	}
	return out
}

// verify has the specification's library check every request, and compares each with the task's end.
func (r *receivers) verify(t *testing.T, ended map[string]task.State) {
	t.Helper()
	for _, d := range r.all() {
		var body struct {
			Type string
			Data struct{ ID string }
		}
		id := d.Headers["webhook-id"]
		if d.Kind == "followed" {
			t.Error("a redirect was followed")
		}
		if json.Unmarshal([]byte(d.Body), &body) != nil || body.Data.ID+".0" != id || ended[id] != "" && body.Type != "task."+string(ended[id]) {
			t.Errorf("event %s, which ended %s, says %s", id, ended[id], d.Body)
		}
	}
	modules, err := filepath.Abs(filepath.Join("..", "npm", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	node, missing := exec.LookPath("node")
	if _, err := os.Stat(filepath.Join(modules, "standardwebhooks")); err != nil || missing != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the specification's library or Node is not installed (make npm)")
		}
		t.Log("not verified: the specification's library or Node is not installed (make npm)")
		return
	}
	raw, err := json.Marshal(r.all())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "deliveries.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "verify.mjs"), modules, file).CombinedOutput()
	if want := strconv.Itoa(len(r.all())); err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%v, verified %s of %s", err, out, want)
	}
}
