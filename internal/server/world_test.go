package server_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/node"
	"unitask/internal/policy"
	"unitask/internal/routing"
	"unitask/internal/server"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// The names of the live supplier, which no response may hold.
const (
	upstreamName  = "zaphod-upstream"
	upstreamModel = "beeblebrox-9b"
	upstreamHost  = "upstream.zaphod.example"
	upstreamJob   = "job-zarquon-77"
)

// world is a served API on a real socket, with accounts, keys, the sandbox and a live supplier.
type world struct {
	*node.Service

	t      testing.TB
	base   string
	db     node.Engine
	client *http.Client
	log    *fixture.Log
	test   string // a test key's secret
	live   string // a live key's secret
}

// options change a world before it is made.
type options struct {
	engine    node.Engine
	defaults  gate.Defaults
	limits    server.Limits
	proxies   []netip.Prefix
	operators bool                                // operator keys are taken
	tools     bool                                // clients of the Model Context Protocol are answered
	anthropic bool                                // Anthropic's door is open
	openAI    bool                                // OpenAI's door is open
	models    map[catalog.Name][]string           // other names of capabilities there
	hooks     []string                            // hosts that may be told of ends; nil: there are no webhooks
	bodies    string                              // the folder of arriving bodies; "": one of the test's own
	files     func(artifact.Store) artifact.Store // a wrapper of the artifacts; nil: without
	gateway   gateway.Limits
	now       func() time.Time
	policy    *policy.Policy
	onRequest func(server.Request)
	// logger takes the place of the world's log.
	logger *slog.Logger
	// fetchable is hosts of this machine that may be fetched from.
	fetchable []string
	// overlays change the directory.
	overlays []string
}

func newWorld(t testing.TB, o options) *world {
	t.Helper()
	if o.engine == nil {
		o.engine = memstore.New(time.Now)
	}
	var files artifact.Store = fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir()}))(t)
	if o.files != nil {
		files = o.files(files)
	}
	var overlays [][]byte
	for _, text := range o.overlays {
		overlays = append(overlays, []byte(text))
	}
	var hooks node.Webhooks
	if o.hooks != nil {
		hooks = node.Webhooks{Fetcher: fixture.Must(artifact.NewFetcher(artifact.FetcherConfig{Allow: o.hooks}))(t), HTTP: true}
	}
	w := &world{t: t, db: o.engine, log: &fixture.Log{}}
	ln := fixture.Must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	w.base = "http://" + ln.Addr().String()
	o.gateway.Grace = time.Second
	w.Service = fixture.Must(node.NewService(t.Context(), o.engine, node.ServiceConfig{
		Parts: node.Parts{
			Catalog: fixture.Must(catalog.Load(overlays...))(t), Suppliers: node.Suppliers{Routes: routes(t), Policy: o.policy}, Artifacts: files,
			Fetcher: fixture.Must(artifact.NewFetcher(artifact.FetcherConfig{Allow: o.fetchable}))(t), KeyPrefix: "svc", Now: o.now,
			Limits: node.Limits{Gate: o.defaults, Gateway: o.gateway, Server: o.limits},
			Logger: cmp.Or(o.logger, slog.New(slog.NewJSONHandler(w.log, nil))),
		},
		BaseURL: w.base, BodyFolder: cmp.Or(o.bodies, t.TempDir()), TrustedProxies: o.proxies,
		OnRequest: o.onRequest, OperatorAPI: o.operators, MCP: o.tools, OpenAI: o.openAI, Anthropic: o.anthropic, DoorModels: o.models, Webhooks: hooks,
	}))(t)
	w.Start()
	fixture.Serve(t, ln, w.API.Serve, w.Shutdown)
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	w.client = &http.Client{Transport: &inspector{t: t, next: transport}, Timeout: 2 * time.Minute}
	w.test, w.live = w.key(api.KeyCreate{Mode: task.Test}), w.key(api.KeyCreate{Mode: task.Live})
	return w
}

// routes are the sandbox's for test keys and one supplier's for live keys.
func routes(t testing.TB) []routing.Route {
	t.Helper()
	var all []routing.Route
	kind := sandbox.Kind()
	for i, name := range []string{sandbox.Cheap, sandbox.Dear} {
		adapter := fixture.Must(kind.New(supplier.Config{Name: name, Options: map[string]string{"speed": "0"}}))(t)
		for _, c := range kind.Capabilities {
			amount := task.Money(i + 1)
			all = append(all, routing.Route{
				Capability: catalog.Name(c), Supplier: name, Model: name, Mode: task.Test, Approved: true, Kind: kind, Adapter: adapter,
				Price: task.Price{Unit: task.PerMillionTokens, Input: amount, Output: amount},
			})
		}
	}
	price := task.Price{Unit: task.PerMillionTokens, Input: 50_000_000, Output: 80_000_000}
	for _, c := range []catalog.Name{"text.chat", "image.generate"} {
		all = append(all, routing.Route{
			Capability: c, Supplier: upstreamName, Model: upstreamModel, Mode: task.Live, Approved: true, Price: price,
			Kind: supplier.Kind{Name: "scripted", Capabilities: []string{string(c)}}, Adapter: upstream{},
		})
	}
	return all
}

