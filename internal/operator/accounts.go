package operator

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// CreateAccount makes an account.
func (o *Operator) CreateAccount(ctx context.Context, req api.AccountCreate) (api.Account, error) {
	now := o.Now().UTC()
	a := account.Account{
		ID: task.NewID(task.PrefixAccount, now), Name: strings.TrimSpace(req.Name), Capabilities: req.Capabilities, CreatedAt: now,
	}
	if !validName(a.Name) {
		return api.Account{}, wrongName("name")
	}
	err := checkPatterns("capabilities", a.Capabilities)
	if err == nil {
		err = o.checkMatches("capabilities", a.Capabilities)
	}
	if err != nil {
		return api.Account{}, err
	}
	if a.Limits, err = limitsFrom(req.Limits); err != nil {
		return api.Account{}, err
	}
	err = o.Store.PutAccount(ctx, a)
	if errors.Is(err, store.ErrExists) {
		return api.Account{}, takenName()
	}
	return accountOf(a), err
}

// everyName is how the console's lists call all accounts.
const everyName = "*"

// validName reports whether a name can stand in a path, and is taken for no id and not for all accounts.
func validName(name string) bool {
	return name != "" && len(name) <= maxName && name != "." && name != ".." && name != everyName &&
		!strings.Contains(name, "/") && !task.ValidID(task.PrefixAccount, name)
}

// ListAccounts returns every account, oldest first.
func (o *Operator) ListAccounts(ctx context.Context) ([]api.Account, error) {
	all, err := o.Store.ListAccounts(ctx)
	if err != nil {
		return nil, err
	}
	return o.accountsOf(ctx, all...)
}

// AccountName is an account's id with its name.
type AccountName struct{ ID, Name string }

// AccountNames returns the name of every account, oldest first. It reads no budgets.
func (o *Operator) AccountNames(ctx context.Context) ([]AccountName, error) {
	all, err := o.Store.ListAccounts(ctx)
	names := make([]AccountName, 0, len(all))
	for _, a := range all {
		names = append(names, AccountName{a.ID, a.Name})
	}
	return names, err
}

// GetAccount returns an account by its id or name.
func (o *Operator) GetAccount(ctx context.Context, which string) (api.Account, error) {
	a, err := o.find(ctx, which)
	if err != nil {
		return api.Account{}, err
	}
	out, err := o.accountsOf(ctx, a)
	if err != nil {
		return api.Account{}, err
	}
	return out[0], nil
}

// UpdateAccount changes an account by its id or name. It holds for every request from now on; a member
// who is removed is signed out.
func (o *Operator) UpdateAccount(ctx context.Context, which string, u api.AccountUpdate) (api.Account, error) {
	out, err := o.changeAccount(ctx, which, func(a *account.Account) (err error) {
		if u.Name != nil {
			if a.Name = strings.TrimSpace(*u.Name); !validName(a.Name) {
				return wrongName("name")
			}
		}
		if u.Capabilities != nil {
			known := a.Capabilities
			a.Capabilities = *u.Capabilities
			if err = checkPatterns("capabilities", a.Capabilities); err == nil {
				err = o.checkMatches("capabilities", a.Capabilities, known...)
			}
		}
		if u.Limits != nil && err == nil {
			a.Limits, err = changed(a.Limits, *u.Limits)
		}
		if u.KeepInputsDays != nil && err == nil {
			*a, err = keeping(*a, *u.KeepInputsDays, o.Now())
		}
		for _, name := range u.RemoveMembers {
			if _, ok := a.Member(name); !ok {
				return fault.Invalid("remove_members", "names nobody of the account")
			}
			*a = a.WithoutMember(name)
		}
		return err
	})
	if errors.Is(err, store.ErrExists) {
		err = takenName()
	}
	return out, err
}

// keeping returns the account that keeps the requests of its new tasks for so many days.
func keeping(a account.Account, days int, now time.Time) (account.Account, error) {
	if days < 0 || days > account.MaxKeepInputs {
		return a, fault.Invalid("keep_inputs_days", "must be from 0, which keeps none, to "+strconv.Itoa(account.MaxKeepInputs))
	}
	return a.Keeping(days, now), nil
}

func wrongName(field string) error {
	return fault.Invalid(field, "is required, has at most 100 bytes and no slash, and is not * and no account's id")
}

func takenName() error { return fault.Invalid("name", "is that of another account") }

// find returns an account by its id or name.
func (o *Operator) find(ctx context.Context, which string) (account.Account, error) {
	look := o.Store.FindAccount
	if task.ValidID(task.PrefixAccount, which) {
		look = o.Store.GetAccount
	}
	a, err := look(ctx, which)
	if errors.Is(err, store.ErrNotFound) {
		return a, noSuchAccount()
	}
	return a, err
}

func noSuchAccount() error { return fault.New(fault.NotFound, "there is no such account") }

// account returns the account of the given name or id, making one of the name on first use; "" is the
// default one.
func (o *Operator) account(ctx context.Context, name string) (account.Account, error) {
	if name == "" {
		name = defaultAccount
	}
	for range 2 { // the second look finds an account that another request made meanwhile
		a, err := o.find(ctx, name)
		if err == nil || fault.CodeOf(err) != fault.NotFound || task.ValidID(task.PrefixAccount, name) {
			return a, err
		}
		if !validName(name) {
			return account.Account{}, wrongName("account")
		}
		now := o.Now().UTC()
		a = account.Account{ID: task.NewID(task.PrefixAccount, now), Name: name, CreatedAt: now}
		if err := o.Store.PutAccount(ctx, a); err == nil || !errors.Is(err, store.ErrExists) {
			return a, err
		}
	}
	return account.Account{}, errors.New("the account exists and can't be found")
}

func (o *Operator) accountNames(ctx context.Context) (map[string]string, error) {
	accounts, err := o.Store.ListAccounts(ctx)
	names := make(map[string]string, len(accounts))
	for _, a := range accounts {
		names[a.ID] = a.Name
	}
	return names, err
}

// accountOf returns an account as its operator and members read it.
func accountOf(a account.Account) api.Account {
	out := api.Account{
		ID: a.ID, Name: a.Name, Capabilities: append([]string{}, a.Capabilities...), Limits: limitsOf(a.Limits),
		KeepInputsDays: a.KeepInputs, Members: make([]api.Member, 0, len(a.Members)), CreatedAt: api.Timestamp{Time: a.CreatedAt},
	}
	state, since := a.State()
	out.State, out.StateAt = string(state), api.TimestampOf(since)
	for _, m := range a.Members {
		out.Members = append(out.Members, api.Member{Name: m.Name, Role: string(m.Role), JoinedAt: api.Timestamp{Time: m.JoinedAt}})
	}
	return out
}
