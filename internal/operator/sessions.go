package operator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
)

// Sessions returns the sessions of an account's members, by its id or name, the last used first.
func (o *Operator) Sessions(ctx context.Context, which string) ([]api.Session, error) {
	a, err := o.find(ctx, which)
	if err != nil {
		return nil, err
	}
	return o.listSessions(ctx, a, anySession)
}

// EndSessions ends sessions of an account, by its id or name, from the next request on, and returns them.
func (o *Operator) EndSessions(ctx context.Context, which string, req api.SessionsEnd) ([]api.Session, error) {
	a, err := o.find(ctx, which)
	if err != nil {
		return nil, err
	}
	switch {
	case req.ID == "" && req.Member == "" && !req.All:
		return nil, fault.Invalid("id", "or member, or all is required")
	case req.ID != "" && (req.Member != "" || req.All), req.Member != "" && req.All:
		return nil, fault.Invalid("id", "member and all exclude each other")
	}
	ended, err := o.endSessions(ctx, a, func(s account.Session) bool {
		return req.All || req.ID != "" && s.ID() == req.ID || req.Member != "" && s.Member == req.Member
	})
	if err == nil && req.ID != "" && len(ended) == 0 {
		err = noSuchSession()
	}
	return ended, err
}

// OwnSessions returns the visitor's sessions, the last used first.
func (o *Operator) OwnSessions(ctx context.Context, v Visitor) ([]api.Session, error) {
	return o.listSessions(ctx, v.Account, v.owns)
}

// EndOwnSession ends one of the visitor's sessions; NOT_FOUND for any other.
func (o *Operator) EndOwnSession(ctx context.Context, v Visitor, id string) error {
	ended, err := o.endSessions(ctx, v.Account, func(s account.Session) bool { return v.owns(s) && s.ID() == id })
	if err == nil && len(ended) == 0 {
		err = noSuchSession()
	}
	return err
}

// EndOtherSessions ends the visitor's sessions, except for the one of the request.
func (o *Operator) EndOtherSessions(ctx context.Context, v Visitor) error {
	_, err := o.endSessions(ctx, v.Account, func(s account.Session) bool { return v.owns(s) && s.Hash != v.Session.Hash })
	return err
}

// owns reports whether a session of the visitor's account is one of the visitor.
func (v Visitor) owns(s account.Session) bool { return s.Member == v.Session.Member }

func anySession(account.Session) bool { return true }

func noSuchSession() error { return fault.New(fault.NotFound, "there is no such session") }

// listSessions returns the usable sessions of an account that keep takes.
func (o *Operator) listSessions(ctx context.Context, a account.Account, keep func(account.Session) bool) ([]api.Session, error) {
	all, err := o.Store.ListSessions(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	now := o.Now().UTC()
	return sessionsOf(slices.DeleteFunc(all, func(s account.Session) bool { return !s.Usable(a, now) || !keep(s) })), nil
}

// endSessions deletes the sessions of an account that match, those that are over already too, and returns them.
func (o *Operator) endSessions(ctx context.Context, a account.Account, match func(account.Session) bool) ([]api.Session, error) {
	all, err := o.Store.ListSessions(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s account.Session) bool { return !match(s) })
	for _, s := range all {
		if err := o.Store.DeleteSession(ctx, s.Hash); err != nil {
			return nil, err
		}
	}
	return sessionsOf(all), nil
}

func sessionsOf(all []account.Session) []api.Session {
	slices.SortFunc(all, func(a, b account.Session) int {
		return cmp.Or(b.SeenAt.Compare(a.SeenAt), cmp.Compare(a.ID(), b.ID()))
	})
	out := make([]api.Session, 0, len(all))
	for _, s := range all {
		ends := s.SeenAt.Add(account.SessionIdle)
		if s.ExpiresAt.Before(ends) {
			ends = s.ExpiresAt
		}
		out = append(out, api.Session{
			ID: s.ID(), Member: s.Member, Role: string(s.Role), Agent: s.Agent, CreatedAt: stamp(s.CreatedAt), SeenAt: stamp(s.SeenAt), EndsAt: stamp(ends),
		})
	}
	return out
}

func stamp(at time.Time) api.Timestamp { return api.Timestamp{Time: at} }
