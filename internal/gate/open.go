package gate

import (
	"context"
	"errors"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/store"
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
// to arrive: nil if the caller's key opens the service and the account is active now. By a key it reads the store only after
// a change of a key or an account.
func (g *Gate) StillOpen(ctx context.Context, c Caller) error {
	if c.Key.Hash == (task.Hash{}) { // a person who signed in
		now, err := g.keys.GetAccount(ctx, c.Account.ID)
		if err != nil {
			return fault.From(err)
		}
		return Caller{Account: now}.Open()
	}
	changes := g.keys.Changes() // before the key is read
	now, ok := g.callers.get(c.Key.Hash, changes)
	if !ok {
		key, owner, err := g.lookup(ctx, c.Key.Hash)
		if errors.Is(err, store.ErrNotFound) {
			return refusalOfKey(errInvalidKey)
		}
		if err != nil {
			return fault.From(err)
		}
		now = &cachedCaller{Caller: Caller{Key: key, Account: owner}}
		g.callers.put(c.Key.Hash, now, changes)
	}
	if !now.Key.Usable(g.now()) {
		return refusalOfKey(errInvalidKey)
	}
	return refusalOfKey(mustBeActive(now.Account))
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
