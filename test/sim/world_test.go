package sim_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

const (
	keyPrefix = "svc"
	// retention is longer than any run.
	retention = 30 * 24 * time.Hour
)

// directory is the built-in one, read once.
var directory = func() *catalog.Catalog {
	c, err := catalog.Default()
	if err != nil {
		panic(err)
	}
	return c
}()

// shape is what the seed makes of a run: how many nodes and callers, how good the disk, what befalls
// them.
type shape struct {
	nodes   int
	callers int
	leisure time.Duration // the longest between two tasks of a caller
	lease   time.Duration
	slow    time.Duration // the longest that a write takes; 0: none takes any time
	fills   bool          // the disk is full now and then
	open    int           // open tasks a key, 0: any number
	queue   int           // waiting tasks, 0: any number
	folder  bool          // results are kept in a real folder
	month   bool          // a month passes at the end
	blows   []blow
}

// blow is something that befalls the service.
type blow struct {
	after time.Duration // since the last one
	kind  blowKind
	at    moment        // of a crash
	down  time.Duration // until the next start, or for how long it is frozen
}

type blowKind string

const (
	restart   blowKind = "restart"    // in good order
	crash     blowKind = "crash"      // the machine, with all nodes
	nodeCrash blowKind = "node crash" // one of two nodes; the other takes over
	freeze    blowKind = "freeze"     // one of two nodes hangs past its leases, and then goes on
)

func (d dice) shape() shape {
	rng := d.of("shape", "", 0)
	s := shape{nodes: 1 + rng.IntN(2), callers: 30 + rng.IntN(50), lease: 30 * time.Second}
	if s.nodes == 1 && oneIn(rng, 2) {
		s.lease = 100 * 365 * 24 * time.Hour // as serve sets it
	}
	if oneIn(rng, 2) {
		s.slow = between(rng, time.Millisecond, 2*time.Second)
	}
	s.leisure = between(rng, time.Second, 30*time.Second)
	s.fills, s.folder, s.month = oneIn(rng, 3), oneIn(rng, 10), oneIn(rng, 5)
	if oneIn(rng, 4) {
		s.open = 3 + rng.IntN(10)
	}
	if oneIn(rng, 4) {
		s.queue = 5 + rng.IntN(20)
	}
	kinds := []blowKind{restart, crash, crash}
	if s.nodes > 1 {
		kinds = append(kinds, nodeCrash, freeze, freeze)
	}
	for range rng.IntN(6) {
		s.blows = append(s.blows, blow{
			after: between(rng, time.Second, 40*time.Second), kind: kinds[rng.IntN(len(kinds))],
			at: moment(rng.IntN(int(moments))), down: between(rng, 100*time.Millisecond, 45*time.Second),
		})
	}
	return s
}

// world is one run: a service, its suppliers and its callers.
type world struct {
	t      *testing.T
	seed   uint64
	tasks  int
	dice   dice
	shape  shape
	plant  plant
	firms  []firm
	up     *upstream
	pantry artifact.Store
	dir    string
	calm   atomic.Bool // no more faults
	graves sync.WaitGroup
	epochs sync.Map // of a planted fault: the latest lease of each task
	stale  sync.Map // and how often each stale one was used

	db    *boltstore.DB
	files int // how many database files there were

	mu        sync.Mutex
	nodes     []*node // those alive
	armed     *blow   // the crash that is due
	tripped   chan *node
	customers []customer
	records   []*record
	surprises []string
	suffered  []blowKind
}

// customer is an API key with its owner.
type customer struct {
	name   string
	secret string
	scope  task.Scope
	keyID  string
}

func newWorld(t *testing.T, seed uint64, tasks int, p plant) *world {
	t.Helper()
	w := &world{
		t: t, seed: seed, tasks: tasks, dice: dice(seed), plant: p, firms: firms(), dir: mustTempDir(t),
		tripped: make(chan *node, 1),
	}
	w.shape = w.dice.shape()
	p.reshape(&w.shape)
	w.up = newUpstream(w)
	w.pantry = newPantry()
	if w.shape.folder {
		folder, err := artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(w.dir, "artifacts")})
		if err != nil {
			t.Fatal(err)
		}
		w.pantry = folder
	}
	w.db = w.open(w.path())
	w.addCustomers()
	w.start()
	return w
}

