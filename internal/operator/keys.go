package operator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/store"
	"unitask/internal/task"
)

// longest is a life of centuries' bound, in seconds: more would overflow a Duration.
const longest = int64(100 * 365 * 24 * time.Hour / time.Second)

// CreateKey makes a key of the mode live or test, and a missing account. The answer is the only one that holds the
// secret.
func (o *Operator) CreateKey(ctx context.Context, req api.KeyCreate) (api.Key, error) {
	k, err := keyFrom(req, o.Now())
	if err != nil {
		return api.Key{}, err
	}
	return o.createKey(ctx, k, req.Account)
}

// createKey records a key of the account of a name, which is made if it is missing.
func (o *Operator) createKey(ctx context.Context, k account.Key, name string) (api.Key, error) {
	if err := o.checkMatches("scopes", k.Scopes, api.ScopeWebhooks); err != nil {
		return api.Key{}, err
	}
	owner, err := o.account(ctx, name)
	if err != nil {
		return api.Key{}, err
	}
	return o.putKey(ctx, k, owner)
}

// putKey records a key of the account with a fresh secret.
func (o *Operator) putKey(ctx context.Context, k account.Key, owner account.Account) (api.Key, error) {
	if owner.ClosedAt != nil && k.Mode != account.Operator {
		return api.Key{}, closedAccount()
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

// Key is a key as ListKeys returns it, but for how its budget stands, which AddSpending reads.
type Key struct {
	api.Key
	record account.Key
}

// Keys returns every key, oldest first, without how the budgets stand.
func (o *Operator) Keys(ctx context.Context) ([]Key, error) {
	return o.keys(ctx, "")
}

// ListKeys returns every key, oldest first.
func (o *Operator) ListKeys(ctx context.Context) ([]api.Key, error) {
	keys, err := o.Keys(ctx)
	if err != nil {
		return nil, err
	}
	err = o.AddSpending(ctx, keys)
	out := make([]api.Key, 0, len(keys))
	for _, k := range keys {
		out = append(out, k.Key)
	}
	return out, err
}

// keys returns the API keys of an account's id, all keys for "".
func (o *Operator) keys(ctx context.Context, owner string) ([]Key, error) {
	keys, err := o.Store.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	names, err := o.accountNames(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Key, 0, len(keys))
	for _, k := range keys {
		if owner == "" || k.Account == owner && k.Mode != account.Operator {
			out = append(out, Key{keyOf(k, names[k.Account]), k})
		}
	}
	return out, nil
}

// RevokeKey closes a key at once; revoking again is a no-op.
func (o *Operator) RevokeKey(ctx context.Context, id string) (api.Key, error) {
	return o.updateKey(ctx, id, revoke(o.Now().UTC()))
}

// revoke closes a key, unless it was revoked before.
func revoke(now time.Time) func(*account.Key) error {
	return func(k *account.Key) error {
		if k.RevokedAt == nil {
			k.RevokedAt = &now
		}
		return nil
	}
}

// UpdateKey changes the name, the scopes, the limits and the expiry of a key that is open; of an operator's the name
// alone. It holds for every request from now on.
func (o *Operator) UpdateKey(ctx context.Context, id string, u api.KeyUpdate) (api.Key, error) {
	return o.changeKey(ctx, id, u, func(k *account.Key, before account.Key) error {
		if k.Mode == account.Operator {
			return ownersAlone()
		}
		return operatorChange(k, before)
	})
}

// operatorChange lets an operator change everything. Limits that members set aren't theirs after that.
func operatorChange(k *account.Key, before account.Key) error {
	k.OwnLimits = k.OwnLimits && k.Limits == before.Limits
	return nil
}

// memberChange lets a member loosen members' limits, lower an operator's, and bring an expiry forward.
func memberChange(k *account.Key, before account.Key) error {
	if before.ExpiresAt != nil && (k.ExpiresAt == nil || k.ExpiresAt.After(*before.ExpiresAt)) {
		return fault.Invalid("expires_in_seconds", "may be less: an operator alone puts an expiry off; a key that is rotated lives as long again")
	}
	k.OwnLimits = k.OwnLimits || before.Limits == (account.Limits{})
	if field := k.Limits.Looser(before.Limits); field != "" && !k.OwnLimits {
		return fault.Invalid(field, "was set by an operator: it may be lowered, and an operator alone raises it or takes it away")
	}
	return nil
}

// changeKey is UpdateKey with a check of the change of limits and expiry.
func (o *Operator) changeKey(ctx context.Context, id string, u api.KeyUpdate, judge func(k *account.Key, before account.Key) error) (api.Key, error) {
	now := o.Now()
	return o.updateKey(ctx, id, func(k *account.Key) (err error) {
		if !k.Usable(now) {
			return closedKey()
		}
		before := *k
		if u.Name != nil {
			k.Name = strings.TrimSpace(*u.Name)
		}
		if u.Scopes != nil {
			k.Scopes = append([]string{}, *u.Scopes...)
			if err = o.checkMatches("scopes", k.Scopes, slices.Concat(before.Scopes, []string{api.ScopeWebhooks})...); err != nil {
				return err
			}
		}
		if u.Limits != nil {
			if u.Limits.SupplierSpend != nil {
				return accountsAlone()
			}
			if k.Limits, err = changed(before.Limits, *u.Limits); err != nil {
				return err
			}
		}
		if u.ExpiresInSeconds != nil {
			if k.ExpiresAt, err = expiry(*u.ExpiresInSeconds, now); err != nil {
				return err
			}
		}
		if u.Limits != nil || u.ExpiresInSeconds != nil {
			if err = judge(k, before); err != nil {
				return err
			}
		}
		return checkKey(*k)
	})
}

func (o *Operator) updateKey(ctx context.Context, id string, change func(*account.Key) error) (api.Key, error) {
	k, err := o.Store.UpdateKey(ctx, id, change)
	if err != nil {
		return api.Key{}, unknownKey(err)
	}
	names, err := o.accountNames(ctx)
	return keyOf(k, names[k.Account]), err
}

// RotateKey makes a key in the place of another, which is no operator key. The new key has the old one's account, name,
// mode, scopes and limits, and both count against these limits together. The old key is closed when the overlap is
// over, or by its own expiry if that is sooner; the new one has the whole life that the old one had. The answer is the
// only one that holds the secret.
func (o *Operator) RotateKey(ctx context.Context, id string, req api.KeyRotate) (api.Key, error) {
	return o.rotateKey(ctx, id, req, func(old account.Key) error {
		if old.Mode == account.Operator {
			return ownersAlone()
		}
		return nil
	})
}

// rotateKey is RotateKey with a check of the old key.
func (o *Operator) rotateKey(ctx context.Context, id string, req api.KeyRotate, judge func(account.Key) error) (api.Key, error) {
	if req.OverlapSeconds < 0 || req.OverlapSeconds > longest {
		return api.Key{}, fault.Invalid("overlap_seconds", "must be from 0 to 100 years")
	}
	now := o.Now().UTC()
	end := now.Add(time.Duration(req.OverlapSeconds) * time.Second)
	var next account.Key
	var full string
	err := o.Store.RotateKey(ctx, id, func(old *account.Key) (account.Key, error) {
		if !old.Usable(now) {
			return next, closedKey()
		}
		if err := judge(*old); err != nil {
			return next, err
		}
		next = old.Rotated(task.NewID(task.PrefixKey, now), task.Hash{}, "", now)
		if old.ExpiresAt != nil {
			next.ExpiresAt = new(now.Add(old.ExpiresAt.Sub(old.CreatedAt)))
		}
		full = o.mint(&next)
		if old.ExpiresAt == nil || end.Before(*old.ExpiresAt) {
			old.ExpiresAt = &end
		}
		return next, nil
	})
	if err != nil {
		return api.Key{}, unknownKey(err)
	}
	names, err := o.accountNames(ctx)
	if err != nil {
		names = nil // the secret is shown nowhere else
	}
	out := keyOf(next, names[next.Account])
	out.Secret = full
	return out, nil
}

func closedKey() error {
	return fault.New(fault.InvalidRequest, "the key is closed already: make a new one")
}

func noSuchKey() error { return fault.New(fault.NotFound, "there is no such key") }

// unknownKey turns the store's error for an unknown key into the caller's.
func unknownKey(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return noSuchKey()
	}
	return err
}

// mint gives the key a fresh secret and returns it.
func (o *Operator) mint(k *account.Key) string {
	full := account.NewKeySecret(o.Prefix, k.Mode)
	k.Hash, k.Hint = account.HashSecret(full), account.Hint(full)
	return full
}

// keyFrom checks a request for an API key and returns its record, without account and secret.
func keyFrom(req api.KeyCreate, now time.Time) (account.Key, error) {
	switch req.Mode {
	case task.Live, task.Test:
		return anyKeyFrom(req, now)
	case account.Operator:
		return account.Key{}, ownersAlone()
	default:
		return account.Key{}, fault.Invalid("mode", "must be live or test")
	}
}

// anyKeyFrom is keyFrom for keys of all modes.
func anyKeyFrom(req api.KeyCreate, now time.Time) (account.Key, error) {
	k := account.Key{
		ID: task.NewID(task.PrefixKey, now), Name: strings.TrimSpace(req.Name), Mode: req.Mode, Scopes: req.Scopes,
		CreatedAt: now.UTC(),
	}
	if req.Mode != task.Live && req.Mode != task.Test && req.Mode != account.Operator {
		return k, fault.Invalid("mode", "must be live, test or operator")
	}
	if len(req.Account) > maxName {
		return k, fault.Invalid("account", "is at most 100 bytes long")
	}
	if req.Mode == account.Operator && req.Account != "" {
		return k, fault.Invalid("account", "doesn't go with an operator key, which acts for no account")
	}
	if req.SupplierSpend != "" {
		return k, accountsAlone()
	}
	var err error
	if k.Limits, err = limitsFrom(req.Limits); err != nil {
		return k, err
	}
	if err = checkKey(k); err != nil {
		return k, err
	}
	k.ExpiresAt, err = expiry(req.ExpiresInSeconds, now)
	return k, err
}

// expiry returns the end of a life in seconds that begins now, nil for an endless one.
func expiry(life int64, now time.Time) (*time.Time, error) {
	switch {
	case life < 0 || life > longest:
		return nil, fault.Invalid("expires_in_seconds", "must be from 0, for never, to 100 years")
	case life == 0:
		return nil, nil //nolint:nilnil // a key without an expiry
	}
	return new(now.UTC().Add(time.Duration(life) * time.Second)), nil
}

func accountsAlone() error { return fault.Invalid("supplier_spend", "is an account's: a key has none") }

// checkKey checks the members of a key that people set.
func checkKey(k account.Key) error {
	if k.Mode == account.Operator && (k.Scopes != nil || k.Limits != account.Limits{}) {
		return fault.Invalid("mode", "operator takes no scopes and no limits: the key opens no capability")
	}
	if k.Name == "" || len(k.Name) > maxName {
		return fault.Invalid("name", "is required, and has at most 100 bytes")
	}
	if k.Scopes != nil && len(k.Scopes) == 0 {
		return fault.Invalid("scopes", "must hold a capability or a pattern; * is all capabilities")
	}
	return checkPatterns("scopes", k.Scopes)
}

func checkPatterns(field string, patterns []string) error {
	for _, pattern := range patterns {
		if !account.ValidPattern(pattern) {
			return fault.Invalid(field, "hold something that is no capability and no pattern such as image.*")
		}
	}
	return nil
}

// checkMatches refuses patterns that match no capability, but for the known ones, which a key or an account has already.
func (o *Operator) checkMatches(field string, patterns []string, known ...string) error {
	if o.DirectoryFunc == nil {
		return nil
	}
	if err := checkPatterns(field, patterns); err != nil {
		return err
	}
	return gate.CheckPatterns(field, patterns, known, o.DirectoryFunc())
}

// keyOf returns a key's record as the operator reads it, without its secret. An operator key acts for no account, and
// has none there.
func keyOf(k account.Key, accountName string) api.Key {
	if k.Mode == account.Operator {
		accountName = ""
	}
	return api.Key{
		ID: k.ID, Account: accountName, Name: k.Name, Mode: k.Mode, Hint: k.Hint, Scopes: append([]string{}, k.Scopes...),
		CreatedAt: api.Timestamp{Time: k.CreatedAt}, ExpiresAt: api.TimestampOf(k.ExpiresAt),
		RevokedAt: api.TimestampOf(k.RevokedAt), LastUsedAt: api.TimestampOf(k.LastUsedAt), Limits: limitsOf(k.Limits),
	}
}
