// Package memstore is the storage contract over plain maps and one mutex. It is the model that other
// engines are compared with: each method does the plainest thing that is right, by looking at every
// task. It isn't durable, and it isn't meant for more than tests.
package memstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// DB is the engine. It implements every interface of package store.
type DB struct {
	// Keep says which tasks a sweep leaves for now, for comparison with an engine that sweeps late; nil: none.
	Keep func(task.Task) bool

	mu     sync.Mutex
	now    func() time.Time
	bell   store.Bell
	closed bool

	tasks    map[string]row
	counters map[store.Counter]int64
	ends     map[store.Counter]time.Time // of counters that aren't of interest for ever
	nodes    map[string]*node            // by name, those whose session is over included
	leases   map[string]lease
	pauses   map[string]time.Time
	turns    map[string]int64 // the last turn of each account that has open tasks
	turn     int64
	epoch    int64

	accounts map[string]account.Account
	keys     map[string]account.Key
	changes  uint64 // of accounts and keys
	links    map[task.Hash]account.Link
	sessions map[task.Hash]account.Session
	secrets  map[string][]byte
	usage    map[store.UsageKey]store.Usage
	spend    map[store.SpendKey]store.Spend

	endpoints  map[string]webhook.Endpoint
	deliveries map[deliveryKey]store.Outgoing
}

// row is a task.
type row struct {
	raw  []byte     // in JSON, so that no memory is shared with callers
	look *task.Task // the same, for what only looks: it isn't changed, and no caller gets it
}

// node is a node's session.
type node struct {
	expires time.Time
	claim   int64            // the number of its last claim
	claimed []store.LeaseRef // and the leases of that one
	note    []byte
}

type lease struct {
	node  string
	epoch int64
	place []string // the limits it counts against until it begins an attempt
}

var (
	_ store.Store    = (*DB)(nil)
	_ store.Accounts = (*DB)(nil)
	_ store.Keys     = (*DB)(nil)
	_ store.Callers  = (*DB)(nil)
	_ store.Sessions = (*DB)(nil)
	_ store.UsageLog = (*DB)(nil)
	_ store.Secrets  = (*DB)(nil)
	_ store.Pauses   = (*DB)(nil)
	_ store.Webhooks = (*DB)(nil)
)

// New returns an empty engine on the given clock.
func New(now func() time.Time) *DB {
	return &DB{
		now: now, tasks: map[string]row{}, counters: map[store.Counter]int64{}, ends: map[store.Counter]time.Time{},
		nodes: map[string]*node{}, leases: map[string]lease{}, pauses: map[string]time.Time{}, turns: map[string]int64{},
		accounts: map[string]account.Account{}, keys: map[string]account.Key{}, secrets: map[string][]byte{},
		links: map[task.Hash]account.Link{}, sessions: map[task.Hash]account.Session{},
		usage: map[store.UsageKey]store.Usage{}, spend: map[store.SpendKey]store.Spend{},
		endpoints: map[string]webhook.Endpoint{}, deliveries: map[deliveryKey]store.Outgoing{},
	}
}

// Restart has the effect of a restart on an engine of one process: sessions, leases, pauses and turns are gone.
func (db *DB) Restart() {
	db.mu.Lock()
	defer db.mu.Unlock()
	clear(db.nodes)
	clear(db.leases)
	clear(db.pauses)
	clear(db.turns)
}

// Counters returns the hold counters that aren't 0, for comparison.
func (db *DB) Counters() map[store.Counter]int64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	all := map[store.Counter]int64{}
	for c, n := range db.counters {
		all[c] = n
	}
	return all
}

// Held implements store.Counters.
func (db *DB) Held(ctx context.Context, counters []store.Counter) ([]int64, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	all := make([]int64, 0, len(counters))
	for _, c := range counters {
		all = append(all, db.counters[c])
	}
	return all, nil
}

// CreateTask implements store.Store.
func (db *DB) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	if err := db.lock(ctx); err != nil {
		return store.Created{}, err
	}
	defer db.mu.Unlock()
	found, err := db.find(n.Scope, n.IdempotencyHash)
	admit := store.AdmitCreated
	if err == nil {
		if admit, again := n.Repeats(&found); again {
			return store.Created{Task: found, Admit: admit, Lease: db.leaseOf(found, n.First)}, nil
		}
		if admit, err = n.Admit(found); err != nil {
			return store.Created{}, err
		}
		if admit == store.AdmitReplayed {
			return store.Created{Task: found, Admit: admit}, nil
		}
	}
	if err := store.CheckHolds(n.Holds, func(c store.Counter) int64 { return db.counters[c] }); err != nil {
		return store.Created{}, err
	}
	var t task.Task
	if admit == store.AdmitReopened {
		t, err = n.Reopen(found, db.wall())
	} else if _, taken := db.tasks[n.ID]; taken {
		return store.Created{}, store.ErrExists
	} else {
		t, err = n.Record(db.wall())
	}
	if err != nil {
		return store.Created{}, err
	}
	c, err := db.admit(found, t, admit, n.First)
	db.limit(n.Holds)
	return c, err
}

// limit records when the holds' counters end, if that isn't known yet.
func (db *DB) limit(holds []task.Hold) {
	for _, h := range holds {
		c := store.Counter{Scope: h.Scope, Kind: h.Kind}
		if _, known := db.ends[c]; !known && h.Lasts > 0 && db.counters[c] > 0 {
			db.ends[c] = db.wall().Add(h.Lasts)
		}
	}
}

