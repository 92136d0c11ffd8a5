package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
)

// testModel runs random operations on the engine and on memstore and compares whole answers. Only
// epochs may differ: each engine numbers its own.
func testModel(t *testing.T, open Open) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := NewClock()
		m := &model{
			Engine: open(t, clock.Now), oracle: memstore.New(clock.Now), clock: clock, test: t,
			generations: map[string]int{}, claims: map[string]int64{}, claimed: map[string]store.ClaimRequest{}, ends: map[string]time.Time{},
		}
		defer func() { _ = m.Store.Close() }() // the engine's own cleanup reports
		m.beginSessions(rt)
		m.putEndpoints(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"create":    m.create,
			"read":      m.read,
			"list":      m.list,
			"claim":     m.claim,
			"renew":     m.renew,
			"begin":     m.begin,
			"advance":   m.advance,
			"cancel":    m.cancel,
			"show":      m.show,
			"sweep":     m.sweep,
			"time":      m.time,
			"crash":     m.crash,
			"repeat":    m.repeat,
			"deliver":   m.deliver,
			"delivered": m.endDelivery,
			"endpoint":  m.changeEndpoint,
			"":          m.stats,
		})
	})
}

type model struct {
	Engine
	oracle *memstore.DB
	clock  *Clock
	test   *testing.T
	ids    []string
	leases []*twin
	ends   map[string]time.Time // of counters that may be swept from then on, by scope

	generations map[string]int                // of the nodes' names: a session is never revived
	claims      map[string]int64              // how many there were, by the node's present name
	claimed     map[string]store.ClaimRequest // the last of them, if it has a number
	calls       []func(*rapid.T)              // that may be made again
	deliveries  []store.DeliveryRef
}

// twin is one lease as the engine and as the oracle know it.
type twin struct {
	engine, oracle store.LeaseRef
	writes         int64 // how many had a number
}

// write returns a copy that names the next write under the lease, or one that is never made again.
func (l *twin) write(rt *rapid.T) twin {
	w := *l
	if rapid.IntRange(0, 4).Draw(rt, "unnumbered") > 0 {
		l.writes++
		w.engine.Write, w.oracle.Write = l.writes, l.writes
	}
	return w
}

var (
	accounts     = rapid.SampledFrom([]string{"acct_a", "acct_b", "acct_c"})
	modes        = rapid.SampledFrom([]task.Mode{task.Live, task.Live, task.Test})
	capabilities = rapid.SampledFrom([]string{chat, chat, image, "video.generate"})
	metadata     = rapid.SampledFrom([]task.Metadata{nil, nil, {"team": "a"}, {"team": "b", "note": "\"team\":\"a\""}, {"team": "a", "user": "ü"}})
	suppliers    = rapid.SampledFrom([]string{"s", "t"})
	nodes        = rapid.SampledFrom([]string{"node-a", "node-b"})
	terms        = rapid.SampledFrom([]time.Duration{time.Second, term, time.Hour, 3 * time.Hour})
)

func drawScope(rt *rapid.T) task.Scope {
	return task.Scope{Account: accounts.Draw(rt, "account"), Mode: modes.Draw(rt, "mode")}
}

func drawPlan(rt *rapid.T) task.Plan {
	p := plan(suppliers.Draw(rt, "supplier"), rapid.IntRange(0, 3).Draw(rt, "cap"))
	p.Estimate = task.Money(rapid.IntRange(0, 20).Draw(rt, "estimate"))
	return p
}

func drawLine(rt *rapid.T) store.Line {
	l := store.Line{Mode: modes.Draw(rt, "mode"), Capability: capabilities.Draw(rt, "capability")}
	if rapid.Bool().Draw(rt, "bounded") {
		l.Places = [][]task.Cap{}
		for _, p := range rapid.SliceOfN(rapid.Custom(drawPlan), 0, 2).Draw(rt, "places") {
			l.Places = append(l.Places, p.Caps)
		}
	}
	return l
}

func (m *model) drawID(rt *rapid.T) string {
	if len(m.ids) == 0 || rapid.IntRange(0, 9).Draw(rt, "unknown id") == 0 {
		return task.NewID(task.PrefixTask, m.clock.Now())
	}
	return rapid.SampledFrom(m.ids).Draw(rt, "id")
}

