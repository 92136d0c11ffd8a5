package upstream_test

import (
	"unitask/internal/fault"
	"unitask/internal/task"
)

const (
	nothing = "nothing"
	unknown = "unknown"
	first   = "the first's price"
	second  = "the second's price"
	twice   = "the first's price twice"
	each    = "one each"
)

// want is what is promised of a cell: of the task that meets the failure, and of the caller's retry.
func (c cell) want() []outcome {
	arrived := "1"
	if c.failure.take != nil {
		arrived = "0"
	}
	switch {
	case c.phase == submit && c.failure.lost:
		return c.wantLost(arrived)
	case c.variant == beside: // nothing was done there: the next one does it, and the caller pays as if the first had
		return []outcome{{task.Succeeded, "", "rejected, ok", arrived + " + 1", first, second}}
	case c.variant == alone:
		if c.repeats() {
			arrived = each // it is tried again while there may be room
		}
		return []outcome{{task.Failed, c.failure.code, "rejected", arrived, nothing, nothing}}
	case c.variant == once:
		return []outcome{{task.Succeeded, "", "ok", "1", first, first}}
	case c.phase == poll: // asked after until the deadline; then again, and nothing is submitted anew
		return []outcome{
			{task.Failed, fault.ProviderTimeout, "unknown", "1", nothing, unknown},
			{task.Succeeded, "", "ok", "1", first, first},
		}
	case c.dialect.hasJob(): // the work was done and is owed; what a job made can be had later
		return []outcome{
			{task.Failed, fault.ProviderUnavailable, "unknown", "1", nothing, first},
			{task.Succeeded, "", "ok", "1", first, first},
		}
	default: // without a job there is nobody to ask after it
		return []outcome{
			{task.Failed, fault.ProviderUnavailable, "failed", "1", nothing, first},
			{task.Succeeded, "", "failed, ok", each, first, twice},
		}
	}
}

// wantLost is for a submission that may have been taken: no other route gets the work, and only the caller's
// own retry goes on.
func (c cell) wantLost(arrived string) []outcome {
	if c.variant == beside {
		return []outcome{{task.Failed, c.failure.code, "unknown", arrived + " + 0", nothing, unknown}}
	}
	again := outcome{task.Succeeded, "", "unknown, ok", each, first, first + " and " + unknown}
	switch {
	case c.dialect.honours: // the same submission again, under its key
		again = outcome{task.Succeeded, "", "ok", "1", first, first}
	case c.failure.take != nil:
		again.Sent = "1"
	}
	return []outcome{{task.Failed, c.failure.code, "unknown", arrived, nothing, unknown}, again}
}
