package invariant

import (
	"cmp"
	"maps"
	"slices"

	"unitask/internal/api"
	"unitask/internal/task"
)

// timeline checks every recorded move against the table, and every state that was read against the
// record.
func (c *checker) timeline(t Task) {
	moves := t.Ledger.Timeline
	if len(moves) == 0 || moves[0].State != task.Queued {
		c.add(Transition, "the timeline doesn't begin with queued: %v", states(moves))
		return
	}
	for i, m := range moves[1:] {
		if !legal(moves[i].State, m.State) || m.At.Before(moves[i].At.Time) {
			c.add(Transition, "%s → %s in %v", moves[i].State, m.State, states(moves))
		}
	}
	last := moves[len(moves)-1].State
	if last != t.Ledger.State || last != t.Final.State {
		c.add(Transition, "the last move is %s, the task %s and for its caller %s", last, t.Ledger.State, t.Final.State)
	}
	if !last.Terminal() {
		c.add(Unsettled, "%s in the end", last)
	}
	rest := states(moves)
	for _, seen := range t.Seen {
		at := slices.Index(rest, seen)
		if at < 0 {
			c.add(Forgotten, "read %v, recorded %v", t.Seen, states(moves))
			return
		}
		rest = rest[at:]
	}
}

func states(moves []api.Move) []task.State {
	out := make([]task.State, 0, len(moves))
	for _, m := range moves {
		out = append(out, m.State)
	}
	return out
}

func legal(from, to task.State) bool {
	return slices.ContainsFunc(task.Rules(), func(r task.Rule) bool { return r.To == to && slices.Contains(r.From, from) })
}

// attempts checks every reading of the ledger: numbered from 1, only the last open, all closed in the end.
func (c *checker) attempts(t Task) {
	for _, reading := range append(slices.Clone(t.Snapshots), t.Ledger) {
		for i, a := range reading.Attempts {
			if a.N != i+1 || (a.State.Open() && i < len(reading.Attempts)-1) || (!a.State.Open() && !a.State.Ended()) {
				c.add(Attempts, "attempt %d of %d is number %d and %s", i+1, len(reading.Attempts), a.N, a.State)
			}
		}
		if n := len(reading.Attempts); n > len(t.Ledger.Attempts) {
			c.add(Attempts, "%d were read, %d are left", n, len(t.Ledger.Attempts))
		}
	}
	if n := len(t.Ledger.Attempts); n > 0 && t.Ledger.Attempts[n-1].State.Open() && t.Ledger.State.Terminal() {
		c.add(Attempts, "attempt %d is left %s", n, t.Ledger.Attempts[n-1].State)
	}
}

// sums is the ledger's sums of the attempts at one supplier.
type sums struct {
	attempts, answered, unknown int
	spent                       task.Money
}

// submissions compares the ledger with the suppliers' counts.
func (c *checker) submissions(t Task, sent []Submission, counted map[string]bool) {
	at := map[string]*sums{}
	after := 0 // attempts that follow one of unknown outcome
	for i, a := range t.Ledger.Attempts {
		if i > 0 && t.Ledger.Attempts[i-1].State == task.UnknownOutcome {
			after++
		}
		if counted[a.Supplier] {
			if at[a.Supplier] == nil {
				at[a.Supplier] = &sums{}
			}
			c.sum(at[a.Supplier], a)
		}
	}
	told := t.told()
	if after > told {
		c.add(Resubmitted, "%d attempts after an unknown outcome, %d retries of a caller that was told", after, told)
	}
	if t.Ledger.Reopenings > max(t.Posts-1, 0) {
		c.add(Resubmitted, "%d retries recorded, %d requests sent", t.Ledger.Reopenings, t.Posts)
	}
	charges, _ := charged(sent)
	if len(charges) > 1+told {
		c.add(Resubmitted, "%d charged submissions, %d retries of a caller that was told", len(charges), told)
	}
	c.once(sent)
	for _, supplier := range slices.Sorted(maps.Keys(counted)) {
		if s := cmp.Or(at[supplier], &sums{}); counted[supplier] {
			c.supplier(supplier, *s, of(supplier, sent))
		}
	}
}

// told returns how many retries may have been meant as such: at most one for each failure that was shown.
func (t Task) told() int {
	failures := 0
	for _, m := range t.Ledger.Timeline {
		if m.State == task.Failed {
			failures++
		}
	}
	return min(t.Shown, failures, t.Ledger.Reopenings)
}

// supplier compares the attempts at one supplier with that supplier's count.
func (c *checker) supplier(name string, s sums, sent []Submission) {
	if len(sent) > s.attempts {
		c.add(Resubmitted, "%d submissions at %s, %d attempts", len(sent), name, s.attempts)
	}
	charges, total := charged(sent)
	most := s.spent // the most that the unknown outcomes can explain
	for _, charge := range charges[:min(s.unknown, len(charges))] {
		most += charge
	}
	if s.answered > len(charges) || total < s.spent || total > most {
		c.add(Ledger, "%s spent at %s in %d answered attempts and %d unknown ones; it charged %s for %d",
			s.spent, name, s.answered, s.unknown, total, len(charges))
	}
}

// once checks that no submit key was paid for twice.
func (c *checker) once(sent []Submission) {
	paid := map[string]int{}
	for _, s := range sent {
		if s.Charge > 0 && s.SubmitKey != "" {
			if paid[s.SubmitKey]++; paid[s.SubmitKey] == 2 {
				c.add(Resubmitted, "%s was paid for twice", s.SubmitKey)
			}
		}
	}
}

func of(supplier string, sent []Submission) []Submission {
	var own []Submission
	for _, s := range sent {
		if s.Supplier == supplier {
			own = append(own, s)
		}
	}
	return own
}

func (c *checker) sum(s *sums, a api.AdminAttempt) {
	s.attempts++
	cost, err := task.ParseMoney(a.Cost)
	if err != nil {
		c.add(Ledger, "attempt %d costs %q", a.N, a.Cost)
	}
	s.spent += cost
	switch {
	case a.State == task.OK:
		s.answered++
	case a.CostUnknown:
		s.unknown++
	}
}

// charged returns the charges, the greatest first, and their sum.
func charged(sent []Submission) (charges []task.Money, total task.Money) {
	for _, s := range sent {
		if s.Charge > 0 {
			charges = append(charges, s.Charge)
			total += s.Charge
		}
	}
	slices.SortFunc(charges, func(a, b task.Money) int { return cmp.Compare(b, a) })
	return charges, total
}
