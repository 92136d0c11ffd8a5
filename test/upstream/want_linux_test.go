package upstream_test

import (
	"fmt"

	"unitask/internal/fault"
	"unitask/internal/task"
)

const (
	noCharge = "0"
	unknown  = "unknown"
	first    = "the first's price"
	second   = "the second's price"
	twice    = "the first's price twice"
	each     = "one each"

	byFirst  = "served"
	rests    = "the second serves it: the first rests"
	allRests = "the route rests"
)

// statuses are those of the errors that a failed synchronous task answers with.
var statuses = map[fault.Code]int{fault.InvalidRequest: 400, fault.ProviderUnavailable: 502, fault.CapacityExhausted: 503, fault.ProviderTimeout: 504}

// want returns the promised outcomes of a cell: of the task that meets the failure, and of the caller's retry.
func (c cell) want() []outcome {
	all := c.wantTask()
	all[0].Other = c.wantOther()
	if c.phase.streams() {
		for i := range all {
			all[i].Told = c.wantTold(all[i])
		}
	}
	return all
}

// wantOther returns the outcome of another account's request: the failure concerns the first account only, unless
// the supplier wants a pause of all, or refuses the service's own key.
func (c cell) wantOther() string {
	switch {
	case !c.rests():
		return byFirst
	case c.variant == beside:
		return rests
	default:
		return allRests
	}
}

// rests reports whether the failing route gets no more work afterwards, of any account.
func (c cell) rests() bool {
	return c.phase.submits() && (c.failure.trips || c.failure.advises || c.repeats() && c.deadline() == shortTime)
}

// wantTold returns the end of a stream, for its caller: a failure before the first text is the ordinary JSON error,
// a later one is the last event, and a success is all of the text.
func (c cell) wantTold(o outcome) string {
	switch {
	case o.State == task.Succeeded:
		return allText
	case c.phase == middle:
		return firstText
	default:
		return fmt.Sprintf("JSON of status %d", statuses[o.Code])
	}
}

func (c cell) wantTask() []outcome {
	arrived := "1"
	if c.failure.take != nil {
		arrived = "0"
	}
	switch {
	case c.phase == ending || c.harmless(): // the text is complete: no more can be lost
		return []outcome{c.wantBest()}
	case c.loses():
		return c.wantLost(arrived)
	case c.variant == beside: // the first route did no work: the next one does it, at the first one's price for the caller
		return []outcome{{State: task.Succeeded, Attempts: "rejected, ok", Sent: arrived + " + 1", Pays: first, Owed: second}}
	case c.variant == alone:
		if c.repeats() {
			arrived = each // it is tried again while there may be room
		}
		return []outcome{{State: task.Failed, Code: c.failure.code, Attempts: "rejected", Sent: arrived, Pays: noCharge, Owed: noCharge}}
	case c.variant == once:
		return []outcome{c.wantBest()}
	default:
		return c.wantAlways()
	}
}

// wantBest is work that is done, and paid, once, by the first.
func (c cell) wantBest() outcome {
	o := outcome{State: task.Succeeded, Attempts: "ok", Sent: "1", Pays: first, Owed: first}
	if c.variant == beside {
		o.Sent = "1 + 0"
	}
	return o
}

// wantAlways is for work that was taken, but without any answer or result.
func (c cell) wantAlways() []outcome {
	failed := outcome{State: task.Failed, Code: fault.ProviderUnavailable, Attempts: "unknown", Sent: "1", Pays: noCharge, Owed: first}
	switch {
	case c.phase == poll: // polled until the deadline; then again, without another submission
		failed.Code, failed.Owed = fault.ProviderTimeout, unknown
	case c.deadline() == shortTime: // the work was done and is owed, and the deadline comes first
		failed.Code = fault.ProviderTimeout
	case !c.dialect.hasJob(): // there is no job to poll
		failed.Attempts = "failed"
		return []outcome{failed, {State: task.Succeeded, Attempts: "failed, ok", Sent: each, Pays: first, Owed: twice}}
	}
	return []outcome{failed, c.wantBest()} // a job's result can be fetched later
}

// wantLost is for a submission that may have been taken: no other route gets the work, and only the caller's
// own retry goes on.
func (c cell) wantLost(arrived string) []outcome {
	failed := outcome{State: task.Failed, Code: c.failure.code, Attempts: "unknown", Sent: arrived, Pays: noCharge, Owed: unknown}
	if c.variant == beside {
		failed.Sent = arrived + " + 0"
		return []outcome{failed}
	}
	again := outcome{State: task.Succeeded, Attempts: "unknown, ok", Sent: each, Pays: first, Owed: first + " and " + unknown}
	switch {
	case c.dialect.honours: // the same submission again, under its key
		again = c.wantBest()
	case c.failure.take != nil:
		again.Sent = "1"
	}
	return []outcome{failed, again}
}
