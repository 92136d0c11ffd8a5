package e2e_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// queues is an upstream that speaks fal's queue and Replicate's predictions, as they are published. Of
// each job it tells an address of the result that is dead the first time, as one that has expired.
type queues struct {
	t    *testing.T
	mu   sync.Mutex
	seen map[string]int // requests, by method and path
}

func (q *queues) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.mu.Lock()
	q.seen[r.Method+" "+r.URL.Path]++
	polls := q.seen["GET /fal-ai/flux/requests/job-1"]
	q.mu.Unlock()
	file := fmt.Sprintf("http://%s/files/%d.png", r.Host, polls)
	answer := func(body string, args ...any) { _, _ = fmt.Fprintf(w, body, args...) }
	switch r.Method + " " + r.URL.Path {
	case "POST /fal-ai/flux/schnell":
		if got := r.Header.Get("Authorization"); got != "Key upstream-key" {
			q.t.Errorf("the queue's key: %q", got)
		}
		answer(`{"status":"IN_QUEUE","request_id":"job-1","status_url":"https://elsewhere.example/requests/job-1/status"}`)
	case "GET /fal-ai/flux/requests/job-1/status":
		answer(`{"status":"COMPLETED"}`)
	case "GET /fal-ai/flux/requests/job-1":
		answer(`{"images":[{"url":"%s","content_type":"image/png","width":8,"height":4}],"has_nsfw_concepts":[false]}`, file)
	case "GET /files/2.png":
		if r.Header.Get("Authorization") != "" {
			q.t.Error("a file is fetched with the supplier's key")
		}
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 4))); err != nil {
			q.t.Error(err)
		}
		_, _ = io.Copy(w, &picture)
	case "POST /v1/models/meta/meta-llama-3-8b-instruct/predictions":
		w.WriteHeader(http.StatusCreated)
		answer(`{"id":"p1","status":"processing"}`)
	case "GET /v1/predictions/p1":
		answer(`{"id":"p1","status":"succeeded","output":["Hel","lo."],"metrics":{"input_token_count":4,"output_token_count":2}}`)
	default:
		http.NotFound(w, r)
	}
}

// TestQueuedUpstreams has a picture made and a prompt answered by suppliers whose work is a job: each is
// submitted once, and a result's dead address is replaced by asking after the job again.
func TestQueuedUpstreams(t *testing.T) {
	q := &queues{t: t, seen: map[string]int{}}
	upstream := httptest.NewServer(q)
	t.Cleanup(upstream.Close)
	h := newHost(t)
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.Config = `suppliers:
  - {name: one, kind: fal, base_url: "` + upstream.URL + `", api_key: env:UPSTREAM_KEY}
  - {name: two, kind: replicate, base_url: "` + upstream.URL + `", api_key: env:UPSTREAM_KEY}
routes:
  image.generate:
    - {supplier: one, model: fal-ai/flux/schnell, price: {unit: image, output: "0.003"}}
  text.chat:
    - {supplier: two, model: meta/llama-3-8b-instruct, price: {unit: mtok, input: "0.05", output: "0.25"}}
`
	h.start()
	h.useLiveKey()
	made := h.task("run", "image.generate", "a red fox", "--json")
	if len(made.Output.Images) != 1 || *made.Output.Images[0].Width != 8 || *made.Output.Images[0].Height != 4 {
		t.Errorf("image.generate: %+v", made.Output)
	}
	if strings.Contains(made.Output.Images[0].URL, upstream.URL) {
		t.Errorf("the artifact's address is the supplier's: %s", made.Output.Images[0].URL)
	}
	if made.Usage == nil || made.Usage.Cost.Amount != "0.003" {
		t.Errorf("usage: %+v", made.Usage)
	}
	said := h.task("run", "text.chat", "Greet me", "--json")
	if *said.Output.Text != "Hello." {
		t.Errorf("text.chat: %q", *said.Output.Text)
	}
	want := map[string]int{
		"POST /fal-ai/flux/schnell": 1, "GET /files/1.png": 1, "GET /files/2.png": 1,
		"GET /fal-ai/flux/requests/job-1/status": 2, "GET /fal-ai/flux/requests/job-1": 2,
		"POST /v1/models/meta/meta-llama-3-8b-instruct/predictions": 1, "GET /v1/predictions/p1": 1,
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if diff := cmp.Diff(want, q.seen); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
