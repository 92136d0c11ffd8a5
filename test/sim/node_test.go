package sim_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/gate"
	"unitask/internal/gateway"
	service "unitask/internal/node"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/supplier"
)

// node is one life of a gateway. After its death it goes on running in vain: its calls don't reach the
// engine or a supplier, and its answers are dropped.
type node struct {
	w      *world
	name   string
	gate   *gate.Gate
	g      *gateway.Gateway
	proven sync.Map // gate.Caller by secret
	dead   atomic.Bool
	frozen atomic.Int64 // end of the freeze, in which every call of the engine hangs, in nanoseconds
}

// crashPoint is a point at which a node can die.
type crashPoint int

const (
	beforeWrite crashPoint = iota
	afterWrite
	beforeSubmit
	afterSubmit
	duringPoll
	crashPoints
)

// crashPoint lets the node die here, if a crash is due at this point.
func (n *node) crashPoint(m crashPoint) { n.w.crashIfDue(n, m) }

// thaw waits until the node isn't frozen.
func (n *node) thaw() {
	if d := n.frozen.Load() - time.Now().UnixNano(); d > 0 {
		time.Sleep(time.Duration(d))
	}
}

// startNode starts a gateway over the engine.
func (w *world) startNode(name string, db *boltstore.DB) *node {
	w.t.Helper()
	n := &node{w: w, name: name}
	found := service.Suppliers{Policy: n.policy()}
	for _, f := range w.suppliers {
		found.Routes = append(found.Routes, routing.Route{
			Capability: f.capability, Supplier: f.name, Model: "one", Price: f.price, Approved: true, Mode: f.mode,
			SupplierCap: f.cap, Kind: supplier.Kind{Name: f.name, Capabilities: []string{string(f.capability)}},
			Adapter: adapter(n, f),
		})
	}
	var err error
	n.gate, n.g, err = service.NewGateway(service.Parts{
		Catalog: w.catalog, Store: w.planted.wrap(n, disk{db, n}), Keys: keyring{db, n}, Suppliers: found, Artifacts: w.artifacts, Fetcher: w.up,
		Limits: service.Limits{
			Gate:    gate.Defaults{OpenTasks: w.shape.open, Queue: w.shape.queue},
			Gateway: gateway.Limits{LeaseTerm: w.shape.lease, Retention: retention, ArtifactTTL: retention},
		},
		KeyPrefix: keyPrefix, Logger: slog.New(faultLog{n}),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	n.g.Start()
	return n
}

// faultLog is a log that reports workers whose step didn't fit their task, which no mishap of a run explains.
type faultLog struct{ n *node }

func (faultLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (l faultLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && errors.Is(err, store.ErrState) && !l.n.dead.Load() && l.n.w.planted == (plantedFault{}) {
			l.n.w.surprise("%s: %v", r.Message, err)
		}
		return true
	})
	return nil
}

func (l faultLog) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l faultLog) WithGroup(string) slog.Handler { return l }

// bury stops a dead node's goroutines.
func (w *world) bury(n *node) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	w.graves.Go(func() { _ = n.g.Shutdown(done) })
}

// caller authenticates the caller, as the server does before each request; here before the first.
func (n *node) caller(ctx context.Context, c customer) (gate.Caller, error) {
	if known, ok := n.proven.Load(c.secret); ok {
		return known.(gate.Caller), nil
	}
	proven, err := n.gate.Authenticate(ctx, "Bearer "+c.secret)
	if err != nil {
		return gate.Caller{}, err
	}
	n.proven.Store(c.secret, *proven)
	return *proven, nil
}

var _ store.Store = disk{}
