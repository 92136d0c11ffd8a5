package artifact

import (
	"cmp"
	"slices"
	"time"
)

// mostDue bounds an agenda's objects in memory, some 60 bytes each.
const mostDue = 1 << 16

// agenda is a sweep's next work: every object that expires before until, as far as the last walk came. If those are
// too many, it has the earliest ones, and until is the time of the first one that it lacks.
type agenda struct {
	until  time.Time
	most   int
	due    []due
	sorted int // how many, from the first on, are in order
}

// due is an object and when it expires.
type due struct {
	at time.Time
	id string
}

func (d due) compare(other due) int {
	return cmp.Or(d.at.Compare(other.at), cmp.Compare(d.id, other.id))
}

// add records an object, unless it expires later than the agenda's end. It may be noted already.
func (a *agenda) add(m Meta) {
	if m.ExpiresAt.IsZero() || !m.ExpiresAt.Before(a.until) {
		return
	}
	a.due = append(a.due, due{m.ExpiresAt, m.ID})
	if len(a.due) <= a.most {
		return
	}
	a.sort()
	if half := a.most / 2; len(a.due) > half {
		a.until = a.due[half].at
		clear(a.due[half:])
		a.due, a.sorted = a.due[:half], half
	}
}

// first returns the object that expires first, "" if no object has expired at now.
func (a *agenda) first(now time.Time) (id string) {
	a.sort()
	if len(a.due) == 0 || now.Before(a.due[0].at) {
		return ""
	}
	return a.due[0].id
}

// done removes the first object.
func (a *agenda) done() {
	a.due[0] = due{}
	a.due, a.sorted = a.due[1:], a.sorted-1
}

func (a *agenda) sort() {
	if a.sorted == len(a.due) {
		return
	}
	slices.SortFunc(a.due, due.compare)
	a.due = slices.Compact(a.due)
	a.sorted = len(a.due)
}
