package console_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/node"
	"unitask/internal/operator"
	"unitask/internal/routing"
	"unitask/internal/server/console"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// world is the service with its console on a real socket. The clock runs as fast as the real one, ahead of it by the
// time that a test skipped.
type world struct {
	t        *testing.T
	base     string
	operator *operator.Operator
	store    *memstore.DB
	reads    *counted
	files    *files
	pagesAt  func(base string) http.Handler // another console over the same operator
	log      *fixture.Log                   // of the service
	seen     *fixture.Log                   // every answer to a browser

	mu    sync.Mutex
	ahead time.Duration
}

// counted is a store that counts for requests how many counters are read, and how often the sums of usage are walked
// through. It has more of these than tasks have left.
type counted struct {
	*memstore.DB
	counters, walks atomic.Int64
	more            map[store.UsageKey]store.Usage
}

// files is a store of files that may be slow, or broken.
type files struct {
	artifact.Store
	opening atomic.Pointer[func() error]
}

// Open implements artifact.Store.
func (f *files) Open(ctx context.Context, id string) (artifact.Meta, io.ReadSeekCloser, error) {
	if opening := f.opening.Load(); opening != nil {
		if err := (*opening)(); err != nil {
			return artifact.Meta{}, nil, err
		}
	}
	return f.Store.Open(ctx, id)
}

// EachUsage implements store.UsageLog.
func (c *counted) EachUsage(ctx context.Context, q store.UsageQuery, visit func(store.UsageKey, store.Usage) bool) error {
	if ctx.Value(http.ServerContextKey) != nil {
		c.walks.Add(1)
	}
	for k, u := range c.more {
		if q.Holds(k.Account, k.Day) && q.HoldsPair(k.Pair) && !visit(k, u) {
			return nil
		}
	}
	return c.DB.EachUsage(ctx, q, visit)
}

// Held implements store.Counters.
func (c *counted) Held(ctx context.Context, counters []store.Counter) ([]int64, error) {
	if ctx.Value(http.ServerContextKey) != nil {
		c.counters.Add(int64(len(counters)))
	}
	return c.DB.Held(ctx, counters)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, log: &fixture.Log{}, seen: &fixture.Log{}}
	ln := fixture.Must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	w.base, w.store = "http://"+ln.Addr().String(), memstore.New(w.now)
	w.reads = &counted{DB: w.store}
	w.files = &files{Store: fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir()}))(t)}
	s := fixture.Must(node.NewService(t.Context(), w.reads, node.ServiceConfig{
		Parts: node.Parts{
			Catalog: fixture.Must(catalog.Default())(t), Artifacts: w.files,
			Suppliers: node.Suppliers{
				Routes: routes(t), Statuses: []api.SupplierStatus{{Name: sandbox.Cheap, Live: true, About: "for test keys"}},
			},
			Fetcher: fixture.Must(artifact.NewFetcher(artifact.FetcherConfig{}))(t), Limits: node.Limits{Gateway: gateway.Limits{Grace: time.Second, UsageBy: []string{"team"}}},
			KeyPrefix: "svc", Now: w.now, Logger: slog.New(slog.NewJSONHandler(w.log, nil)),
		},
		Version: "1.2.3", BaseURL: w.base,
		Webhooks: node.Webhooks{Fetcher: fixture.Must(artifact.NewFetcher(artifact.FetcherConfig{Allow: []string{"127.0.0.1"}}))(t), HTTP: true},
	}))(t)
	w.operator = s.Operator
	w.pagesAt = func(base string) http.Handler {
		return fixture.Must(console.New(console.Config{Operator: s.Operator, Gateway: s.Gateway, Signer: s.Signer, BaseURL: base, Now: w.now}))(t)
	}
	s.Start()
	fixture.Serve(t, ln, s.API.Serve, s.Shutdown)
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

// skip puts the clock forward.
func (w *world) skip(d time.Duration) {
	w.mu.Lock()
	w.ahead += d
	w.mu.Unlock()
}

// routes are the sandbox's, for test keys.
func routes(t *testing.T) []routing.Route {
	t.Helper()
	kind := sandbox.Kind()
	adapter := fixture.Must(kind.New(supplier.Config{Name: sandbox.Cheap, Options: map[string]string{"speed": "0"}}))(t)
	var all []routing.Route
	for _, c := range kind.Capabilities {
		all = append(all, routing.Route{
			Capability: catalog.Name(c), Supplier: sandbox.Cheap, Model: "box", Mode: task.Test, Approved: true, Kind: kind, Adapter: adapter,
			Price: task.Price{Unit: task.PerMillionTokens, Input: task.USD, Output: task.USD},
		})
	}
	return all
}