// mustTempDir prefers memory: the simulation is about logic, not about disks.
func mustTempDir(t *testing.T) string {
	t.Helper()
	parent := "/dev/shm"
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = t.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "unitask-sim-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (w *world) path() string { return filepath.Join(w.dir, strconv.Itoa(w.files)+".db") }

func (w *world) open(path string) *boltstore.DB {
	db, err := boltstore.Open(boltstore.Config{
		Path: path, NoSync: true, MaxSize: maxFile, Fatal: func(err error) { w.surprise("the engine ended: %v", err) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return db
}

// maxFile is far more than a run needs; the file grows in steps of a sixteenth.
const maxFile = 64 << 20

func (w *world) addCustomers() {
	ctx := context.Background()
	for i := range 4 {
		a := account.Account{ID: task.NewID(task.PrefixAccount, time.Now()), Name: "account " + strconv.Itoa(i), CreatedAt: time.Now()}
		if err := w.db.PutAccount(ctx, a); err != nil {
			w.t.Fatal(err)
		}
		for _, mode := range []task.Mode{task.Live, task.Test, task.Live} {
			secret := account.NewKeySecret(keyPrefix, mode)
			k := account.Key{ID: task.NewID(task.PrefixKey, time.Now()), Account: a.ID, Mode: mode, Hash: account.HashSecret(secret)}
			if err := w.db.PutKey(ctx, k); err != nil {
				w.t.Fatal(err)
			}
			w.customers = append(w.customers, customer{
				name: "caller " + strconv.Itoa(len(w.customers)), secret: secret, scope: task.Scope{Account: a.ID, Mode: mode}, keyID: k.ID,
			})
		}
	}
}

// start starts every node that isn't alive.
func (w *world) start() {
	alive := map[string]bool{}
	for _, n := range w.alive() {
		alive[n.name] = true
	}
	for i := range w.shape.nodes {
		name := "node" + strconv.Itoa(i)
		if alive[name] {
			continue
		}
		time.Sleep(137 * time.Nanosecond * time.Duration(i+1)) // no two nodes tick at the same moment
		n := w.startNode(name, w.db)
		w.mu.Lock()
		w.nodes = append(w.nodes, n)
		w.mu.Unlock()
	}
}

func (w *world) alive() []*node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*node(nil), w.nodes...)
}

// full reports whether the disk has no room now: for two seconds in each twenty.
func (w *world) full() bool { return w.shape.fills && time.Now().UnixNano()/1e9%20 < 2 }

func (w *world) dedupes(name string) bool {
	for _, f := range w.firms {
		if f.name == name {
			return f.dedupes
		}
	}
	return false
}

// trip kills the node, or the whole machine, if a crash is due at this place.
func (w *world) trip(n *node, m moment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed == nil || w.armed.at != m || n.dead.Load() {
		return
	}
	w.kill(n)
}

// kill marks the node dead, and with it the others where the machine goes down. The lock is held.
func (w *world) kill(n *node) {
	var left []*node
	for _, other := range w.nodes {
		if other == n || w.armed.kind == crash {
			other.dead.Store(true)
			w.bury(other)
		} else {
			left = append(left, other)
		}
	}
	w.nodes, w.armed = left, nil
	w.tripped <- n
}

// suffer deals the blows one after the other, until ctx ends.
func (w *world) suffer(ctx context.Context) {
	for _, b := range w.shape.blows {
		if !rest(ctx, b.after) {
			return
		}
		w.suffered = append(w.suffered, b.kind)
		switch b.kind {
		case restart:
			w.restart(b)
		case freeze:
			n := w.alive()[0]
			n.frozen.Store(time.Now().Add(w.shape.lease/2 + b.down).UnixNano())
		default:
			w.crash(b)
		}
	}
}

func (w *world) restart(b blow) {
	nodes := w.alive()
	w.mu.Lock()
	w.nodes = nil
	w.mu.Unlock()
	for _, n := range nodes {
		if err := n.g.Shutdown(context.Background()); err != nil && !n.dead.Load() {
			w.surprise("shutdown: %v", err)
		}
	}
	if err := w.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(b.down)
	w.db = w.open(w.path())
	w.start()
}

// crash kills at the blow's place, or after half a minute wherever the service is.
func (w *world) crash(b blow) {
	stale := w.plant.image(w)
	w.mu.Lock()
	w.armed = &b
	w.mu.Unlock()
	select {
	case <-w.tripped:
	case <-time.After(30 * time.Second):
		w.mu.Lock()
		if w.armed != nil && len(w.nodes) > 0 {
			w.kill(w.nodes[0])
		}
		w.mu.Unlock()
		<-w.tripped
	}
	if b.kind == crash {
		synctest.Wait() // what had reached the engine is through
		image := stale
		if image == nil {
			image = mustRead(w.t, w.path())
		}
		w.files++
		if err := os.WriteFile(w.path(), image, 0o600); err != nil {
			w.t.Fatal(err)
		}
		if err := w.db.Close(); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(b.down)
		w.db = w.open(w.path())
	} else {
		time.Sleep(b.down)
	}
	w.start()
}

func mustRead(t *testing.T, path string) []byte {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