func (m *model) create(rt *rapid.T) {
	m.clock.Advance(time.Millisecond)
	n := store.NewTask{
		ID: task.NewID(task.PrefixTask, m.clock.Now()), Scope: drawScope(rt), KeyID: rapid.SampledFrom([]string{"key_1", "key_2"}).Draw(rt, "key id"),
		Capability:      capabilities.Draw(rt, "capability"),
		IdempotencyHash: hashOf(rapid.SampledFrom([]string{"k1", "k2", "k3", "k4", "k5"}).Draw(rt, "key")),
		Fingerprint:     hashOf(rapid.SampledFrom([]string{"f1", "f1", "f1", "f2"}).Draw(rt, "fingerprint")),
		Input:           json.RawMessage(`{ "prompt": "<x>" }`),
		Metadata:        metadata.Draw(rt, "metadata"),
		Traceparent:     rapid.SampledFrom([]string{"", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}).Draw(rt, "traceparent"),
		Deadline:        rapid.SampledFrom([]time.Duration{time.Second, time.Hour}).Draw(rt, "deadline"),
		KeepInput:       rapid.SampledFrom([]time.Duration{0, 0, 24 * time.Hour}).Draw(rt, "keep input"),
		Price:           task.Price{Unit: task.PerImage, Output: 3}, Reserved: 10,
	}
	scope := "key:" + n.Scope.Account
	period := m.period(scope)
	for _, name := range []string{"team", "user"} {
		if _, ok := n.Metadata[name]; ok && rapid.Bool().Draw(rt, "summed") {
			n.UsageBy = append(n.UsageBy, name)
		}
	}
	n.Holds = []task.Hold{
		{Scope: period, Kind: task.HoldBudget, Amount: 10, Limit: 45, Lasts: time.Hour},
		{Scope: period, Kind: task.HoldSpend, Amount: 20, Limit: 95, Lasts: time.Hour},
		{Scope: scope, Kind: task.HoldOpen, Amount: 1, Limit: 4},
		{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 6},
	}[:rapid.IntRange(0, 4).Draw(rt, "holds")]
	if rapid.Bool().Draw(rt, "first") {
		n.First = &store.First{Node: m.drawNode(rt), Plans: rapid.SliceOfN(rapid.Custom(drawPlan), 0, 2).Draw(rt, "plans")}
	}
	m.makeAgain(func(rt *rapid.T) { m.createTask(rt, n) })
	m.createTask(rt, n)
}

func (m *model) createTask(rt *rapid.T, n store.NewTask) {
	got, err := m.Store.CreateTask(background(), n)
	want, wantErr := m.oracle.CreateTask(background(), n)
	same(rt, "CreateTask", got, want, err, wantErr)
	if err == nil {
		m.ids = append(m.ids, got.Task.ID)
	}
	if got.Lease != nil {
		m.grant(got.Lease.Ref, want.Lease.Ref)
	}
}

func (m *model) read(rt *rapid.T) {
	s, id, key := drawScope(rt), m.drawID(rt), hashOf(rapid.SampledFrom([]string{"k1", "k2", "k9"}).Draw(rt, "key"))
	got, err := m.Store.GetTask(background(), s, id)
	want, wantErr := m.oracle.GetTask(background(), s, id)
	same(rt, "GetTask", got, want, err, wantErr)
	got, err = m.Store.FindTask(background(), s, key)
	want, wantErr = m.oracle.FindTask(background(), s, key)
	same(rt, "FindTask", got, want, err, wantErr)
}

func (m *model) claim(rt *rapid.T) {
	c := store.ClaimRequest{
		Node: m.drawNode(rt), Lines: rapid.SliceOfN(rapid.Custom(drawLine), 0, 3).Draw(rt, "lines"),
		Limit: rapid.IntRange(0, 4).Draw(rt, "limit"),
	}
	if rapid.IntRange(0, 4).Draw(rt, "unnumbered") > 0 {
		m.claims[c.Node]++
		c.Number = m.claims[c.Node]
		m.claimed[c.Node] = c
	}
	want, wantErr := m.oracle.Claim(background(), c)
	m.compareClaim(rt, c, want, wantErr)
}

