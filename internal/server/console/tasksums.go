package console

import (
	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/operator"
	"unitask/internal/store"
)

// taskSums is the sums of usage of a list's days.
type taskSums struct {
	First, Last string // days
	store.Usage
}

// Amount returns the cost as a decimal.
func (s taskSums) Amount() string { return s.Cost.String() }

// taskSums adds up the ends on the days of the query. The sums know of account, day, mode, capability and key alone: a
// list by state, code, metadata or words has no sums, and one without a first day has no days.
func (c *Console) taskSums(x exchange, owner api.Account, q taskQuery) (*taskSums, error) {
	if q.Since == "" || q.State != "" || q.Code != "" || len(q.Metadata) > 0 || q.Words != "" {
		return nil, nil
	}
	first, err := account.ParseDate(q.Since)
	if err != nil {
		return nil, err
	}
	last := account.DateOf(c.now())
	if q.Until != "" {
		if last, err = account.ParseDate(q.Until); err != nil {
			return nil, err
		}
	}
	var n [store.UsageNumbers]int64
	err = c.operator.EachSum(x.r.Context(), operator.SumsQuery{
		Account: owner.ID, First: first, Last: last, Mode: q.Mode, Capability: q.Capability, KeyID: q.Key,
	}, func(_ store.UsageKey, u store.Usage) bool {
		by := u.Numbers()
		store.AddSums(n[:], by[:])
		return true
	})
	return &taskSums{first.String(), last.String(), store.UsageOf(n)}, err
}
