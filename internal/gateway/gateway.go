// Package gateway accepts, runs, transfers, recovers and expires tasks.
//
// A task's way is: decode → idempotency record → capability → schema → authorization → content rules → one durable
// commit (accept); ask a moderation supplier → choose a route → record the intent → submit → poll (run); keep the
// result's bytes → one commit (transfer). States only move forward, and no request is sent to a supplier before its
// intent is on disk.
//
// Invariants: at most one open attempt a task; a submission of unknown outcome is never sent again blindly; a worker
// that lost its lease writes no more; inputs and result bytes never reach a log; no error that leaves here names a
// supplier.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/inquiry"
	"unitask/internal/policy"
	"unitask/internal/room"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// Limits are the gateway's settings; New fills zero values with the defaults noted here.
type Limits struct {
	JSONDepth     int           // 64
	InlineMedia   int64         // decoded bytes of one inline media value: 10 MiB
	WorkMemory    int64         // of large inputs that are worked on at once, and their converted forms: 256 MiB
	ArtifactBytes int64         // of one result file: 2 GiB
	ArtifactTTL   time.Duration // 7 days
	SyncWait      time.Duration // how long a synchronous POST waits: 30 s
	PlaceWait     time.Duration // how long synchronous work waits for a free route: 2 s
	Retention     time.Duration // of a task after its last change: 30 days
	Usage         time.Duration // of the sums of a day's usage: 400 days
	Workers       int           // asynchronous tasks at work on this node, jobs between two polls not counted: 512
	Takeovers     int           // how often in a row a task may be taken over in the middle of its work: 5
	LeaseTerm     time.Duration // of the node's session: 30 s
	Grace         time.Duration // for work in hand at shutdown: 20 s
	UsageBy       []string      // names of metadata by whose pairs the usage of new tasks is summed too
}

// Config configures a Gateway. Optional members say so; the rest, but for Limits, is required.
type Config struct {
	Catalog   *catalog.Catalog
	Store     store.Store
	Gate      *gate.Gate
	Routes    *routing.Table
	Artifacts artifact.Store
	Fetcher   Fetcher
	Policy    *policy.Policy // nil: all content is taken
	Limits    Limits
	Now       func() time.Time // nil: time.Now
	Logger    *slog.Logger     // nil: discarded
	Observer  Observer         // nil: no observer
	Runs      string           // program and settings, for the other nodes on the store
	Desk      *inquiry.Desk    // of questions between the nodes on the store; nil: they are asked and answer nothing
	Address   string           // the base URL at which they reach this one; "": they don't

	// StateSecret encrypts the states of chats: StateSecretSize random bytes that outlive the process, the same on each
	// node of a store. nil: chats have no states.
	StateSecret []byte
}

// Gateway is safe for concurrent use. Start it once, Shutdown it once.
type Gateway struct {
	catalog   atomic.Pointer[catalog.Catalog]
	routes    atomic.Pointer[routing.Table]
	policy    atomic.Pointer[policy.Policy]
	health    *routing.Health
	pausing   sync.Mutex // while pauses are read, so that the last reading holds
	store     store.Store
	accounts  store.Accounts // of the store; nil: no account lowers its Keep
	forgotten map[string]forgotten
	gate      *gate.Gate
	artifacts artifact.Store
	fetcher   Fetcher
	limits    atomic.Pointer[Limits]
	now       func() time.Time
	clock     store.Clock // for what expires
	log       *slog.Logger
	observer  Observer
	session   atomic.Pointer[session] // under another name once it has dropped its work
	runs      atomic.Pointer[string]
	desk      *inquiry.Desk
	fleet     atomic.Pointer[fleet]             // nil for a store of one node, and before the first look
	address   string                            // of this node, for the others
	addresses atomic.Pointer[map[string]string] // of the others that have one, by name; nil like fleet

	stateSecret []byte
	summed      *usageTexts

	loads    *room.Room // for large inputs, in memory
	erasing  sync.Mutex // held while one is read to be erased
	waiters  sync.Pool  // of *waiter
	texts    textStreams
	showings showings
	workers  sync.WaitGroup     // everything that works on a task or is about to begin
	services sync.WaitGroup     // dispatch, heartbeat, upkeep
	halt     context.CancelFunc // no more claims, polls and waits
	haltCtx  context.Context
	abort    context.CancelFunc // the end of the grace: all work stops
	abortCtx context.Context
	quiet    context.CancelFunc // the last worker is done: the leases need no more keeping
	quietCtx context.Context

	mu         sync.Mutex
	stopping   bool
	running    map[string]*cancelHandle // by task id
	parked     map[string]*parked       // by task id
	polls      int                      // steps of parked tasks under way
	suspecting bool                     // a task that was taken over again and again has its turn
	free       chan struct{}            // a worker slot became free
	slots      int
}

