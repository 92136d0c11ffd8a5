package server

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/secret"
	"unitask/internal/store"
	"unitask/internal/task"
)

const (
	defaultAccount = "default"        // the account of keys whose maker names none
	sessionLife    = 15 * time.Minute // of a session key: the client renews it by itself
	maxName        = 100              // characters of a key's or an account's name
)

// Operator is what whoever owns the data folder may do. The admin socket serves it; where no server
// runs it works on the store itself. It is safe for concurrent use.
type Operator struct {
	Store  store.Registry
	Tasks  store.Store      // nil: no tasks are shown
	Gate   *gate.Gate       // nil where no server runs: no session keys
	Prefix string           // of keys
	Server api.Info         // what it was at the start
	Now    func() time.Time // required
	// BackupFunc writes an archive of the data folder; nil where no server runs.
	BackupFunc func(ctx context.Context, w io.Writer) error
	// ReloadFunc reads the settings again; nil where no server runs.
	ReloadFunc func(ctx context.Context) (api.Reload, error)

	suppliers atomic.Pointer[[]api.SupplierStatus] // since a reload
}

// CreateKey makes a key, and its account where that doesn't exist. The answer is the only one that
// holds the secret.
func (o *Operator) CreateKey(ctx context.Context, req api.KeyCreate) (api.Key, error) {
	k, err := keyFrom(req, o.Now())
	if err != nil {
		return api.Key{}, err
	}
	owner, err := o.account(ctx, req.Account)
	if err != nil {
		return api.Key{}, err
	}
	k.Account = owner.ID
	full := o.mint(&k)
	if err := o.Store.PutKey(ctx, k); err != nil {
		return api.Key{}, err
	}
	out := keyOf(k, owner.Name)
	out.Secret = full
	return out, nil
}

// ListKeys returns every key, oldest first.
func (o *Operator) ListKeys(ctx context.Context) ([]api.Key, error) {
	keys, err := o.Store.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	names, err := o.accountNames(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]api.Key, 0, len(keys))
	for _, k := range keys {
		out = append(out, keyOf(k, names[k.Account]))
	}
	return out, nil
}

// RevokeKey closes a key at once; revoking again changes nothing.
func (o *Operator) RevokeKey(ctx context.Context, id string) (api.Key, error) {
	now := o.Now().UTC()
	k, err := o.Store.UpdateKey(ctx, id, func(k *account.Key) {
		if k.RevokedAt == nil {
			k.RevokedAt = &now
		}
	})
	if errors.Is(err, store.ErrNotFound) {
		return api.Key{}, fault.New(fault.NotFound, "there is no such key")
	}
	if err != nil {
		return api.Key{}, err
	}
	names, err := o.accountNames(ctx)
	return keyOf(k, names[k.Account]), err
}

// SessionKey makes a test key of the default account that lives in the server's memory only.
func (o *Operator) SessionKey(ctx context.Context) (api.Key, error) {
	if o.Gate == nil {
		return api.Key{}, fault.New(fault.InvalidRequest, "session keys are made by a running server")
	}
	owner, err := o.account(ctx, "")
	if err != nil {
		return api.Key{}, err
	}
	now := o.Now().UTC()
	k := account.Key{
		ID: task.NewID(task.PrefixKey, now), Account: owner.ID, Name: "session", Mode: task.Test,
		CreatedAt: now, ExpiresAt: new(now.Add(sessionLife)),
	}
	full := o.mint(&k)
	o.Gate.AddSession(k)
	out := keyOf(k, owner.Name)
	out.Secret = full
	return out, nil
}

// Info says what the running server is.
func (o *Operator) Info(context.Context) (api.Info, error) {
	info := o.Server
	if now := o.suppliers.Load(); now != nil {
		info.Suppliers = *now
	}
	return info, nil
}

// SetSuppliers replaces what Info says of the suppliers.
func (o *Operator) SetSuppliers(s []api.SupplierStatus) { o.suppliers.Store(&s) }

