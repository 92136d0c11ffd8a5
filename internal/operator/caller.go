package operator

import (
	"context"
	"slices"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/task"
)

// CallerOf returns who would send a request: a key of an id, in its own mode; or a key of an account, by id or name, that
// has every scope; without both a caller to whom everything is open. It is for explanations alone,
// and admits no request.
func (o *Operator) CallerOf(ctx context.Context, which, key string, mode task.Mode) (gate.Caller, error) {
	c := gate.Caller{Key: account.Key{Mode: mode}}
	if key != "" {
		keys, err := o.Store.ListKeys(ctx)
		if err != nil {
			return c, err
		}
		i := slices.IndexFunc(keys, func(k account.Key) bool { return k.ID == key && k.Mode != account.Operator })
		if i < 0 {
			return c, fault.Invalid("key", "is no key's id")
		}
		c.Key, which = keys[i], keys[i].Account
	}
	if which == "" {
		return c, nil
	}
	var err error
	c.Account, err = o.find(ctx, which)
	return c, err
}
