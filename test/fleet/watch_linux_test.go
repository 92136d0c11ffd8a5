package fleet_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// watch notes which submissions are open at suppliers at once, and which life of which node sent each: every life has
// a key of its own.
type watch struct {
	mu     sync.Mutex
	stays  []*stay
	paused []pause
}

// stay is a submission from its arrival until its answer.
type stay struct {
	supplier, word, life string
	from, to             time.Time
	broken               bool // the node hung up
}

// pause is a time in which a life didn't run.
type pause struct {
	life     string
	from, to time.Time
}

// enter notes the arrival of a submission; leave its end. Its first call counts.
func (w *watch) enter(supplier, word string, r *http.Request) (leave func()) {
	_, life, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	s := &stay{supplier: supplier, word: word, life: life, from: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stays = append(w.stays, s)
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		s.to, s.broken = time.Now(), r.Context().Err() != nil
	})
}

// pausing notes that a life doesn't run between two times.
func (w *watch) pausing(p pause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = append(w.paused, p)
}

// noticeTime is how much later than the node a supplier may notice that the node has hung up, and how late a
// submission may arrive that was under way when its node was paused or killed, on a busy machine.
const noticeTime = time.Second

// counts cuts a stay to the time in which its node may be held to a cap. A node that was paused or killed knows nothing
// of what it left at the supplier, and its leases run out: other work may begin in that place.
func (w *watch) counts(s *stay) bool {
	if s.to.IsZero() {
		s.to = time.Now()
	}
	if s.broken {
		s.to = s.to.Add(-noticeTime)
	}
	for _, p := range w.paused {
		if p.life != s.life || s.to.Before(p.from) || s.from.After(p.to.Add(noticeTime)) {
			continue
		}
		s.to = p.from
	}
	return s.from.Before(s.to)
}

// most returns the largest number of submissions that a supplier had at once and that count.
func (w *watch) most(supplier string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	type change struct {
		at time.Time
		by int
	}
	var changes []change
	for _, s := range w.stays {
		if cut := *s; s.supplier == supplier && w.counts(&cut) {
			changes = append(changes, change{cut.from, 1}, change{cut.to, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		if d := a.at.Compare(b.at); d != 0 {
			return d
		}
		return a.by - b.by
	})
	open, most := 0, 0
	for _, c := range changes {
		open += c.by
		most = max(most, open)
	}
	return most
}

// answered reports whether a submission of the word was there, from its arrival until its answer, between two times of
// a ledger.
func (w *watch) answered(supplier, word string, begun, closed time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	const rounded = 5 * time.Millisecond // the ledger's times
	return slices.ContainsFunc(w.stays, func(s *stay) bool {
		return s.supplier == supplier && s.word == word && !s.to.IsZero() &&
			!s.from.Before(begun.Add(-rounded)) && !s.to.After(closed.Add(rounded))
	})
}

// spent returns how long suppliers worked on each word.
func (w *watch) spent() map[string]time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string]time.Duration{}
	for _, s := range w.stays {
		if !s.to.IsZero() {
			all[s.word] += s.to.Sub(s.from)
		}
	}
	return all
}

func lifeOf(node, life int) string { return fmt.Sprintf("node%d-life%d", node, life) }
