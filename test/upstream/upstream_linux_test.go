// Package upstream lets the suppliers fail, in every way and in every phase: the real service, every
// adapter, real sockets, and suppliers with one fault each. The caller's view, the ledger and the
// supplier's count are compared with the promises, and published as one table.
package upstream_test

import (
	"cmp"
	"flag"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// atOnce is how many cells are under way at once: nearly all of them wait. The race detector counts
// goroutines, and has a limit.
func atOnce() int {
	if raceEnabled {
		return 100
	}
	return 300
}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(atOnce())); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// variant is the setting of a failure.
type variant string

const (
	beside variant = "beside another route"
	alone  variant = "the only route"
	hungUp variant = "the only route, and its caller hangs up"
	once   variant = "once"
	always variant = "always"
)

// variants are those that a phase is tried with.
func (p phase) variants() []variant {
	switch {
	case p == middle:
		return []variant{beside, alone, hungUp}
	case p.submits():
		return []variant{beside, alone}
	default:
		return []variant{once, always}
	}
}

// failures are those that a phase is tried with.
func (p phase) failures() []failure {
	if p.breaks() {
		return streamFailures()
	}
	return failures()
}

// cell is one failure in one phase of one dialect.
type cell struct {
	failure failure
	phase   phase
	variant variant
	dialect dialect
}

// outcome is the state of a task for its caller, in the ledger and at the suppliers.
type outcome struct {
	State    task.State
	Code     fault.Code
	Attempts string // their states; equal ones in a row once
	Sent     string // submissions that arrived, at the first supplier and the second
	Pays     string // the caller
	Owed     string // to the suppliers
	Told     string // the end of a stream; "" without a stream
	Other    string // outcome of another account's request right after; "" if no such request is sent
}

