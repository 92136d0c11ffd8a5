package upstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/node"
	"unitask/internal/routing"
	"unitask/internal/server"
	"unitask/internal/sse"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// The times of a cell. A wait in vain for a supplier takes that long; an exchange that should succeed has a
// minute or more. A limit of both leaves a success many times its usual duration.
const (
	hangTime     = 8 * time.Second  // of an exchange that is to last too long; connecting alone has 10
	exchangeTime = 4 * time.Minute  // of any other
	fetchTime    = 3 * time.Second  // of a transfer that is to: it is tried again, so it may be short
	shortTime    = 15 * time.Second // of a task that is to meet its deadline
	longTime     = 5 * time.Minute  // of any other
)

const (
	firstPrice  task.Money = 1_000_000
	secondPrice task.Money = 3_000_000
)

// service is the whole service in this process, but for its database: API, gateway, routing, adapters,
// real sockets on both sides, and the operator's metrics, log and socket.
type service struct {
	*node.Service

	t       *testing.T
	cell    cell
	fakes   []*fakeSupplier
	base    string
	key     string
	client  http.Client
	log     *fixture.Log // of the service, and of the requests as they are counted
	secrets []string
	ends    tally
	calls   map[string]string // the task of each tool call, by the call's id
}

// builtin is the catalog, which takes longer to load than most cells take.
var builtin = sync.OnceValues(catalog.Default)

// newService starts a service whose routes are the fakes, the first one the cheapest.
func newService(t *testing.T, c cell, fakes ...*fakeSupplier) *service {
	t.Helper()
	s := &service{t: t, cell: c, fakes: fakes, log: &fixture.Log{}, calls: map[string]string{}, secrets: secretsOf(c.dialect, fakes)}
	ln := fixture.Must((&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0"))(t)
	s.base = "http://" + ln.Addr().String()
	s.Service = fixture.Must(node.NewService(t.Context(), memstore.New(time.Now), node.ServiceConfig{
		Parts: node.Parts{
			Catalog: s.directory(false), Suppliers: s.routes(false), Limits: limits, KeyPrefix: "svc", Fetcher: c.fetcher(t),
			Artifacts: fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir()}))(t),
			Logger:    slog.New(slog.NewJSONHandler(io.MultiWriter(s.log, alarm{firstName, fakes[0].noticed}), nil)),
		},
		BaseURL:   s.base,
		OnRequest: func(r server.Request) { _, _ = fmt.Fprintf(s.log, "%+v\n", r) },
	}))(t)
	s.key = fixture.Must(s.Operator.CreateKey(t.Context(), api.KeyCreate{Name: "tests", Mode: task.Live}))(t).Secret
	transport := &http.Transport{}
	s.client = http.Client{Transport: transport, Timeout: 2 * longTime}
	t.Cleanup(func() {
		s.scanLog()
		s.checkCounts()
		*s = service{} // package testing keeps what cleanups refer to until all cells have ended
	})
	s.Gateway.Start()
	fixture.Serve(t, patient{ln}, func(l net.Listener) error { return s.API.Serve(l) }, func(ctx context.Context) error { return s.Shutdown(ctx) })
	t.Cleanup(transport.CloseIdleConnections)
	return s
}

var limits = node.Limits{Gateway: gateway.Limits{ArtifactBytes: 1 << 20, SyncWait: longTime, LeaseTerm: time.Hour, Grace: time.Second}}

// heal replaces the routes and the deadline by patient ones, which wait long enough for every success.
func (s *service) heal() {
	s.t.Helper()
	if err := s.Apply(s.directory(true), s.routes(true), limits, ""); err != nil {
		s.t.Fatal(err)
	}
}

// directory is the catalog with the cell's deadline, or a patient one.
func (s *service) directory(patient bool) *catalog.Catalog {
	deadline := s.cell.deadline()
	if patient {
		deadline = longTime
	}
	return fixture.Must(fixture.Must(builtin())(s.t).WithDeadlines(map[catalog.Name]time.Duration{s.cell.dialect.capability: deadline}))(s.t)
}

// fetcher gets results, without the suppliers' keys.
func (c cell) fetcher(t *testing.T) *artifact.Fetcher {
	t.Helper()
	most := exchangeTime
	if c.phase == transfer && c.failure.code == fault.ProviderTimeout {
		most = fetchTime
	}
	return fixture.Must(artifact.NewFetcher(artifact.FetcherConfig{DialTimeout: most, HeaderTimeout: most, IdleTimeout: most, Timeout: most}))(t)
}

