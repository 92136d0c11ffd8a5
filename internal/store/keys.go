package store

import (
	"context"
	"time"

	"unitask/internal/account"
	"unitask/internal/task"
)

// Registry is an engine's storage of accounts, keys, sessions, usage and webhooks.
type Registry interface {
	Accounts
	Keys
	Callers
	Sessions
	UsageLog
	Webhooks
	Counters
}

// Counters reads what tasks hold.
type Counters interface {
	// Held returns the value of each counter, in their order: 0 of one without holds. It makes no commit.
	Held(ctx context.Context, counters []Counter) ([]int64, error)
}

// Accounts keeps accounts with their members.
type Accounts interface {
	// PutAccount records an account; ErrExists when its id or name is taken.
	PutAccount(ctx context.Context, a account.Account) error
	// GetAccount returns the account of an id, or ErrNotFound.
	GetAccount(ctx context.Context, id string) (account.Account, error)
	// FindAccount returns the account of a name, or ErrNotFound.
	FindAccount(ctx context.Context, name string) (account.Account, error)
	// ListAccounts returns every account, oldest first.
	ListAccounts(ctx context.Context) ([]account.Account, error)
	// UpdateAccount changes one account in one commit; change may run more than once and must not change the
	// id; its error ends the update. ErrNotFound for an unknown id, ErrExists when its new name is taken.
	UpdateAccount(ctx context.Context, id string, change func(*account.Account) error) (account.Account, error)
}

// Keys keeps API keys.
type Keys interface {
	// PutKey records a key; ErrExists when its id or hash is taken, ErrNotFound for an unknown account.
	PutKey(ctx context.Context, k account.Key) error
	// ListKeys returns every key, oldest first.
	ListKeys(ctx context.Context) ([]account.Key, error)
	// UpdateKey changes one key in one commit; change may run more than once and must not change
	// id, account or hash; its error ends the update. ErrNotFound for an unknown id.
	UpdateKey(ctx context.Context, id string, change func(*account.Key) error) (account.Key, error)
	// RotateKey changes one key as UpdateKey does and records the one that rotate returns, in one commit.
	// The error of rotate ends it. ErrNotFound and ErrExists as for UpdateKey and PutKey.
	RotateKey(ctx context.Context, id string, rotate func(old *account.Key) (account.Key, error)) error
}

// Callers is the part of Registry that each request uses.
type Callers interface {
	// KeyByHash returns the key and its account, or ErrNotFound.
	KeyByHash(ctx context.Context, h task.Hash) (account.Key, account.Account, error)
	// GetAccount returns the account of an id, or ErrNotFound.
	GetAccount(ctx context.Context, id string) (account.Account, error)
	// Changes returns a number that has grown after every change of a key or an account: at once after
	// one through this engine, within half a second after one elsewhere. It reads memory alone.
	Changes() uint64
	// MarkUsed notes when keys were last used, by their ids, in one commit. It counts as no change.
	MarkUsed(ctx context.Context, at map[string]time.Time) error
}

// Sessions keeps one-time links and the sessions that they open, both by the hash of their token. Sweep
// removes them when they have expired.
type Sessions interface {
	// PutLink records a link; ErrExists when its hash is taken, ErrNotFound for an unknown account.
	PutLink(ctx context.Context, l account.Link) error
	// RedeemLink removes a link and records the session that open makes of it, in one commit: of many who try at once
	// one succeeds. open may run more than once; its error ends the redemption without a change. ErrNotFound for an
	// unknown link.
	RedeemLink(ctx context.Context, link task.Hash, open func(account.Link) (account.Session, error)) error
	// GetSession returns a session, expired or not, with its account, or ErrNotFound.
	GetSession(ctx context.Context, h task.Hash) (account.Session, account.Account, error)
	// ListSessions returns the sessions of an account, expired ones that no sweep removed yet too, in no order.
	ListSessions(ctx context.Context, owner string) ([]account.Session, error)
	// SeeSession notes when a session was last seen. ErrNotFound for an unknown one.
	SeeSession(ctx context.Context, h task.Hash, at time.Time) error
	// DeleteSession removes a session; a missing one is no error.
	DeleteSession(ctx context.Context, h task.Hash) error
}

// Secrets keeps the service's own random secrets, such as the one that signs artifact URLs.
type Secrets interface {
	// Secret returns the named secret, making it of size random bytes on first use.
	Secret(ctx context.Context, name string, size int) ([]byte, error)
}
