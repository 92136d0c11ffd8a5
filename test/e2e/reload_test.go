package e2e_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
)

// jobServer is an upstream of fal's format, whose jobs go on until they are released.
type jobServer struct {
	*httptest.Server
	mu      sync.Mutex
	started []string // models
	asked   int      // after jobs
	finish  bool
}

func newJobServer(t *testing.T) *jobServer {
	t.Helper()
	p := &jobServer{}
	p.Server = httptest.NewUnstartedServer(p) // whose handler reads its address
	p.Start()
	t.Cleanup(p.Close)
	return p
}

func (p *jobServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.Method == http.MethodPost:
		p.started = append(p.started, strings.TrimPrefix(r.URL.Path, "/"))
		_, _ = fmt.Fprintf(w, `{"status":"IN_QUEUE","request_id":"job-1"}`)
	case strings.HasSuffix(r.URL.Path, "/status"):
		p.asked++
		status := map[bool]string{true: "COMPLETED", false: "IN_PROGRESS"}[p.finish]
		_, _ = fmt.Fprintf(w, `{"status":%q}`, status)
	case strings.HasSuffix(r.URL.Path, ".png"):
		var picture bytes.Buffer
		_ = png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 4)))
		_, _ = w.Write(picture.Bytes())
	default:
		_, _ = fmt.Fprintf(w, `{"images":[{"url":"http://%s/files/1.png","content_type":"image/png"}]}`, r.Host)
	}
}

func (p *jobServer) letGo() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish = true
}

func (p *jobServer) seen() (started []string, asked int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.started), p.asked
}

// moreCapabilities is a directory's addition, of which no program knows.
const moreCapabilities = `capabilities:
  - name: image.enhance
    title: Enlarge
    description: Enlarges a named picture.
    modality: image
    mode: async
    deadline: 5m
    input:
      type: object
      properties: {subject: {type: string, minLength: 1}}
      required: [subject]
      additionalProperties: false
    parameters:
      type: object
      properties: {factor: {type: integer, minimum: 2, maximum: 4, default: 2}}
      additionalProperties: false
    output:
      type: object
      properties: {images: {type: array}}
      required: [images]
    example:
      capability: image.enhance
      input: {subject: a fox}
`

const moreModels = `models:
  - model: example/scaler
    capability: image.enhance
    input: {/input/subject: /prompt, /parameters/factor: /scale}
    output: {files: /images}
`

// configured is the settings in which the one supplier is at base; rest follows.
func configured(base, rest string) string {
	return `suppliers:
  - {name: one, kind: fal, base_url: "` + base + `", api_key: env:UPSTREAM_KEY, models: [models.yaml]}
` + rest
}

func (h *host) write(name, text string) {
	h.T.Helper()
	if err := os.WriteFile(filepath.Join(h.Dir, name), []byte(text), 0o600); err != nil {
		h.T.Fatal(err)
	}
}

// offers returns the names of the directory for the host's key.
func (h *host) offers() []string {
	h.T.Helper()
	var list api.CapabilityList
	h.call(http.MethodGet, "/api/ai/v1/capabilities", "", nil, &list)
	names := []string{}
	for _, c := range list.Data {
		names = append(names, string(c.Name))
	}
	return names
}

// TestReload changes everything that may change under a job: the job ends at its supplier, and a capability of the
// new settings alone works, for live keys and for test keys.
func TestReload(t *testing.T) {
	old, next := newJobServer(t), newJobServer(t)
	next.letGo()
	h := newHost(t)
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.write("models.yaml", moreModels)
	h.write("more.yaml", moreCapabilities)
	h.Config = configured(old.URL, `limits: {lease: 3s}
routes:
  image.generate: [{supplier: one, model: fal-ai/flux/schnell, price: {unit: image, output: "0.003"}}]
`)
	h.start()
	testKey := h.key
	h.useLiveKey()
	var started api.Task
	h.call(http.MethodPost, "/api/ai/v1/tasks", `{"capability":"image.generate","input":{"prompt":"a fox"}}`,
		map[string]string{"Idempotency-Key": "reload-under-way"}, &started)
	h.Until(time.Minute, "the job is started", func() bool { _, asked := old.seen(); return asked > 0 })

	h.write("unitask.yaml", configured(next.URL, "limits: {body: none}\nroute: {}\n"))
	bad := h.client("config", "reload")
	if bad.code == 0 || !strings.Contains(bad.stderr, "unitask.yaml:3:16: limits.body must be") || !strings.Contains(bad.stderr, "unitask.yaml:4:1: route is no setting") {
		t.Errorf("bad settings: exit %d\n%s", bad.code, bad.stderr)
	}
	if diff := cmp.Diff([]string{"image.generate"}, h.offers()); diff != "" {
		t.Errorf("after bad settings (-want +got):\n%s", diff)
	}

	h.write("unitask.yaml", configured(next.URL, `catalog: [more.yaml]
limits: {body: 1KiB, connections: 77, lease: 3s}
routes:
  image.enhance: [{supplier: one, model: example/scaler, price: {unit: image, output: "0.002"}}]
`))
	done := h.client("config", "reload")
	want := "changed: catalog, limits.body, suppliers, routes\nthese need a restart: limits.connections\n"
	if done.code != 0 || done.stderr != want {
		t.Errorf("reload: exit %d\n%s", done.code, done.stderr)
	}
	if diff := cmp.Diff([]string{"image.enhance"}, h.offers()); diff != "" {
		t.Errorf("after the reload (-want +got):\n%s", diff)
	}
	old.letGo()
	var ended api.Task
	h.Until(time.Minute, "the job ends where it was started", func() bool {
		h.call(http.MethodGet, "/api/ai/v1/tasks/"+started.ID, "", nil, &ended)
		return ended.State.Terminal()
	})
	if ended.State != task.Succeeded || len(ended.Output.Images) != 1 {
		t.Errorf("the job under way: %s %+v", ended.State, ended.Error)
	}
	for _, key := range []string{h.key, testKey} {
		h.key = key
		if made := h.task("run", "image.enhance", "subject=a fox", "factor=3", "--json"); len(made.Output.Images) != 1 {
			t.Errorf("image.enhance: %+v", made)
		}
	}
	if models, _ := next.seen(); !slices.Equal(models, []string{"example/scaler"}) {
		t.Errorf("the new supplier began %v", models)
	}
	if models, _ := old.seen(); !slices.Equal(models, []string{"fal-ai/flux/schnell"}) {
		t.Errorf("the old supplier began %v", models)
	}
	long := `{"capability":"image.enhance","input":{"subject":"` + strings.Repeat("x", 1024) + `"}}`
	if got := h.call(http.MethodPost, "/api/ai/v1/tasks", long, map[string]string{"Idempotency-Key": "reload-too-long"}, nil); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body beyond the new limit: %d", got.status)
	}
	h.hangUp()
}

// hangUp reloads by the signal.
func (h *host) hangUp() {
	h.T.Helper()
	h.write("unitask.yaml", "suppliers: [{name: idle, kind: openai, base_url: \"http://127.0.0.1:1\"}]\n")
	h.signal(syscall.SIGHUP)
	h.Until(time.Minute, "the added capability is gone", func() bool { return !slices.Contains(h.offers(), "image.enhance") })
}

func (h *host) signal(s os.Signal) {
	h.T.Helper()
	p, err := os.FindProcess(h.PID())
	if err == nil {
		err = p.Signal(s)
	}
	if err != nil {
		h.T.Fatal(err)
	}
}
