package gate

import (
	"context"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// Open returns the refusal of new work of the caller's account; nil: it is active. It is for a person who signed in,
// whose session goes on.
func (c Caller) Open() error {
	if state, _ := c.Account.State(); state != account.Active {
		return fault.Newf(fault.InvalidRequest, "the account is %s and takes no new work; its operator may resume it", state)
	}
	return nil
}

// StillOpen returns the refusal of a new task of a caller who was let in a while ago, such as before a body that took long
// to arrive: nil if the caller's account is active now. It reads the store only after a change of a key or an account.
func (g *Gate) StillOpen(ctx context.Context, c Caller) error {
	changes := g.keys.Changes() // before the account is read
	now, ok := g.callers.owner(c.Account.ID, changes)
	if !ok {
		var err error
		if now, err = g.keys.GetAccount(ctx, c.Account.ID); err != nil {
			return fault.From(err)
		}
		g.callers.putOwner(now, changes)
	}
	if c.Key.Hash == (task.Hash{}) { // a person who signed in
		return Caller{Account: now}.Open()
	}
	return refusalOfKey(mustBeActive(now))
}

// mustBeActive returns the error of a key whose account takes no requests. A closed account's key is as one that was
// never issued.
func mustBeActive(a account.Account) error {
	switch state, _ := a.State(); state {
	case account.Active:
		return nil
	case account.Suspended:
		return fault.New(fault.Unauthenticated, "the key's account is suspended; the service's operator may resume it").
			WithDetails(fault.Detail{Field: "account", Message: "is suspended"})
	default:
		return errInvalidKey
	}
}