// New returns a Gateway that is idle until Start.
func New(c Config) (*Gateway, error) {
	if c.Catalog == nil || c.Store == nil || c.Gate == nil || c.Routes == nil || c.Artifacts == nil || c.Fetcher == nil {
		return nil, errors.New("gateway: Catalog, Store, Gate, Routes, Artifacts and Fetcher are required")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Observer == nil {
		c.Observer = noopObserver{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Desk == nil {
		c.Desk = inquiry.New(inquiry.Config{AnswerFunc: func(context.Context, string) json.RawMessage { return nil }})
	}
	g := &Gateway{
		health: routing.NewHealth(c.Now), store: c.Store, gate: c.Gate, artifacts: c.Artifacts, fetcher: c.Fetcher,
		address: c.Address, stateSecret: c.StateSecret, summed: newUsageTexts(), now: c.Now, clock: store.ClockOf(c.Store, c.Now), log: c.Logger, observer: c.Observer, desk: c.Desk,
		forgotten: map[string]forgotten{}, running: map[string]*cancelHandle{}, parked: map[string]*parked{}, free: make(chan struct{}, 1),
	}
	g.accounts, _ = c.Store.(store.Accounts)
	limits := c.Limits.withDefaults()
	g.limits.Store(&limits)
	g.loads = room.New(limits.WorkMemory, limits.WorkMemory/loadParts)
	g.slots = limits.Workers
	g.catalog.Store(c.Catalog)
	g.routes.Store(c.Routes)
	g.policy.Store(c.Policy)
	g.runs.Store(&c.Runs)
	g.haltCtx, g.halt = context.WithCancel(context.Background())
	var abort context.CancelCauseFunc
	g.abortCtx, abort = context.WithCancelCause(context.Background())
	g.abort = func() { abort(errDropped) }
	g.quietCtx, g.quiet = context.WithCancel(context.Background())
	g.session.Store(&session{node: task.NewID("node_", c.Now())})
	return g, nil
}

// Settings are the parts of a Config that can change while the gateway works. Catalog and Routes are required.
type Settings struct {
	Catalog *catalog.Catalog
	Routes  *routing.Table
	Policy  *policy.Policy // nil: all content is taken
	Limits  Limits         // the lease's term and the work's memory stay as they were
	Runs    string         // as in Config
}

// Apply replaces the settings for whatever begins from now on. Work under way keeps the route that it
// has, whether the new table holds it or not.
func (g *Gateway) Apply(s Settings) {
	limits := s.Limits.withDefaults()
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.limits.Load()
	limits.LeaseTerm, limits.WorkMemory = old.LeaseTerm, old.WorkMemory
	g.slots += limits.Workers - old.Workers
	g.limits.Store(&limits)
	g.routes.Store(s.Routes.WithRetired(g.routes.Load()))
	g.catalog.Store(s.Catalog)
	g.policy.Store(s.Policy)
	g.runs.Store(&s.Runs)
}

// UsageBy returns the names of metadata by whose pairs the usage of new tasks is summed.
func (g *Gateway) UsageBy() []string { return slices.Clone(g.limits.Load().UsageBy) }

// Start begins the node's session, and to claim work, to keep leases and to clean up in the background. Without a
// session no work is claimed; the heartbeat goes on trying.
func (g *Gateway) Start() {
	if err := g.renewSession(g.quietCtx); err != nil {
		g.log.Error("beginning a session failed", slog.Any("error", err))
	}
	s, shared := g.store.(store.Fleet)
	if shared {
		g.exchange(g.quietCtx, s) // before work is taken over that another node may know better
	}
	if err := g.ReadPauses(g.quietCtx); err != nil { // before work is sent to a paused supplier
		g.log.Error("reading the pauses of suppliers failed", slog.Any("error", err))
	}
	g.services.Go(func() { g.dispatch(g.haltCtx) })
	g.services.Go(func() { g.heedPauses(g.quietCtx) })
	g.services.Go(func() { g.noteUse(g.haltCtx) })
	if shared {
		g.services.Go(func() { g.heedCancels(g.quietCtx, s) })
		g.services.Go(func() { g.watchFleet(g.quietCtx, s) })
		g.services.Go(func() { g.desk.Run(g.quietCtx) })
	}
	g.services.Go(func() { g.upkeep(g.haltCtx, g.sweepTasks) })
	g.services.Go(func() { g.upkeep(g.haltCtx, g.sweepArtifacts) })
	if g.accounts != nil {
		g.services.Go(func() { g.upkeep(g.haltCtx, g.forget) })
	}
	g.services.Go(func() { g.heartbeat(g.quietCtx) })
}

// errNoRoom is why a node without room for files isn't ready.
var errNoRoom = fault.New(fault.CapacityExhausted, "the service has no room for more data at the moment")

// Ready returns why tasks are refused, whoever sends them: the gateway stops, the store can't be read, has no room
// or as many waiting tasks as there may be, or the artifacts have no room for an input as large as any that is taken.
// nil: tasks are accepted.
func (g *Gateway) Ready(ctx context.Context) error {
	if !g.enter() {
		return errStopping
	}
	defer g.workers.Done()
	s, err := g.store.Stats(ctx)
	switch {
	case err != nil:
		return err
	case s.Full:
		return store.ErrFull
	}
	if err := g.fileRoom(); err != nil {
		return err
	}
	return g.gate.QueueRoom(s.ByState[task.Queued])
}

// largestInput is how many of the largest inline media value an input may take, in base64 and with the JSON around
// it.
const largestInput = 2

// fileRoom returns why large inputs can't be kept.
func (g *Gateway) fileRoom() error {
	switch left, err := g.artifacts.Room(); {
	case err != nil:
		return err
	case left < largestInput*g.limits.Load().InlineMedia:
		return errNoRoom
	default:
		return nil
	}
}

// enter counts the caller in among those who may write to the store, until it calls workers.Done; it
// reports false once the gateway stops.
func (g *Gateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopping {
		return false
	}
	g.workers.Add(1)
	return true
}

// Shutdown refuses new tasks at once and leaves known jobs to be resumed. Synchronous work, and submissions and
// transfers under way, get the grace. It returns when no goroutine writes to the store any more; ctx shortens the
// grace.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	g.stopping = true
	g.forgetParkedLocked()
	g.mu.Unlock()
	g.halt()
	done := make(chan struct{})
	go func() {
		g.workers.Wait()
		close(done)
	}()
	grace := time.NewTimer(g.limits.Load().Grace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	case <-ctx.Done():
	}
	g.abort()
	<-done
	g.quiet()
	g.services.Wait()
	g.endSession(ctx)
	return g.gate.FlushLastUsed(context.WithoutCancel(ctx))
}

func (l Limits) withDefaults() Limits {
	def := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	dur := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	def(&l.InlineMedia, 10<<20)
	def(&l.WorkMemory, 256<<20)
	def(&l.ArtifactBytes, 2<<30)
	dur(&l.ArtifactTTL, 7*24*time.Hour)
	dur(&l.SyncWait, 30*time.Second)
	dur(&l.PlaceWait, 2*time.Second)
	dur(&l.Retention, 30*24*time.Hour)
	dur(&l.Usage, 400*24*time.Hour)
	dur(&l.LeaseTerm, 30*time.Second)
	dur(&l.Grace, 20*time.Second)
	if l.JSONDepth == 0 {
		l.JSONDepth = 64
	}
	if l.Workers == 0 {
		l.Workers = 512
	}
	if l.Takeovers == 0 {
		l.Takeovers = 5
	}
	return l
}