// upstream is a live supplier whose every failure is full of its own names.
type upstream struct{}

func (upstream) Submit(_ context.Context, r supplier.Request) (supplier.Outcome, error) {
	cause := io.ErrUnexpectedEOF
	switch {
	case r.Capability == "image.generate":
		return supplier.Outcome{Job: &supplier.Job{ID: upstreamJob, Model: upstreamModel, PollAfter: 10 * time.Millisecond}}, nil
	case strings.Contains(string(r.Input), "refuse"):
		return supplier.Outcome{}, supplier.NewError(supplier.Refused, fault.ProviderUnavailable, "no route could do the work",
			&net.OpError{Op: "dial " + upstreamHost, Err: cause})
	case strings.Contains(string(r.Input), "foreign"):
		return supplier.Outcome{}, &net.OpError{Op: upstreamModel + " at " + upstreamHost, Err: cause}
	}
	return supplier.Outcome{Result: &supplier.Result{
		Text: new("paid"), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 3},
	}}, nil
}

// flood is the live supplier's streamed answer to a prompt with this word, piece by piece.
const (
	flood       = "flood"
	floodPieces = 1000
)

var floodPiece = strings.Repeat("0123456789abcdef", 1<<10)

// Stream says a flood, breaks off in the middle, or answers as Submit does.
func (u upstream) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	switch {
	case strings.Contains(string(r.Input), flood):
		for range floodPieces {
			delta(supplier.Delta{Text: floodPiece})
		}
		return supplier.Outcome{Result: &supplier.Result{Text: new(strings.Repeat(floodPiece, floodPieces)), FinishReason: "stop"}}, nil
	case strings.Contains(string(r.Input), "break"):
		delta(supplier.Delta{Text: "half of "})
		return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "the work broke off",
			&net.OpError{Op: "read " + upstreamHost, Err: io.ErrUnexpectedEOF})
	}
	return u.Submit(ctx, r)
}

func (upstream) Poll(context.Context, supplier.Job) (supplier.Outcome, error) {
	return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ContentPolicyViolation, "the content was refused",
		&net.OpError{Op: upstreamJob, Err: io.EOF})
}

// key makes a key and returns its secret.
func (w *world) key(req api.KeyCreate) string {
	w.t.Helper()
	if req.Name == "" {
		req.Name = "tests"
	}
	return fixture.Must(w.Operator.CreateKey(w.t.Context(), req))(w.t).Secret
}

// request is one call; zero members are those of a GET without a key.
type request struct {
	method, path, key, body string
	header                  map[string]string
}

// response is an answer read to its end.
type response struct {
	*http.Response
	body []byte
}

func (r response) error(t testing.TB) api.ErrorResponse {
	t.Helper()
	return decode[api.ErrorResponse](t, r)
}

func (r response) task(t testing.TB) api.Task {
	t.Helper()
	return decode[api.Task](t, r)
}

func decode[T any](t testing.TB, r response) T {
	t.Helper()
	var out T
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("status %d, body %q: %v", r.StatusCode, r.body, err)
	}
	return out
}

// do makes the call; the inspector judges the answer.
func (w *world) do(r request) response {
	w.t.Helper()
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	method := r.method
	if method == "" {
		method = http.MethodGet
	}
	target := r.path
	if !strings.HasPrefix(target, "http") {
		target = w.base + r.path
	}
	req := fixture.Must(http.NewRequestWithContext(w.t.Context(), method, target, body))(w.t)
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	return w.send(req)
}

func (w *world) send(req *http.Request) response {
	w.t.Helper()
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return response{resp, fixture.Must(io.ReadAll(resp.Body))(w.t)}
}

// post is a creation with the test key, or the one given.
func (w *world) post(idempotencyKey, body string, change ...func(*request)) response {
	w.t.Helper()
	r := request{
		method: http.MethodPost, path: api.PathTasks, key: w.test, body: body,
		header: map[string]string{"Content-Type": "application/json", api.HeaderIdempotencyKey: idempotencyKey},
	}
	for _, c := range change {
		c(&r)
	}
	return w.do(r)
}

func with(name, value string) func(*request) {
	return func(r *request) { r.header[name] = value }
}

func by(key string) func(*request) {
	return func(r *request) { r.key = key }
}

func chat(prompt string) string {
	return `{"capability":"text.chat","input":{"prompt":` + string(fixture.Must(json.Marshal(prompt))(nil)) + `}}`
}

func image(prompt string) string {
	return `{"capability":"image.generate","input":{"prompt":"` + prompt + `"},"parameters":{"size":"64x64"}}`
}

// end reads a task until it is terminal.
func (w *world) end(key, id string) api.Task {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		got := w.do(request{path: api.PathTasks + "/" + id, key: key, header: map[string]string{"Prefer": "wait=5"}}).task(w.t)
		if got.State.Terminal() {
			return got
		}
	}
	w.t.Fatalf("task %s doesn't end", id)
	return api.Task{}
}

// until waits for a condition.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within a minute: %s", what)
		}
	}
}

// otherAccountsKey is a test key of another account.
func (w *world) otherAccountsKey() string {
	return w.key(api.KeyCreate{Mode: task.Test, Account: "other"})
}
