package operator

import (
	"context"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/api"
)

// Member is the operations of a member: those of an operator, for one account; other accounts are NOT_FOUND. It is
// good for one request; the next one asks for the session again.
type Member struct {
	operator *Operator
	owner    account.Account
}

// Member returns the operations of the visitor's own account.
func (o *Operator) Member(v Visitor) Member { return Member{o, v.Account} }

// Account returns the member's account, without the operator's limit on suppliers' charges for it.
func (m Member) Account() api.Account {
	a := accountOf(m.owner)
	if a.Limits.SupplierSpend = ""; a.Limits.Budget == "" {
		a.Limits.BudgetPeriod = ""
	}
	return a
}

// Budget returns the member's account as Account does, with how its budget stands.
func (m Member) Budget(ctx context.Context) (api.Account, error) {
	a := m.Account()
	all, err := m.operator.accountsOf(ctx, m.owner)
	if err != nil {
		return a, err
	}
	a.Spending = all[0].Spending
	return a, nil
}

// KeepInputs has the account keep the requests of its new tasks for so many days; see api.AccountUpdate.
func (m Member) KeepInputs(ctx context.Context, days int) error {
	_, err := m.operator.UpdateAccount(ctx, m.owner.ID, api.AccountUpdate{KeepInputsDays: &days})
	return err
}

// CreateKey makes a key of the account; the request may not name another one.
func (m Member) CreateKey(ctx context.Context, req api.KeyCreate) (api.Key, error) {
	if req.Account != "" && req.Account != m.owner.Name {
		return api.Key{}, noSuchAccount()
	}
	req.Account = ""
	k, err := keyFrom(req, m.operator.Now())
	if err != nil {
		return api.Key{}, err
	}
	k.OwnLimits = true
	return m.operator.putKey(ctx, k, m.owner)
}

// Keys returns the account's keys, oldest first, without how the budgets stand.
func (m Member) Keys(ctx context.Context) ([]Key, error) {
	return m.operator.keys(ctx, m.owner.ID)
}

// RotateKey makes a key in the place of one of the account's; see Operator.RotateKey.
func (m Member) RotateKey(ctx context.Context, id string, req api.KeyRotate) (api.Key, error) {
	if err := m.owns(ctx, id); err != nil {
		return api.Key{}, err
	}
	return m.operator.RotateKey(ctx, id, req)
}

// UpdateKey changes a key of the account; see Operator.UpdateKey. A limit that an operator set is lowered at
// most, and an expiry brought forward. Whatever a key is given, the limits of the account and of the server bind it.
func (m Member) UpdateKey(ctx context.Context, id string, u api.KeyUpdate) (api.Key, error) {
	if err := m.owns(ctx, id); err != nil {
		return api.Key{}, err
	}
	return m.operator.changeKey(ctx, id, u, memberChange)
}

// RevokeKey closes a key of the account at once.
func (m Member) RevokeKey(ctx context.Context, id string) (api.Key, error) {
	if err := m.owns(ctx, id); err != nil {
		return api.Key{}, err
	}
	return m.operator.RevokeKey(ctx, id)
}

// owns returns NOT_FOUND for another account's key. A key never changes its account.
func (m Member) owns(ctx context.Context, id string) error {
	keys, err := m.Keys(ctx)
	if err == nil && !slices.ContainsFunc(keys, func(k Key) bool { return k.ID == id }) {
		err = noSuchKey()
	}
	return err
}

// FindRequests returns the records of the account's requests by an id; NOT_FOUND without one. It names no nodes.
func (m Member) FindRequests(ctx context.Context, id string) (api.RequestList, error) {
	list, err := m.operator.findRequests(ctx, m.owner.ID, id)
	if len(list.Incomplete) > 0 {
		list.Incomplete = []string{"a part of the service"}
	}
	if err == nil && len(list.Data) == 0 {
		err = unknownRequest(strings.Join(list.Incomplete, ""))
	}
	return list, err
}
