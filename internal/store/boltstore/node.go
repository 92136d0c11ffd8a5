package boltstore

import (
	"context"
	"time"

	"unitask/internal/store"
)

// session is a node's: every lease belongs to one. It is in memory, so a restart ends it.
type session struct {
	node    string
	expires tick
	tasks   map[*openTask]struct{} // those it has leases of
	claim   int64                  // the number of its last claim
	claimed []claimedLease         // and the leases of that one
}

// claimedLease is a lease that a claim gave.
type claimedLease struct {
	row   rowID
	epoch int64
}

// end returns the session's tasks to the queue.
func (x *index) end(name string, s *session) {
	delete(x.sessions, name)
	x.over[name] = struct{}{}
	for e := range s.tasks {
		x.unposition(e)
		x.position(e)
	}
}

// session returns the node's, nil if it has none or it has run out.
func (x *txn) session(node string) *session {
	s := x.db.index.sessions[node]
	if s == nil || s.expires <= x.now {
		return nil
	}
	return s
}

// Renew implements store.Store. It costs no commit: sessions end with the process.
func (db *DB) Renew(ctx context.Context, node string, term time.Duration) error {
	return db.do(ctx, &op{run: func(x *txn) error {
		s := x.session(node)
		if s != nil {
			old := s.expires
			s.expires = x.now.after(term)
			x.undo.note(changed{back: func() { s.expires = old }})
			return nil
		}
		if _, over := db.index.over[node]; over || db.index.sessions[node] != nil {
			return store.ErrFenced
		}
		s = &session{node: node, expires: x.now.after(term), tasks: map[*openTask]struct{}{}}
		db.index.sessions[node] = s
		x.undo.note(changed{back: func() { delete(db.index.sessions, node) }})
		return nil
	}})
}

// remember notes the leases that a claim gave to the session.
func (x *txn) remember(s *session, number int64, leases []claimedLease) {
	claim, before := s.claim, s.claimed
	s.claim, s.claimed = number, leases
	x.undo.note(changed{back: func() { s.claim, s.claimed = claim, before }})
}

// standing returns those of the leases that haven't ended.
func (x *txn) standing(leases []claimedLease) (standing []store.Lease) {
	for _, c := range leases {
		e := x.db.index.tasks[c.row]
		if e == nil {
			continue
		}
		if l := x.db.index.leaseOf(e); l != nil && l.epoch == c.epoch {
			standing = append(standing, x.given(e, l))
		}
	}
	return standing
}

// given returns the lease as its node is told of it.
func (x *txn) given(e *openTask, l *lease) store.Lease {
	return store.Lease{
		Ref: store.LeaseRef{TaskID: l.task.ID, Epoch: l.epoch}, Task: *l.task, Left: time.Duration(e.deadline - x.now),
	}
}
