package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
)

// below is a gateway whose only supplier is a queue that works until it is let go.
func below(t *testing.T) (*host, *jobServer) {
	t.Helper()
	p := newJobServer(t)
	h := newHost(t)
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.Config = `suppliers:
  - {name: one, kind: fal, base_url: "` + p.URL + `", api_key: env:UPSTREAM_KEY}
routes:
  image.generate:
    - {supplier: one, model: fal-ai/flux/schnell, price: {unit: image, output: "0.003"}}
`
	h.start()
	h.useLiveKey()
	return h, p
}

// above is a gateway whose only supplier is the one below.
func above(t *testing.T, b *host) *host {
	t.Helper()
	h := newHost(t)
	h.Env = []string{"GATEWAY_KEY=" + b.key}
	h.Config = `suppliers:
  - {name: gateway, kind: unitask, base_url: "` + b.Base + `", api_key: env:GATEWAY_KEY}
routes:
  image.generate:
    - {supplier: gateway, model: image.generate, price: {unit: image, output: "0.01"}}
`
	h.start()
	h.useLiveKey()
	return h
}

// TestChained sends a picture's task through two gateways and kills the upper one in the middle: before the lower
// one's answer has come back or while the job is asked after, whichever it happens to be. There is one task below and
// one submission to its supplier, and the lower one's charge is in the upper one's ledger.
func TestChained(t *testing.T) {
	t.Parallel()
	lower, p := below(t)
	upper := above(t, lower)
	var made api.Task
	if got := upper.call(http.MethodPost, api.PathTasks, `{"capability":"image.generate","input":{"prompt":"a fox"}}`,
		map[string]string{api.HeaderIdempotencyKey: "chained-key-1"}, &made); got.status != http.StatusAccepted {
		t.Fatalf("created with %d", got.status)
	}
	upper.Until(time.Minute, "the work has reached the supplier", func() bool { started, _ := p.seen(); return len(started) > 0 })
	for range 3 {
		upper.Kill()
		upper.start()
	}
	p.letGo()
	var done api.Task
	upper.Until(time.Minute, "the task has ended", func() bool {
		upper.call(http.MethodGet, api.PathTasks+"/"+made.ID, "", nil, &done)
		return done.State.Terminal()
	})
	if done.State != task.Succeeded || len(done.Output.Images) != 1 || *done.Output.Images[0].Width != 8 || done.Usage.Cost.Amount != "0.01" {
		t.Errorf("the task above: %+v", done)
	}
	tasks, err := lower.List(t.Context(), lower.key)
	if err != nil || len(tasks) != 1 {
		t.Errorf("%d tasks below, %v; want 1", len(tasks), err)
	}
	if started, _ := p.seen(); len(started) != 1 {
		t.Errorf("%d submissions to the supplier, want 1", len(started))
	}
	ledger, err := upper.AdminTask(t.Context(), made.ID)
	if err != nil || len(ledger.Attempts) != 1 || ledger.Attempts[0].State != task.OK || ledger.Attempts[0].Cost != "0.003" {
		t.Errorf("the ledger above: %+v, %v", ledger.Attempts, err)
	}
}

// TestChainedText streams a text through two gateways, and has the errors of the one below come back as ours.
func TestChainedText(t *testing.T) {
	t.Parallel()
	lower := newHost(t).start()
	upper := newHost(t)
	upper.Env = []string{"GATEWAY_KEY=" + lower.key}
	upper.Config = `suppliers:
  - {name: gateway, kind: unitask, base_url: "` + lower.Base + `", api_key: env:GATEWAY_KEY}
routes:
  text.chat:
    - {supplier: gateway, model: text.chat, price: {unit: mtok, input: "1", output: "1"}}
  text.embed:
    - {supplier: gateway, model: text.embed, price: {unit: mtok, input: "1", output: "0"}}
  image.edit:
    - {supplier: gateway, model: image.edit, price: {unit: image, output: "1"}}
`
	upper.start()
	upper.useLiveKey()
	want := lower.must("run", "text.chat", "Say hello")
	if got := upper.must("run", "text.chat", "Say hello"); got != want {
		t.Errorf("above %q, below %q", got, want)
	}
	if got := upper.task("run", "text.embed", "one", "two", "--json"); len(got.Output.Embeddings) != 2 {
		t.Errorf("embeddings: %+v", got.Output)
	}
	lower.must("run", "image.generate", "a fox", "-o", lower.Dir+"/fox.png")
	if got := upper.task("run", "image.edit", "bluer", "images=@"+lower.Dir+"/fox.png", "authorization.person=none", "--json"); len(got.Output.Images) != 1 {
		t.Errorf("edited: %+v", got.Output)
	}
	for prompt, code := range map[string]string{"@fail:CONTENT_POLICY_VIOLATION": "CONTENT_POLICY_VIOLATION", "@fail:INVALID_REQUEST": "INVALID_REQUEST"} {
		var refused api.ErrorResponse
		body := `{"capability":"text.chat","input":{"prompt":"` + prompt + `"}}`
		upper.call(http.MethodPost, api.PathTasks, body, map[string]string{api.HeaderIdempotencyKey: "chained-" + code}, &refused)
		if string(refused.Error.Code) != code {
			t.Errorf("%s: got %+v", prompt, refused)
		}
	}
	if _, got := upper.streamOf("chained-stream", "Say hello"); got+"\n" != want {
		t.Errorf("streamed %q, want %q", got, want)
	}
}