func (m *model) compareClaim(rt *rapid.T, c store.ClaimRequest, want []store.Lease, wantErr error) {
	got, err := m.Store.Claim(background(), c)
	same(rt, "Claim", got, want, err, wantErr)
	for i := range got {
		m.grant(got[i].Ref, want[i].Ref)
	}
}

// drawLease prefers late leases: early ones are mostly over, which is worth a try now and then.
func (m *model) drawLease(rt *rapid.T) *twin {
	if len(m.leases) == 0 {
		rt.Skip("no lease")
	}
	from := 0
	if rapid.IntRange(0, 9).Draw(rt, "stale") > 0 {
		from = max(0, len(m.leases)-6)
	}
	return m.leases[rapid.IntRange(from, len(m.leases)-1).Draw(rt, "lease")]
}

func (m *model) begin(rt *rapid.T) {
	l, p := m.drawLease(rt).write(rt), drawPlan(rt)
	begin := func(rt *rapid.T) {
		got, err := m.Store.BeginAttempt(background(), l.engine, p)
		want, wantErr := m.oracle.BeginAttempt(background(), l.oracle, p)
		same(rt, "BeginAttempt", got, want, err, wantErr)
	}
	m.makeAgain(begin)
	begin(rt)
}

func (m *model) advance(rt *rapid.T) {
	fail := task.FailureOf(fault.New(rapid.SampledFrom([]fault.Code{fault.ProviderTimeout, fault.InvalidRequest}).Draw(rt, "code"), "no"))
	ended := closing(rapid.SampledFrom([]task.AttemptState{task.Rejected, task.UnknownOutcome, task.FailedAttempt}).Draw(rt, "outcome"))
	ended.Cost, ended.CostUnknown = task.Money(rapid.IntRange(0, 9).Draw(rt, "cost")), rapid.Bool().Draw(rt, "cost unknown")
	usage := task.Usage{Images: rapid.Int64Range(0, 5).Draw(rt, "images")}
	pause := rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(rt, "pause")
	s := rapid.SampledFrom([]store.Step{
		{},
		{Readopt: true},
		{Submitted: json.RawMessage(`{ "job": "<1>" }`)},
		{Close: ended},
		{Progress: new(0.25)},
		{Takeovers: new(3)},
		{Moves: []task.Transition{task.Start()}},
		{Moves: []task.Transition{task.Transfer()}},
		{Close: ended, Moves: []task.Transition{task.Fail(fail)}},
		{Moves: []task.Transition{task.Fail(fail)}},
		{Close: ended, Moves: []task.Transition{task.Cancel(&usage)}},
		{Close: ended, Moves: []task.Transition{task.CancelUnmetered()}},
		succeeded(usage),
		{Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"x"}`)}, usage)}},
	}).Draw(rt, "step")
	if rapid.Bool().Draw(rt, "release") {
		s.Release = &pause
	}
	l := m.drawLease(rt).write(rt)
	advance := func(rt *rapid.T) {
		got, err := m.Store.Advance(background(), l.engine, s)
		want, wantErr := m.oracle.Advance(background(), l.oracle, s)
		same(rt, "Advance", got, want, err, wantErr)
	}
	m.makeAgain(advance)
	advance(rt)
}

func (m *model) cancel(rt *rapid.T) {
	s, id := drawScope(rt), m.drawID(rt)
	got, err := m.Store.RequestCancel(background(), s, id)
	want, wantErr := m.oracle.RequestCancel(background(), s, id)
	same(rt, "RequestCancel", got, want, err, wantErr)
}

// show tells of a task as it is, or as it was at another revision.
func (m *model) show(rt *rapid.T) {
	s, id := drawScope(rt), m.drawID(rt)
	shown, err := m.oracle.GetTask(background(), s, id)
	if err != nil {
		shown = task.Task{ID: id, Scope: s}
	}
	shown.Revision += int64(rapid.SampledFrom([]int{0, 0, 0, -1}).Draw(rt, "revisions"))
	same(rt, "MarkShown", 0, 0, m.Store.MarkShown(background(), []task.Task{shown}), m.oracle.MarkShown(background(), []task.Task{shown}))
}

// sweep compares whole sweeps: how one is cut into steps is the engine's own.
func (m *model) sweep(rt *rapid.T) {
	r := store.SweepRequest{Retention: modelRetention, Limit: rapid.IntRange(1, 3).Draw(rt, "limit")}
	whole := func(s store.Store) (n int) {
		for {
			swept, err := s.Sweep(background(), r)
			if err != nil {
				rt.Fatalf("Sweep: %v", err)
			}
			if n += swept.Removed; swept.Removed == 0 {
				return n
			}
		}
	}
	if m.SweepsLate {
		m.oracle.Keep = func(t task.Task) bool {
			_, err := m.Store.GetTask(background(), t.Scope, t.ID)
			return err == nil
		}
	}
	same(rt, "Sweep", whole(m.Store), whole(m.oracle), nil, nil)
}

func (m *model) time(rt *rapid.T) {
	m.clock.Advance(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(rt, "time"))
}

func (m *model) crash(rt *rapid.T) {
	if m.Crash == nil {
		rt.Skip("the engine isn't durable")
	}
	m.Engine = m.Crash(m.test)
	if m.Lasting {
		return
	}
	m.oracle.Restart()
	for name := range m.generations {
		m.generations[name]++
	}
	m.beginSessions(rt)
}

// stats runs after every operation. Every counter is compared through a hold that can't be taken.
func (m *model) stats(rt *rapid.T) {
	got, err := m.Store.Stats(background())
	want, wantErr := m.oracle.Stats(background())
	got.Bytes = 0
	same(rt, "Stats", got, want, err, wantErr)
	m.sameDeliveries(rt)
	for _, names := range [][]string{nil, {"team"}, {"", "team", "user"}} {
		q := ever
		q.Metadata = names
		usage, err := usageOf(m.Registry, q)
		wantUsage, wantErr := usageOf(m.oracle, q)
		same(rt, "usage", usage, wantUsage, err, wantErr)
	}
	spend, err := spendOf(m.Registry, ever)
	wantSpend, wantErr := spendOf(m.oracle, ever)
	same(rt, "spend", spend, wantSpend, err, wantErr)
	for c := range m.oracle.Counters() {
		if end, ok := m.ends[c.Scope]; ok && m.SweepsLate && m.clock.Now().After(end) {
			continue // such an engine drops what is settled after its sweep
		}
		n := store.NewTask{
			ID: task.NewID(task.PrefixTask, m.clock.Now()), IdempotencyHash: hashOf("none"),
			Holds: []task.Hold{{Scope: c.Scope, Kind: c.Kind, Amount: 1 << 60, Limit: 1}},
		}
		_, err := m.Store.CreateTask(background(), n)
		_, wantErr := m.oracle.CreateTask(background(), n)
		same(rt, "counter", 0, 0, err, wantErr)
	}
}

// same compares answers, but for epochs, and errors by the properties that callers distinguish.
func same(rt *rapid.T, what string, got, want any, err, wantErr error) {
	rt.Helper()
	if kind(err) != kind(wantErr) {
		rt.Fatalf("%s: got error %q, want %q", what, kind(err), kind(wantErr))
	}
	opts := []cmp.Option{
		cmpopts.IgnoreFields(store.LeaseRef{}, "Epoch"), cmpopts.IgnoreFields(task.WriteMark{}, "Epoch"), cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		rt.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func kind(err error) string {
	known := []error{
		store.ErrNotFound, store.ErrConflict, store.ErrFenced, store.ErrRouteFull, store.ErrState,
		store.ErrFull, store.ErrExists, store.ErrClosed, store.ErrUnknown,
	}
	if he, ok := errors.AsType[*store.HoldError](err); ok {
		return fmt.Sprintf("hold %+v held %d", he.Hold, he.Held)
	}
	if i := slices.IndexFunc(known, func(k error) bool { return errors.Is(err, k) }); i >= 0 {
		return known[i].Error()
	}
	if err != nil {
		return "another"
	}
	return "none"
}
