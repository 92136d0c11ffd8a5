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
var directory = sync.OnceValues(catalog.Default)

// world is one run: a service, its suppliers and its callers.
type world struct {
	t         *testing.T
	seed      uint64
	tasks     int
	choices   choices
	shape     shape
	planted   plantedFault
	suppliers []simSupplier
	reviews   reviews
	up        *upstream
	artifacts artifact.Store
	catalog   *catalog.Catalog
	dir       string
	calm      atomic.Bool // no more faults
	graves    sync.WaitGroup
	epochs    sync.Map // of a planted fault: the latest lease of each task
	stale     sync.Map // and how often each stale one was used

	db    *boltstore.DB
	files int // how many database files there were

	mu        sync.Mutex
	nodes     []*node   // those alive
	armed     *incident // the crash that is due
	tripped   chan *node
	customers []customer
	records   []*record
	surprises []string
	suffered  []incidentKind
}

// customer is an API key with its owner.
type customer struct {
	name   string
	secret string
	scope  task.Scope
	keyID  string
}

func newWorld(t *testing.T, seed uint64, tasks int, p plantedFault) *world {
	t.Helper()
	w := &world{
		t: t, seed: seed, tasks: tasks, choices: choices(seed), planted: p, suppliers: simSuppliers(), dir: mustTempDir(t),
		tripped: make(chan *node, 1),
	}
	w.shape = w.choices.shape()
	p.reshape(&w.shape)
	c, err := directory()
	if err == nil {
		w.catalog, err = c.WithDeadlines(map[catalog.Name]time.Duration{image: w.shape.deadline})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.up = newUpstream(w)
	w.reviews = reviews{asked: map[string]int64{}, clean: map[string]bool{}}
	w.artifacts = newMemArtifacts()
	if w.shape.folder {
		folder, err := artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(w.dir, "artifacts")})
		if err != nil {
			t.Fatal(err)
		}
		w.artifacts = folder
	}
	w.db = w.open(w.path())
	w.addCustomers()
	w.addEndpoints()
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
		Path: path, NoSync: true, MaxSize: maxFile, FlushAfter: w.shape.flush, Fatal: func(err error) { w.surprise("the engine ended: %v", err) },
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

func (w *world) dedupes(name string) bool {
	for _, f := range w.suppliers {
		if f.name == name {
			return f.dedupes
		}
	}
	return false
}

// dbImage is a database as it lies there: its file and its log's.
type dbImage map[string][]byte

// image waits until the writes that have reached the engine are complete.
func (w *world) image() dbImage {
	synctest.Wait()
	files := dbImage{}
	for _, suffix := range []string{"", ".log0", ".log1"} {
		raw, err := os.ReadFile(w.path() + suffix)
		if err != nil {
			w.t.Fatal(err)
		}
		files[suffix] = raw
	}
	return files
}

// put makes the image the database of the world's path.
func (files dbImage) put(w *world) {
	for suffix, raw := range files {
		if err := os.WriteFile(w.path()+suffix, raw, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}
