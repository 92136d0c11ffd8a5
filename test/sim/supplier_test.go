package sim_test

import (
	"sync"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// simSupplier is one supplier: what it can do beyond taking a submission, and what it charges.
type simSupplier struct {
	name       string
	mode       task.Mode
	capability catalog.Name
	price      task.Price
	cap        int  // attempts in flight that the router may have here; 0: any number
	jobs       bool // it answers with a job, which can be polled and canceled
	dedupes    bool // a second submission under one key is the first one
	finds      bool // it can be asked after a submission
	says       bool // its results name the charge
}

const (
	chat  catalog.Name = "text.chat"
	image catalog.Name = "image.generate"
)

func tokens(n task.Money) task.Price {
	return task.Price{Unit: task.PerMillionTokens, Input: n * task.USD, Output: 2 * n * task.USD}
}

func pieces(n task.Money) task.Price {
	return task.Price{Unit: task.PerImage, Output: n * task.USD / 100}
}

// simSuppliers has one of each class and kind, cheapest first within its capability. Test keys have some of
// their own.
func simSuppliers() []simSupplier {
	return []simSupplier{
		{name: "plain", mode: task.Live, capability: chat, price: tokens(1)},
		{name: "keyed", mode: task.Live, capability: chat, price: tokens(2), dedupes: true, says: true},
		{name: "found", mode: task.Live, capability: chat, price: tokens(3), finds: true, cap: 6},
		{name: "jobs", mode: task.Live, capability: image, price: pieces(1), jobs: true, cap: 12},
		{name: "jobs-found", mode: task.Live, capability: image, price: pieces(2), jobs: true, finds: true, says: true},
		{name: "jobs-keyed", mode: task.Live, capability: image, price: pieces(3), jobs: true, dedupes: true},
		{name: "play", mode: task.Test, capability: chat, price: tokens(1)},
		{name: "play-jobs", mode: task.Test, capability: image, price: pieces(1), jobs: true, finds: true},
	}
}

// piece is the work of one submission that arrived. It goes on by itself: its state is a function of
// the time.
type piece struct {
	supplier  simSupplier
	key       string // of the task, as its caller named it
	submitKey string
	fate      jobFate
	usage     supplier.Usage
	endsAt    time.Time
	stopped   bool // canceled in time
	polls     int64
	opens     int // of its file
}

// jobFate is how a piece of work ends.
type jobFate int

const (
	succeeds jobFate = iota
	fails
	vanishes
	never // it outlasts every deadline
)

// upstream is all suppliers together. It outlives every crash of the service.
type upstream struct {
	w *world

	mu     sync.Mutex
	work   map[string]*piece // by supplier and submit key, the latest
	sent   []*sending
	counts map[string]int64 // exchanges by supplier and task
}

// sending is one request that arrived.
type sending struct {
	supplier, key, submitKey string
	piece                    *piece // nil: it was refused
}

func newUpstream(w *world) *upstream {
	return &upstream{w: w, work: map[string]*piece{}, counts: map[string]int64{}}
}

// count returns how many exchanges about the task came before at the supplier.
func (u *upstream) count(f simSupplier, key string) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.counts[f.name+"/"+key]++
	return u.counts[f.name+"/"+key]
}

// arrive takes a submission, nil work for one that is refused. A supplier that honours keys returns what
// it has under the key already.
func (u *upstream) arrive(f simSupplier, key, submitKey string, fresh *piece) *piece {
	u.mu.Lock()
	defer u.mu.Unlock()
	id := f.name + "/" + submitKey
	if old := u.work[id]; old != nil && f.dedupes {
		return old
	}
	u.sent = append(u.sent, &sending{supplier: f.name, key: key, submitKey: submitKey, piece: fresh})
	if fresh != nil {
		u.work[id] = fresh
	}
	return fresh
}

func (u *upstream) find(f simSupplier, submitKey string) *piece {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.work[f.name+"/"+submitKey]
}

// count of the suppliers, for the checker. A supplier that honours keys was sent one submission a key,
// however often it was refused under it.
func (u *upstream) submissions() []invariant.Submission {
	u.mu.Lock()
	defer u.mu.Unlock()
	var all []invariant.Submission
	at := map[string]int{}
	for _, s := range u.sent {
		sub := invariant.Submission{Key: s.key, SubmitKey: s.submitKey, Supplier: s.supplier, Charge: s.piece.charge()}
		id := s.supplier + "/" + s.submitKey
		if i, known := at[id]; known && u.w.dedupes(s.supplier) {
			all[i].Charge += sub.Charge
			continue
		}
		at[id] = len(all)
		all = append(all, sub)
	}
	return all
}

// charge is what the supplier takes for the work: nothing for what it never finished by its own fault.
func (p *piece) charge() task.Money {
	if p == nil || p.fate == fails || p.fate == vanishes {
		return 0
	}
	return p.supplier.price.Cost(task.Usage(p.usage))
}