// link makes a one-time link, and a missing account, and returns its token.
func (w *world) link(account, member, role string) string {
	w.t.Helper()
	if _, err := w.operator.GetAccount(w.t.Context(), account); fault.CodeOf(err) == fault.NotFound {
		fixture.Must(w.operator.CreateAccount(w.t.Context(), api.AccountCreate{Name: account}))(w.t)
	}
	made := fixture.Must(w.operator.Invite(w.t.Context(), account, api.Invite{Member: member, Role: role}))(w.t)
	_, token, ok := strings.Cut(made.URL, "#")
	if !ok || !strings.HasPrefix(made.URL, w.base+api.PathSignIn+"#") {
		w.t.Fatalf("the link is %q", made.URL)
	}
	return token
}

// browser keeps cookies and follows no redirect.
type browser struct {
	w      *world
	client *http.Client
}

// browser returns one that didn't sign in.
func (w *world) browser() *browser {
	w.t.Helper()
	transport := &http.Transport{DisableCompression: true}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &browser{w, &http.Client{
		Transport: transport, Jar: fixture.Must(cookiejar.New(nil))(w.t), Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// member returns a browser of somebody who signed in.
func (w *world) member(account, role string) *browser {
	w.t.Helper()
	b := w.browser()
	if got := b.post("/sign-in", url.Values{"token": {w.link(account, "somebody", role)}}); got.StatusCode != http.StatusSeeOther {
		w.t.Fatalf("signing in: %d %s", got.StatusCode, got.body)
	}
	return b
}

// answer is a response read to its end.
type answer struct {
	*http.Response
	body string
}

// get reads a page below the console's root, or an address.
func (b *browser) get(path string, change ...func(*http.Request)) answer {
	b.w.t.Helper()
	return b.do(http.MethodGet, path, nil, change...)
}

// post sends a form, as a page of the console does.
func (b *browser) post(path string, form url.Values, change ...func(*http.Request)) answer {
	b.w.t.Helper()
	return b.do(http.MethodPost, path, strings.NewReader(form.Encode()), append([]func(*http.Request){func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}}, change...)...)
}

// postOnce sends a form and reads the page that it leads to, which is shown a single time.
func (b *browser) postOnce(path string, form url.Values) answer {
	b.w.t.Helper()
	got := b.post(path, form)
	at := strings.TrimPrefix(got.Header.Get("Location"), console.Root)
	if got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(at, "/once/") {
		b.w.t.Fatalf("%s: %d to %q: %s", path, got.StatusCode, at, got.body)
	}
	shown := b.get(at)
	if again := b.get(at); again.StatusCode != http.StatusGone || strings.Contains(again.body, `id="secret"`) {
		b.w.t.Errorf("%s is shown again: %d %s", at, again.StatusCode, again.body)
	}
	return shown
}

func (b *browser) do(method, path string, body io.Reader, change ...func(*http.Request)) answer {
	b.w.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = b.w.base + console.Root + path
	}
	r := fixture.Must(http.NewRequestWithContext(b.w.t.Context(), method, path, body))(b.w.t)
	for _, c := range change {
		c(r)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text := string(fixture.Must(io.ReadAll(resp.Body))(b.w.t))
	_, _ = fmt.Fprintf(b.w.seen, "%s %s\n%v\n%s\n", method, path, resp.Header, text)
	a := answer{resp, text}
	inspect(b.w.t, a)
	return a
}

// record asks a handler without a socket.
func record(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

// session returns the value of the session's cookie, "" without one.
func (b *browser) session() string {
	at := fixture.Must(url.Parse(b.w.base))(b.w.t)
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == "unitask_session" {
			return c.Value
		}
	}
	return ""
}

// run creates a task from a page of the browser and returns it once it has ended.
func (b *browser) run(body string) api.Task {
	b.w.t.Helper()
	return b.submit(body, "wait=60")
}

// submit creates a task from a page, with a preference.
func (b *browser) submit(body, prefer string) api.Task {
	b.w.t.Helper()
	got := b.do(http.MethodPost, "/api/test/tasks", strings.NewReader(body), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(api.HeaderIdempotencyKey, task.NewID("run", time.Now()))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set(api.HeaderPrefer, prefer)
	})
	return decode[api.Task](b.w.t, got)
}
