package sim_test

import (
	"sync"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// simSupplier is one supplier: its abilities beyond taking a submission, and its prices.
type simSupplier struct {
	name       string
	mode       task.Mode
	capability catalog.Name
	price      task.Price
	cap        int  // attempts in flight that the router may have here; 0: any number
	jobs       bool // it answers with a job, which can be polled and canceled
	dedupes    bool // it honours keys: a second submission under a key returns the first
	finds      bool // it can find a submission by its key
	says       bool // its results state the charge
}

const (
	chat  catalog.Name = "text.chat"
	image catalog.Name = "image.generate"
)

func tokens(n task.Money) task.Price {
	return task.Price{Unit: task.PerMillionTokens, Input: n * task.USD, Output: 2 * n * task.USD}
}

func perImage(n task.Money) task.Price {
	return task.Price{Unit: task.PerImage, Output: n * task.USD / 100}
}

// simSuppliers has one of each class and kind, cheapest first within its capability. Test keys have some of
// their own.
func simSuppliers() []simSupplier {
	return []simSupplier{
		{name: "plain", mode: task.Live, capability: chat, price: tokens(1)},
		{name: "keyed", mode: task.Live, capability: chat, price: tokens(2), dedupes: true, says: true},
		{name: "found", mode: task.Live, capability: chat, price: tokens(3), finds: true, cap: 6},
		{name: "jobs", mode: task.Live, capability: image, price: perImage(1), jobs: true, cap: 12},
		{name: "jobs-found", mode: task.Live, capability: image, price: perImage(2), jobs: true, finds: true, says: true},
		{name: "jobs-keyed", mode: task.Live, capability: image, price: perImage(3), jobs: true, dedupes: true},
		{name: "play", mode: task.Test, capability: chat, price: tokens(1)},
		{name: "play-jobs", mode: task.Test, capability: image, price: perImage(1), jobs: true, finds: true},
	}
}

// workItem is the work of one submission that arrived. It goes on by itself: its state is a function of
// the time.
type workItem struct {
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

// jobFate is how a workItem ends.
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
	work   map[string]*workItem // by supplier and submit key, the latest
	sent   []*submission
	counts map[string]int64 // exchanges by supplier and task
}

// submission is one request that arrived.
type submission struct {
	supplier, key, submitKey string
	workItem                 *workItem // nil: it was refused
}

func newUpstream(w *world) *upstream {
	return &upstream{w: w, work: map[string]*workItem{}, counts: map[string]int64{}}
}

// count counts an exchange about the task at the supplier and returns the number so far.
func (u *upstream) count(f simSupplier, key string) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.counts[f.name+"/"+key]++
	return u.counts[f.name+"/"+key]
}

// arrive takes a submission; its work is nil if it is refused. A supplier that honours keys returns the
// work that it has under the key already.
func (u *upstream) arrive(f simSupplier, key, submitKey string, fresh *workItem) *workItem {
	u.mu.Lock()
	defer u.mu.Unlock()
	id := f.name + "/" + submitKey
	if old := u.work[id]; old != nil && f.dedupes {
		return old
	}
	u.sent = append(u.sent, &submission{supplier: f.name, key: key, submitKey: submitKey, workItem: fresh})
	if fresh != nil {
		u.work[id] = fresh
	}
	return fresh
}

func (u *upstream) find(f simSupplier, submitKey string) *workItem {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.work[f.name+"/"+submitKey]
}

// count of the suppliers, for the checker. A supplier that honours keys gets one submission a key, any
// number of refusals under it included.
func (u *upstream) submissions() []invariant.Submission {
	u.mu.Lock()
	defer u.mu.Unlock()
	var all []invariant.Submission
	at := map[string]int{}
	for _, s := range u.sent {
		sub := invariant.Submission{Key: s.key, SubmitKey: s.submitKey, Supplier: s.supplier, Charge: s.workItem.charge()}
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

// charge is the supplier's charge for the work: 0 if it never finished by the supplier's own fault.
func (p *workItem) charge() task.Money {
	if p == nil || p.fate == fails || p.fate == vanishes {
		return 0
	}
	return p.supplier.price.Cost(task.Usage(p.usage))
}
