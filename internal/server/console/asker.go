package console

import (
	"slices"

	"unitask/internal/api"
	"unitask/internal/operator"
	"unitask/internal/task"
)

// asker is who asked for a task: a key, with its page, or a member in the console.
type asker struct {
	Name   string // "" if it isn't known any more
	ID     string // of the key
	Member bool
}

// askerOf returns who asked for a task of an account.
func (c *Console) askerOf(x exchange, owner api.Account, mode task.Mode, keyID string) (asker, error) {
	a := asker{ID: keyID}
	for _, m := range owner.Members {
		if operator.MemberKey(owner.ID, m.Name, mode) == keyID {
			a.Name, a.Member = m.Name, true
			return a, nil
		}
	}
	keys, err := c.actions(x.visitor).Keys(x.r.Context())
	if i := slices.IndexFunc(keys, func(k operator.Key) bool { return k.ID == keyID }); i >= 0 {
		a.Name = keys[i].Name
	}
	return a, err
}
