// Package upstream lets the suppliers fail, in every way and in every phase: the real service, every
// adapter, real sockets, and suppliers that are well but for one thing. What the caller sees, what the
// ledger says and what the supplier counted are held to what was promised, and published as one table.
package upstream_test

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// atOnce is how many cells are under way at once: most of them wait.
const atOnce = "100"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// variant is what stands around a failure.
type variant string

const (
	beside variant = "beside another route"
	alone  variant = "the only route"
	once   variant = "once"
	always variant = "always"
)

// variantsOf are those that a phase is tried with.
func variantsOf(d dialect, p phase) []variant {
	switch {
	case p == submit:
		return []variant{beside, alone}
	case d.brief:
		return []variant{once}
	default:
		return []variant{once, always}
	}
}

// cell is one failure in one phase of one dialect.
type cell struct {
	failure failure
	phase   phase
	variant variant
	dialect dialect
}

// outcome is how a task stands for its caller, in the ledger and at the suppliers.
type outcome struct {
	State    task.State
	Code     fault.Code
	Attempts string // their states; equal ones in a row once
	Sent     string // submissions that arrived, at the first supplier and the second
	Pays     string // the caller
	Owed     string // to the suppliers
}

// TestMatrix runs every cell; under the race detector, which makes everything slow, a sixth of those that
// depend on no deadline. Cells keep real time, and a machine that has too much to do at once keeps it
// badly: what isn't as promised is run once more, among few, and then counts.
func TestMatrix(t *testing.T) {
	var published page
	var mu sync.Mutex
	var doubtful []cell
	t.Run("cells", func(t *testing.T) {
		for _, c := range sample(cells(&published)) {
			t.Run(c.name(), func(t *testing.T) {
				t.Parallel()
				got := c.run(t)
				if cmp.Equal(c.want(), got) {
					published.add(c, got)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				doubtful = append(doubtful, c)
			})
		}
	})
	t.Logf("%d cells are run once more", len(doubtful))
	few := make(chan struct{}, 8)
	t.Run("again", func(t *testing.T) {
		for _, c := range doubtful {
			t.Run(c.name(), func(t *testing.T) {
				t.Parallel()
				few <- struct{}{}
				defer func() { <-few }()
				got := c.run(t)
				if diff := cmp.Diff(c.want(), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				published.add(c, got)
			})
		}
	})
	published.compare(t)
}

// cells returns all that can occur, and notes why the others can't.
func cells(notes *page) []cell {
	var all []cell
	for _, d := range dialects() {
		for _, f := range failures() {
			for _, p := range d.phases {
				for _, v := range variantsOf(d, p) {
					c := cell{f, p, v, d}
					if why := c.never(); why != "" {
						notes.never(c, why)
						continue
					}
					all = append(all, c)
				}
			}
		}
	}
	notes.declared = len(all)
	return all
}

// sample leaves all of the cells, or what suits the race detector.
func sample(all []cell) []cell {
	if !raceEnabled {
		return all
	}
	var some []cell
	for i, c := range all {
		if i%6 == 0 && c.deadline() == longTime {
			some = append(some, c)
		}
	}
	return some
}

func (c cell) name() string {
	return strings.Join([]string{c.dialect.name(), c.failure.name, string(c.phase), string(c.variant)}, "/")
}

// never says why the cell can't occur.
func (c cell) never() string {
	if c.dialect.keyed && c.phase == transfer {
		switch {
		case c.failure.take != nil:
			return "its results are where its jobs are asked after: see there"
		case c.failure.name == slowDrip:
			return "only the task's deadline ends it, or a minute: longer than a test"
		}
	}
	return c.failure.never[c.phase]
}

// large has room for the cells whose answers are large.
var large = make(chan struct{}, 4)

// run has a task meet the failure, and where it failed for its caller, tried again when the supplier is well.
func (c cell) run(t *testing.T) []outcome {
	if c.failure.large && c.phase != transfer {
		large <- struct{}{}
		defer func() { <-large }()
	}
	sellers := []*seller{newSeller(t, c.dialect)}
	if c.variant == beside {
		sellers = append(sellers, newSeller(t, c.dialect))
	}
	failing := sellers[0]
	f := c.failure
	if f.serve == nil && f.take == nil && !f.late {
		f.serve = redirect(t)
	}
	failing.fail(f, c.phase, c.variant == once)
	s := newService(t, c, sellers...)
	end := s.create(c.dialect, "the-one-key")
	got := []outcome{s.outcome(c, end, sellers)}
	if failing.met() == 0 && (c.phase != submit || f.take == nil) {
		t.Logf("nothing met the failure: %+v", got)
		return nil
	}
	if c.again() {
		failing.heal()
		again := s.create(c.dialect, "the-one-key")
		if again.ID != end.ID {
			t.Errorf("the same key has task %s, then %s", end.ID, again.ID)
		}
		got = append(got, s.outcome(c, again, sellers))
	}
	return got
}

// deadline is short where the task goes on until then: work that finds no room, and a job that can't be
// asked after.
func (c cell) deadline() time.Duration {
	noRoom := c.variant == alone && c.failure.code == fault.CapacityExhausted
	if noRoom || c.phase == poll && c.variant == always {
		return shortTime
	}
	return longTime
}

// repeats reports whether the same route is tried as often as there is time.
func (c cell) repeats() bool {
	return c.variant == alone && c.failure.take == nil && c.failure.code == fault.CapacityExhausted && !c.failure.pauses
}

// again reports whether the caller's own retry is a part of the cell: where the outcome was unknown, and where
// a result could not be had.
func (c cell) again() bool {
	return c.variant == always || c.variant == alone && c.failure.lost
}

// outcome reads how a task stands. What is sent more often than the ledger says is an error in itself.
func (s *service) outcome(c cell, end api.Task, sellers []*seller) outcome {
	s.t.Helper()
	l := s.ledger(end.ID)
	o := outcome{State: end.State, Code: l.Code, Pays: nothing}
	if end.Error != nil && end.Error.Code != l.Code {
		s.t.Errorf("the caller is told %s, the ledger %s", end.Error.Code, l.Code)
	}
	if end.Usage != nil {
		o.Pays = s.amount(c, end.Usage.Cost.Amount)
	}
	var states []string
	attempts := map[string]int{}
	var owed task.Money
	open := false
	for _, a := range l.Attempts {
		if state := string(a.State); len(states) == 0 || states[len(states)-1] != state {
			states = append(states, state)
		}
		attempts[a.Supplier]++
		owed += must(task.ParseMoney(a.Cost))(s.t)
		open = open || a.CostUnknown
	}
	o.Attempts = strings.Join(states, ", ")
	o.Owed = s.amount(c, owed.String())
	if open {
		o.Owed = strings.TrimPrefix(o.Owed+" and "+unknown, nothing+" and ")
	}
	var sent []string
	for i, one := range sellers {
		sent = append(sent, c.sent(s.t, one.submissions(), attempts[[]string{firstName, secondName}[i]]))
	}
	o.Sent = strings.Join(sent, " + ")
	return o
}

// sent is the number of submissions at a supplier, which are never more than the attempts.
func (c cell) sent(t *testing.T, submissions, attempts int) string {
	if submissions > attempts {
		t.Errorf("%d submissions, and the ledger has %d attempts", submissions, attempts)
	}
	if submissions == attempts && (submissions > 1 || submissions == 1 && c.repeats()) {
		return each
	}
	return strconv.Itoa(submissions)
}

// amount names a sum by the prices that it is made of.
func (s *service) amount(c cell, usd string) string {
	switch got := must(task.ParseMoney(usd))(s.t); got {
	case 0:
		return nothing
	case c.dialect.cost(firstPrice):
		return first
	case c.dialect.cost(secondPrice):
		return second
	case 2 * c.dialect.cost(firstPrice):
		return twice
	default:
		return got.String()
	}
}
