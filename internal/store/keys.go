package store

import (
	"context"

	"unitask/internal/account"
	"unitask/internal/task"
)

// Keys keeps API keys and accounts.
type Keys interface {
	// PutAccount records an account; ErrExists when its id or name is taken.
	PutAccount(ctx context.Context, a account.Account) error
	// ListAccounts returns every account, oldest first.
	ListAccounts(ctx context.Context) ([]account.Account, error)
	// PutKey records a key; ErrExists when its id or hash is taken, ErrNotFound for an unknown account.
	PutKey(ctx context.Context, k account.Key) error
	// KeyByHash returns the key and its account, or ErrNotFound.
	KeyByHash(ctx context.Context, h task.Hash) (account.Key, account.Account, error)
	// ListKeys returns every key, oldest first.
	ListKeys(ctx context.Context) ([]account.Key, error)
	// UpdateKey changes one key in one commit; change may run more than once and must not change
	// id or hash. ErrNotFound for an unknown id.
	UpdateKey(ctx context.Context, id string, change func(*account.Key)) (account.Key, error)
}

// Secrets keeps the service's own random secrets, such as the one that signs artifact URLs.
type Secrets interface {
	// Secret returns the named secret, making it of size random bytes on first use.
	Secret(ctx context.Context, name string, size int) ([]byte, error)
}