// TestMatrix runs every cell; under the race detector, which makes everything slow, a third of the cells
// without a deadline. A cell is run once, and its result counts.
func TestMatrix(t *testing.T) {
	var table page
	all := sample(cells(&table))
	slices.SortStableFunc(all, func(a, b cell) int { return cmp.Compare(b.patience(), a.patience()) })
	t.Run("cells", func(t *testing.T) {
		for _, c := range all {
			t.Run(c.name(), func(t *testing.T) {
				t.Parallel()
				got := c.run(t)
				if diff := gocmp.Diff(c.want(), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				table.add(c, got)
			})
		}
	})
	table.compare(t)
}

// cells returns all that can occur, and notes why the others can't.
func cells(notes *page) []cell {
	var all []cell
	for _, d := range dialects() {
		for _, p := range d.phases {
			for _, f := range p.failures() {
				if !d.tries(f) {
					continue
				}
				for _, v := range p.variants() {
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

// sample returns all of the cells, or a part that suits the race detector: with a third it takes a minute on two cores.
func sample(all []cell) []cell {
	if !raceEnabled {
		return all
	}
	var some []cell
	for i, c := range all {
		if i%3 == 0 && c.deadline() == longTime {
			some = append(some, c)
		}
	}
	return some
}

func (c cell) name() string {
	return strings.Join([]string{c.dialect.name(), c.failure.name, string(c.phase), string(c.variant)}, "/")
}

// never returns the reason why the cell can't occur.
func (c cell) never() string {
	if c.dialect.keyed && c.phase == transfer {
		switch {
		case c.failure.take != nil:
			return "its results come with its polls: see there"
		case c.failure.name == slowDrip:
			return "only the task's deadline ends it, or a minute: longer than a test"
		}
	}
	if c.phase == streamed {
		return c.failure.never[submit]
	}
	return c.failure.never[c.phase]
}

// large has room for the cells whose answers are large.
var large = make(chan struct{}, 4)

// turns limits the cells that do work at once, so that a request that should succeed doesn't wait for many
// others. A cell gives its turn back as soon as it only waits for a supplier that has failed.
var turns = make(chan struct{}, 4*runtime.GOMAXPROCS(0))

// run has a task meet the failure and, if it failed for its caller, retries it once the supplier is well.
func (c cell) run(t *testing.T) []outcome {
	if c.failure.large && c.phase != transfer {
		large <- struct{}{}
		defer func() { <-large }()
	}
	turns <- struct{}{}
	giveBack := sync.OnceFunc(func() { <-turns })
	defer giveBack()
	fakes := []*fakeSupplier{newFakeSupplier(t, c.dialect)}
	if c.variant == beside {
		fakes = append(fakes, newFakeSupplier(t, c.dialect))
	}
	failing, received := fakes[0], newBarrier(c.textBefore())
	failing.fail(c.failing(t, received), c.phase, c.variant == once || c.meanwhile(), giveBack)
	s := newService(t, c, fakes...)
	other := ""
	if c.meanwhile() {
		received.before = func() { other = s.other() }
	}
	end, got := s.attempt(received, c.variant == hungUp)
	if failing.met() == 0 {
		t.Errorf("nothing met the failure")
	}
	failing.heal()
	s.heal()
	if !c.meanwhile() {
		other = s.other()
	}
	got.Other = other
	s.hidden(end.ID)
	all := []outcome{got}
	if c.again() {
		again, got := s.attempt(newBarrier(0), false)
		if again.ID != end.ID {
			t.Errorf("the same key has task %s, then %s", end.ID, again.ID)
		}
		all = append(all, got)
	}
	return all
}

// failing is the failure with the addresses made for each cell.
func (c cell) failing(t *testing.T, received *barrier) failure {
	t.Helper()
	f := c.failure
	switch {
	case f.sends != 0:
		f.serve = redirect(t, f.sends)
	case f.cut != nil:
		f.serve = c.breakOff(received)
	case c.repeats() && c.deadline() == shortTime:
		f.serve = thenPause(f.serve)
	}
	return f
}

// attempt submits the request and returns its task's final outcome.
func (s *service) attempt(received *barrier, hangsUp bool) (api.Task, outcome) {
	s.t.Helper()
	if !s.cell.phase.streams() {
		end := s.create()
		return end, s.outcome(end)
	}
	end, seen := s.stream(received, hangsUp)
	got := s.outcome(end)
	got.Told = seen
	return end, got
}

// meanwhile reports whether another account's request is sent while the stream is still open, in the middle, and not
// afterwards.
func (c cell) meanwhile() bool {
	return c.phase == middle && c.variant == alone && !c.hangs() && c.deadline() == longTime
}

// deadline is short if the task goes on until then: work that finds no room, a job that can't be
// polled, a file that never ends to hang, and a stream that never ends.
func (c cell) deadline() time.Duration {
	noRoom := c.variant == alone && c.failure.code == fault.CapacityExhausted && !c.dialect.sync()
	hanging := c.phase == transfer && c.hangs()
	if noRoom || c.failure.endless && c.phase != ending || c.variant == always && (c.phase == poll || hanging) {
		return shortTime
	}
	return longTime
}

// hangs reports whether an exchange of the adapter's is to last too long.
func (c cell) hangs() bool {
	return c.failure.code == fault.ProviderTimeout && (c.phase != transfer || c.dialect.keyed)
}

// patience is about how long a cell takes, so that those that take long begin first.
func (c cell) patience() time.Duration {
	switch {
	case c.variant == always && c.phase == transfer:
		return 2 * shortTime
	case c.deadline() == shortTime:
		return shortTime
	case c.failure.code == fault.ProviderTimeout:
		return hangTime
	default:
		return 0
	}
}

// repeats reports whether the same route is tried as often as there is time.
func (c cell) repeats() bool {
	return c.variant == alone && c.failure.take == nil && c.failure.code == fault.CapacityExhausted && !c.failure.pauses
}

// again reports whether the caller's own retry is a part of the cell: if the outcome was unknown, or the
// result could not be fetched.
func (c cell) again() bool { return c.variant == always || c.variant != beside && c.loses() }

// loses reports whether the failure leaves open if the work was done. After the first piece of a text every
// one does.
func (c cell) loses() bool {
	return c.phase.submits() && c.phase != ending && !c.harmless() && (c.failure.lost || c.phase == middle)
}

// harmless reports whether the cell's failure is none for the dialect.
func (c cell) harmless() bool {
	return c.failure.name == well || c.failure.fits && c.dialect.roomy
}

// outcome reads the state of a task. More submissions than the ledger has are an error in itself.
func (s *service) outcome(end api.Task) outcome {
	s.t.Helper()
	c := s.cell
	l := s.ledger(end.ID)
	o := outcome{State: end.State, Code: l.Code, Pays: noCharge}
	if end.Error != nil && end.Error.Code != l.Code {
		s.t.Errorf("the caller is told %s, the ledger %s", end.Error.Code, l.Code)
	}
	if end.Usage != nil {
		o.Pays = s.amount(end.Usage.Cost.Amount)
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
		owed += fixture.Must(task.ParseMoney(a.Cost))(s.t)
		open = open || a.CostUnknown
	}
	o.Attempts = strings.Join(states, ", ")
	o.Owed = s.amount(owed.String())
	if open {
		o.Owed = strings.TrimPrefix(o.Owed+" and "+unknown, noCharge+" and ")
	}
	var sent []string
	for i, one := range s.fakes {
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
func (s *service) amount(usd string) string {
	d := s.cell.dialect
	switch got := fixture.Must(task.ParseMoney(usd))(s.t); got {
	case 0:
		return noCharge
	case d.cost(firstPrice):
		return first
	case d.cost(secondPrice):
		return second
	case 2 * d.cost(firstPrice):
		return twice
	default:
		return got.String()
	}
}