// routes has each fakeSupplier spoken to by the real adapter, as the configuration would make it.
func (s *service) routes(patient bool) node.Suppliers {
	d := s.cell.dialect
	var all node.Suppliers
	for i, one := range s.fakes {
		name, price, timeout := firstName, firstPrice, exchangeTime
		if i > 0 {
			name, price = secondName, secondPrice
		} else if !patient && s.cell.hangs() {
			timeout = s.cell.hangTime()
		}
		a := fixture.Must(d.kind.New(supplier.Config{
			Name: name, BaseURL: "http://" + one.api.address + d.base, Timeout: timeout, Models: d.maps, Options: d.options,
			APIKey: func() (string, error) { return supplierKey, nil }, Standard: os.Getenv("UNITASK_TRANSPORT") == "standard",
		}))(s.t)
		all.Routes = append(all.Routes, routing.Route{
			Capability: d.capability, Supplier: name, Model: d.model, Price: d.price(price), Approved: true, Mode: task.Live,
			Kind: d.kind, Adapter: a, ResultHosts: []string{one.files.address},
		})
	}
	return all
}

// hangTime is how long an exchange lasts that hangs: a transfer until the task's deadline is over, so that the
// deadline meets it in the middle and not between two tries.
func (c cell) hangTime() time.Duration {
	if c.phase == transfer {
		return shortTime
	}
	return hangTime
}

// secretsOf returns the secrets from callers.
func secretsOf(d dialect, fakes []*fakeSupplier) []string {
	all := []string{firstName, secondName, "zaphod", "zarquon", d.model, supplierKey, jobID, leak}
	for _, one := range fakes {
		all = append(all, one.api.address, one.files.address)
	}
	if d.kind.Name != "fal" && d.kind.Name != "unitask" { // a part of false, and our own name
		all = append(all, d.kind.Name)
	}
	return all
}

// body is the dialect's request.
func (d dialect) body() string {
	more := ""
	if d.parameters != "" {
		more = `,"parameters":` + d.parameters
	}
	return `{"capability":"` + string(d.capability) + `","input":` + d.input + more + `}`
}

// create submits the dialect's request under the one key and waits for its end.
func (s *service) create() api.Task {
	s.t.Helper()
	got := s.call(http.MethodPost, api.PathTasks, s.cell.dialect.body(), map[string]string{
		"Content-Type": "application/json", api.HeaderIdempotencyKey: theKey,
	})
	id := idOf(got)
	if id == "" {
		s.t.Fatalf("the service answered %d %s", got.status, got.body)
	}
	return s.end(id)
}

const theKey = "the-one-key"

// other has another account send the same request, to suppliers that are well now, and returns its outcome.
// Its submissions don't count as the first one's.
func (s *service) other() string {
	s.t.Helper()
	reason := s.resting()
	if f := s.cell.failure; reason == "" && s.cell.rests() && (f.trips || f.pauses) {
		s.t.Error("the first route doesn't rest")
	}
	if s.cell.rests() && s.cell.variant != beside {
		return allRests
	}
	var arrived []int
	for _, one := range s.fakes {
		arrived = append(arrived, one.submissions())
	}
	var end api.Task
	s.asOther(func() { end = s.create() })
	attempts := s.ledger(end.ID).Attempts
	for i, one := range s.fakes {
		one.forget(arrived[i])
	}
	switch {
	case end.State != task.Succeeded || len(attempts) != 1:
		return fmt.Sprintf("%s after %d attempts (%s)", end.State, len(attempts), reason)
	case s.cell.rests():
		return rests // or may: its pause can be over by now
	case attempts[0].Supplier != firstName:
		return "the second serves it, for the first rests: " + reason
	default:
		return byFirst
	}
}

// asOther makes calls by another account's key.
func (s *service) asOther(calls func()) {
	s.t.Helper()
	mine := s.key
	defer func() { s.key = mine }()
	s.key = fixture.Must(s.Operator.CreateKey(s.t.Context(), api.KeyCreate{Name: "others", Account: "others", Mode: task.Live}))(s.t).Secret
	calls()
}