// Bootstrap admits a full key that the operator chose, from the first start on. A key that is known
// already stays as it is, revoked ones included.
func (o *Operator) Bootstrap(ctx context.Context, full secret.Value) error {
	text := full.Reveal()
	mode, ok := account.ParseKeySecret(o.Prefix, text)
	if !ok {
		return fault.Newf(fault.InvalidRequest, "the bootstrap key is malformed: it is %s_live_ or %s_test_, 32 letters and digits, "+
			"and 6 of checksum", o.Prefix, o.Prefix)
	}
	owner, err := o.account(ctx, "")
	if err != nil {
		return err
	}
	now := o.Now().UTC()
	err = o.Store.PutKey(ctx, account.Key{
		ID: task.NewID(task.PrefixKey, now), Account: owner.ID, Name: "bootstrap", Mode: mode,
		Hash: account.HashSecret(text), Hint: account.Hint(text), CreatedAt: now,
	})
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// Task returns what happened to a task of any account, without its input and output.
func (o *Operator) Task(ctx context.Context, id string) (api.AdminTask, error) {
	unknown := fault.New(fault.NotFound, "there is no such task")
	if o.Tasks == nil || !task.ValidID(task.PrefixTask, id) {
		return api.AdminTask{}, unknown
	}
	accounts, err := o.Store.ListAccounts(ctx)
	if err != nil {
		return api.AdminTask{}, err
	}
	for _, a := range accounts {
		for _, mode := range []task.Mode{task.Live, task.Test} {
			t, err := o.Tasks.GetTask(ctx, task.Scope{Account: a.ID, Mode: mode}, id)
			if err == nil {
				return api.AdminTaskOf(t, a.Name), nil
			}
			if !errors.Is(err, store.ErrNotFound) {
				return api.AdminTask{}, err
			}
		}
	}
	return api.AdminTask{}, unknown
}

// mint gives the key a fresh secret and returns it.
func (o *Operator) mint(k *account.Key) string {
	full := account.NewKeySecret(o.Prefix, k.Mode)
	k.Hash, k.Hint = account.HashSecret(full), account.Hint(full)
	return full
}

// account returns the account of the given name, making it on first use.
func (o *Operator) account(ctx context.Context, name string) (account.Account, error) {
	if name == "" {
		name = defaultAccount
	}
	for range 2 { // the second look finds what another request made between
		a, err := o.Store.FindAccount(ctx, name)
		if err == nil || !errors.Is(err, store.ErrNotFound) {
			return a, err
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

// keyFrom checks a request for a key and returns its record, without account and secret.
func keyFrom(req api.KeyCreate, now time.Time) (account.Key, error) {
	k := account.Key{
		ID: task.NewID(task.PrefixKey, now), Name: strings.TrimSpace(req.Name), Mode: req.Mode, Scopes: req.Scopes,
		CreatedAt: now.UTC(),
		Limits: account.Limits{
			CreatesPerMinute: req.CreatesPerMinute, OpenTasks: req.OpenTasks, BudgetPeriod: account.Period(req.BudgetPeriod),
		},
	}
	if req.Mode != task.Live && req.Mode != task.Test {
		return k, fault.Invalid("mode", "must be live or test")
	}
	if k.Name == "" || len(k.Name) > maxName || len(req.Account) > maxName {
		return k, fault.Invalid("name", "is required; a key's and an account's name have at most 100 bytes")
	}
	if req.Scopes != nil && len(req.Scopes) == 0 {
		return k, fault.Invalid("scopes", "must hold a capability or a pattern; leave them out for all capabilities")
	}
	for _, pattern := range req.Scopes {
		if !account.ValidPattern(pattern) {
			return k, fault.Invalid("scopes", "hold something that is no capability and no pattern such as image.*")
		}
	}
	if err := setBudget(&k.Limits, req); err != nil {
		return k, err
	}
	// A life of centuries would overflow a Duration; nobody means one.
	const longest = int64(100 * 365 * 24 * time.Hour / time.Second)
	if req.ExpiresInSeconds < 0 || req.ExpiresInSeconds > longest {
		return k, fault.Invalid("expires_in_seconds", "must be from 0, for never, to 100 years")
	}
	if req.ExpiresInSeconds > 0 {
		k.ExpiresAt = new(now.UTC().Add(time.Duration(req.ExpiresInSeconds) * time.Second))
	}
	return k, nil
}

func setBudget(l *account.Limits, req api.KeyCreate) error {
	switch l.BudgetPeriod {
	case "", account.Day, account.Month:
	default:
		return fault.Invalid("budget_period", "must be day or month")
	}
	if (req.Budget == "") != (req.BudgetPeriod == "") {
		return fault.Invalid("budget", "and budget_period go together")
	}
	if req.Budget == "" {
		return nil
	}
	amount, err := task.ParseMoney(req.Budget)
	if err != nil || amount == 0 {
		return fault.Invalid("budget", "must be a decimal amount in USD above 0")
	}
	l.Budget = amount
	return nil
}

// keyOf returns a key's record as the operator reads it, without its secret.
func keyOf(k account.Key, accountName string) api.Key {
	return api.Key{
		ID: k.ID, Account: accountName, Name: k.Name, Mode: k.Mode, Hint: k.Hint, Scopes: append([]string{}, k.Scopes...),
		CreatedAt: api.Timestamp{Time: k.CreatedAt}, ExpiresAt: api.TimestampOf(k.ExpiresAt),
		RevokedAt: api.TimestampOf(k.RevokedAt), LastUsedAt: api.TimestampOf(k.LastUsedAt), KeyLimits: limitsOf(k.Limits),
	}
}

func limitsOf(l account.Limits) api.KeyLimits {
	out := api.KeyLimits{CreatesPerMinute: l.CreatesPerMinute, OpenTasks: l.OpenTasks}
	if l.Budget > 0 {
		out.Budget, out.BudgetPeriod = l.Budget.String(), string(l.BudgetPeriod)
	}
	return out
}