func (db *DB) admit(before, t task.Task, admit store.Admit, first *store.First) (store.Created, error) {
	c := store.Created{Task: t, Admit: admit}
	if first != nil && db.live(first.Node) {
		if p, ok := first.Pick(t, db.inFlight); ok {
			started, err := store.Begin(t, p, db.wall())
			if err != nil {
				return store.Created{}, err
			}
			started.Revision = t.Revision
			c.Task = started
		}
		db.epoch++
		db.leases[t.ID] = lease{node: first.Node, epoch: db.epoch}
		c.Lease = &store.Lease{Ref: store.LeaseRef{TaskID: t.ID, Epoch: db.epoch}, Task: c.Task, Left: t.DeadlineAt.Sub(db.now())}
	}
	return c, db.save(before, c.Task)
}

// FindTask implements store.Store.
func (db *DB) FindTask(ctx context.Context, s task.Scope, idempotency task.Hash) (task.Task, error) {
	if err := db.lock(ctx); err != nil {
		return task.Task{}, err
	}
	defer db.mu.Unlock()
	return db.find(s, idempotency)
}

// GetTask implements store.Store.
func (db *DB) GetTask(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	if err := db.lock(ctx); err != nil {
		return task.Task{}, err
	}
	defer db.mu.Unlock()
	return db.get(s, id)
}

// ListTasks implements store.Store.
func (db *DB) ListTasks(ctx context.Context, q store.ListQuery) (store.Page, error) {
	if err := db.lock(ctx); err != nil {
		return store.Page{}, err
	}
	defer db.mu.Unlock()
	if q.Cursor != "" && !task.ValidID(task.PrefixTask, q.Cursor) {
		return store.Page{}, store.ErrNotFound
	}
	var page store.Page
	all := db.all()
	if !q.OldestFirst {
		slices.Reverse(all)
	}
	for _, t := range all {
		if q.Cursor != "" && (t.ID == q.Cursor || (t.ID > q.Cursor) != q.OldestFirst) || !q.Selects(t) {
			continue
		}
		if len(page.Tasks) == q.PageSize() {
			page.Next = page.Tasks[len(page.Tasks)-1].ID
			return page, nil
		}
		page.Tasks = append(page.Tasks, db.tasks[t.ID].copy())
	}
	return page, nil
}

// Wake implements store.Store.
func (db *DB) Wake(topic string) (<-chan struct{}, func()) { return db.bell.Wake(topic) }

// Stats implements store.Store.
func (db *DB) Stats(ctx context.Context) (store.Stats, error) {
	if err := db.lock(ctx); err != nil {
		return store.Stats{}, err
	}
	defer db.mu.Unlock()
	s := store.Stats{ByState: map[task.State]int64{task.Queued: 0, task.Running: 0, task.Transferring: 0}}
	for _, r := range db.tasks {
		if t := r.look; !t.State.Terminal() {
			s.ByState[t.State]++
		}
	}
	return s, nil
}

// Close implements store.Store.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.closed = true
	return nil
}

// lock takes the mutex unless the context has ended or the engine is closed.
func (db *DB) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return store.ErrClosed
	}
	return nil
}

func (db *DB) wall() time.Time { return db.now().UTC().Round(0) }

func (db *DB) get(s task.Scope, id string) (task.Task, error) {
	if r, ok := db.tasks[id]; ok && r.look.Scope == s {
		return r.copy(), nil
	}
	return task.Task{}, store.ErrNotFound
}

func (db *DB) find(s task.Scope, hash task.Hash) (task.Task, error) {
	for _, r := range db.tasks {
		if r.look.Scope == s && r.look.IdempotencyHash == hash {
			return r.copy(), nil
		}
	}
	return task.Task{}, store.ErrNotFound
}

// all returns every task, oldest first, to look at.
func (db *DB) all() []*task.Task {
	all := make([]*task.Task, 0, len(db.tasks))
	for _, r := range db.tasks {
		all = append(all, r.look)
	}
	slices.SortFunc(all, func(a, b *task.Task) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// save records after in place of before and settles the counters.
func (db *DB) save(before, after task.Task) error {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false) // a request is read back as it was
	if err := enc.Encode(after); err != nil {
		return err
	}
	for _, change := range store.HoldChanges(nil, &before, &after) {
		c, by := change.Counter, change.By
		if db.counters[c] += by; db.counters[c] <= 0 {
			delete(db.counters, c)
		}
	}
	db.count(&before, &after)
	db.notify(&before, &after)
	r := row{raw: raw.Bytes()}
	t := r.copy()
	r.look = &t
	db.tasks[after.ID] = r
	if l, ok := db.leases[after.ID]; ok && after.OpenAttempt() != nil {
		l.place = nil // it counts as an attempt now
		db.leases[after.ID] = l
	}
	if after.State.Terminal() {
		delete(db.leases, after.ID)
		delete(db.pauses, after.ID)
		if !slices.ContainsFunc(db.all(), func(t *task.Task) bool {
			return t.Scope.Account == after.Scope.Account && !t.State.Terminal()
		}) {
			delete(db.turns, after.Scope.Account)
		}
	}
	db.bell.Ring(after.ID, store.TopicQueue)
	return nil
}

// inUse returns the count against a cap when a claim looks for a place.
func (db *DB) inUse(key string) int {
	n := db.inFlight(key)
	for id, l := range db.leases {
		if db.held(id) && slices.Contains(l.place, key) {
			n++
		}
	}
	return n
}

// inFlight counts the open attempts under a cap.
func (db *DB) inFlight(key string) int {
	n := 0
	for _, r := range db.tasks {
		if a := r.look.OpenAttempt(); a != nil {
			for _, c := range a.Caps {
				if c.Key == key {
					n++
				}
			}
		}
	}
	return n
}

// copy returns the task in memory of its own.
func (r row) copy() task.Task {
	var t task.Task
	if err := json.Unmarshal(r.raw, &t); err != nil {
		panic("memstore: " + err.Error()) // written by this package
	}
	return t
}
