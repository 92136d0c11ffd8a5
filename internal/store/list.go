package store

import (
	"time"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// The sizes of a page.
const (
	DefaultPage = 50
	MaxPage     = 200
)

// ListQuery selects tasks of a scope; empty members select everything. Limit is DefaultPage if it isn't positive, at
// most MaxPage. Cursor is the id after which to go on in the order of the list, "" for its beginning.
type ListQuery struct {
	Scope      task.Scope
	Everywhere bool     // tasks of all accounts, for operators; Scope.Account is empty, and an empty mode is both
	Scopes     []string // capability patterns as in account.Allows
	Capability string
	State      task.State
	KeyID      string
	Code       fault.Code    // of the failure
	Metadata   task.Metadata // all of these pairs
	Kept       bool          // tasks whose requests were to be kept, if only for a time that is over
	// Since is the earliest creation, Until the first that is too late, by the millisecond in the ids. Zero: no bound.
	Since, Until time.Time
	Limit        int
	Cursor       string
	OldestFirst  bool // the other way: from a cursor it leads to the newer tasks, the nearest first
}

// PageSize returns how many tasks a page may hold.
func (q ListQuery) PageSize() int {
	if q.Limit <= 0 {
		return DefaultPage
	}
	return min(q.Limit, MaxPage)
}

// Range returns the ids that the dates leave: low ≤ id < high, "" for no bound. It doesn't look at the cursor.
func (q ListQuery) Range() (low, high string) {
	if !q.Since.IsZero() {
		low = task.FirstID(task.PrefixTask, q.Since)
	}
	if !q.Until.IsZero() {
		high = task.FirstID(task.PrefixTask, q.Until)
	}
	return low, high
}

// Selects reports whether a list of the query has the task, on whichever page.
func (q ListQuery) Selects(t *task.Task) bool {
	low, high := q.Range()
	return q.holds(t.Scope) && (q.Capability == "" || q.Capability == t.Capability) && account.Allows(q.Scopes, t.Capability) &&
		(q.State == "" || q.State == t.State) && (q.KeyID == "" || q.KeyID == t.KeyID) &&
		(q.Code == "" || t.Failure != nil && t.Failure.Code == q.Code) &&
		(!q.Kept || t.InputUntil != nil) &&
		t.Metadata.Has(q.Metadata) && t.ID >= low && (high == "" || t.ID < high)
}

func (q ListQuery) holds(s task.Scope) bool {
	if q.Everywhere {
		return q.Scope.Mode == "" || q.Scope.Mode == s.Mode
	}
	return q.Scope == s
}

// Pairs returns members of the query as Task.Write writes them: a record without one of these within its first
// task.MetadataEnd bytes isn't selected. One that has them all may have them elsewhere.
func (q ListQuery) Pairs() [][]byte {
	pairs := q.Metadata.Pairs()
	add := func(name, value string) {
		if value != "" {
			pairs = append(pairs, pairOf(name, value))
		}
	}
	add("key_id", q.KeyID)
	if q.Everywhere {
		add("mode", string(q.Scope.Mode))
		add("capability", q.Capability)
	}
	return pairs
}

// CodePair returns the code as Task.Write writes it, nil without one: a record without it isn't selected.
func (q ListQuery) CodePair() []byte {
	if q.Code == "" {
		return nil
	}
	return pairOf("code", string(q.Code))
}

// KeptMark returns the begin of a member that a task with a kept request has, as Task.Write writes it; nil for a query that
// doesn't ask for those: a record without it isn't selected.
func (q ListQuery) KeptMark() []byte {
	if !q.Kept {
		return nil
	}
	return []byte(`"input_until":`)
}

// MayFail reports whether a task of the state may have the query's code.
func (q ListQuery) MayFail(s task.State) bool {
	return q.Code == "" || s.Terminal() && s != task.Succeeded
}

func pairOf(name, value string) []byte {
	var w jsonwrite.Writer
	w.Key(name)
	w.String(value)
	pair, _ := w.Bytes() // texts alone
	return pair
}

// Page is a part of a listing; Next is "" at the end and nowhere else.
type Page struct {
	Tasks []task.Task
	Next  string
}
