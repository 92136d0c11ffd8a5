package invariant

import (
	"unitask/internal/api"
	"unitask/internal/task"
)

// bill checks the charge of an ended task: zero for one that failed or whose work was never submitted, more for
// submitted work that was canceled, and never more than was reserved.
func (c *checker) bill(t Task) {
	cost, reserved := c.money(t.Ledger.Cost), c.money(t.Ledger.Reserved)
	shown := task.Money(0)
	if t.Final.Usage != nil {
		shown = c.money(t.Final.Usage.Cost.Amount)
	}
	if shown != cost || cost > reserved {
		c.add(Bill, "%s of %s reserved, and %s for its caller", cost, reserved, shown)
	}
	switch last := latest(t.Ledger); {
	case t.Ledger.State == task.Succeeded:
	case t.Ledger.State != task.Canceled || last == nil || last.State == task.Rejected:
		if cost != 0 {
			c.add(Bill, "%s for a %s task of which no work is owed", cost, t.Ledger.State)
		}
	case last.State == task.UnknownOutcome || last.State == task.OK:
		if cost == 0 && reserved > 0 {
			c.add(Bill, "nothing for work that was submitted and canceled, of %s reserved", reserved)
		}
	case cost != 0 && c.money(last.Cost) == 0: // it failed by itself
		c.add(Bill, "%s for work that failed", cost)
	}
}

// latest returns the last attempt of work since the task was last queued by its caller, nil without one.
func latest(t api.AdminTask) *api.AdminAttempt {
	if len(t.Attempts) == 0 {
		return nil
	}
	queued := t.CreatedAt
	for _, m := range t.Timeline {
		if m.State == task.Queued {
			queued = m.At
		}
	}
	last := t.Attempts[len(t.Attempts)-1]
	if last.Moderation || last.ClosedAt == nil || last.ClosedAt.Before(queued.Time) {
		return nil
	}
	return &last
}

func (c *checker) money(amount string) task.Money {
	m, err := task.ParseMoney(amount)
	if err != nil {
		c.add(Bill, "%q is no amount", amount)
	}
	return m
}