// hidden checks that another account can't see the task, nor its stream.
func (s *service) hidden(id string) {
	s.t.Helper()
	s.asOther(func() {
		for _, accept := range []string{"application/json", sse.ContentType} {
			if got := s.call(http.MethodGet, api.PathTasks+"/"+id, "", map[string]string{"Accept": accept}); got.status != http.StatusNotFound {
				s.t.Errorf("another account reads %d %s", got.status, got.body)
			}
		}
		if got := s.call(http.MethodGet, api.PathTasks, "", nil); got.status != http.StatusOK || bytes.Contains(got.body, []byte(id)) {
			s.t.Errorf("another account lists %d %s", got.status, got.body)
		}
	})
}

// resting returns the reason why the first route takes no work; "" if it takes work.
func (s *service) resting() string {
	for _, r := range s.Gateway.Routes() {
		if r.Supplier == firstName && r.Accounts == 0 {
			return r.Reason
		}
	}
	return ""
}

// idOf returns the task's id in an answer that may be a task or an error about one.
func idOf(a reply) string {
	var body struct {
		ID     string `json:"id"`
		TaskID string `json:"task_id"`
	}
	_ = json.Unmarshal(a.body, &body)
	return body.ID + body.TaskID
}

// end waits for a task's end and reads everything that its caller can read of it.
func (s *service) end(id string) api.Task {
	s.t.Helper()
	path := api.PathTasks + "/" + id
	for {
		var got api.Task
		read := s.call(http.MethodGet, path, "", map[string]string{api.HeaderPrefer: "wait=30"})
		if err := json.Unmarshal(read.body, &got); err != nil || read.status != http.StatusOK {
			s.t.Fatalf("%d %s", read.status, read.body)
		}
		if !got.State.Terminal() {
			continue
		}
		s.call(http.MethodGet, path+"/timeline", "", nil)
		s.call(http.MethodGet, api.PathTasks, "", nil)
		s.call(http.MethodGet, path, "", map[string]string{"Accept": "text/event-stream"})
		s.judge(got)
		for _, a := range got.Output.Artifacts() {
			if file := s.call(http.MethodGet, strings.TrimPrefix(a.URL, s.base), "", nil); int64(len(file.body)) != a.Bytes {
				s.t.Errorf("an artifact of %d bytes gives %d", a.Bytes, len(file.body))
			}
		}
		return got
	}
}

// judge checks that a task that succeeded has the requested output.
func (s *service) judge(got api.Task) {
	s.t.Helper()
	if got.Output == nil {
		return
	}
	o := *got.Output
	family, _, _ := strings.Cut(got.Capability, ".")
	if has := map[string]bool{"text": o.Text != nil, "image": len(o.Images) == 1, "video": len(o.Videos) == 1}; !has[family] {
		s.t.Errorf("%s brought %+v", got.Capability, o)
	}
	if s.cell.dialect.brings != nil {
		s.judgeParts(got.ID, o)
	}
}

// judgeParts holds an output to all that it should bring. The ids of its tool calls are ours, and of no other task.
func (s *service) judgeParts(id string, o api.Output) {
	s.t.Helper()
	brought := task.Parts{Text: o.Text, Data: o.Data, Reasoning: o.Reasoning, FinishReason: o.FinishReason, ToolCalls: slices.Clone(o.ToolCalls)}
	for i, c := range brought.ToolCalls {
		if of, known := s.calls[c.ID]; !strings.HasPrefix(c.ID, task.PrefixCall) || known && of != id {
			s.t.Errorf("a tool call of %s has the id %q, known of %q", id, c.ID, of)
		}
		s.calls[c.ID] = id
		brought.ToolCalls[i].ID = ""
	}
	if diff := cmp.Diff(*s.cell.dialect.brings, brought, cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("the output (-want +got):\n%s", diff)
	}
}

// reply is a whole answer of the service.
type reply struct {
	status int
	body   []byte
}

// call makes one request and scans the whole answer for secrets.
func (s *service) call(method, path, body string, header map[string]string) reply {
	s.t.Helper()
	r := fixture.Must(http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body)))(s.t)
	r.Header.Set("Authorization", "Bearer "+s.key)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw := fixture.Must(io.ReadAll(resp.Body))(s.t)
	s.scan(method+" "+path, resp.Header, raw)
	return reply{resp.StatusCode, raw}
}

// alarm is signaled by each line of a log that contains a word.
type alarm struct {
	word string
	ring func()
}

func (a alarm) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(a.word)) {
		a.ring()
	}
	return len(line), nil
}
