package operator

import (
	"context"
	"errors"
	"sync"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// SuspendAccount has an account, by its id or name, take no requests by keys and no new tasks from now on: at other
// nodes within half a second. Accepted tasks are done. Its members still sign in. Suspending again is a no-op.
func (o *Operator) SuspendAccount(ctx context.Context, which string) (api.Account, error) {
	now := o.Now().UTC()
	return o.changeAccount(ctx, which, func(a *account.Account) error {
		if a.ClosedAt != nil {
			return closedAccount()
		}
		if a.SuspendedAt == nil {
			a.SuspendedAt = &now
		}
		return nil
	})
}

// ResumeAccount makes a suspended account, or a closed one, active again. A closed one's keys stay revoked and its
// members need new links; resuming again is a no-op.
func (o *Operator) ResumeAccount(ctx context.Context, which string) (api.Account, error) {
	return o.changeAccount(ctx, which, func(a *account.Account) error {
		a.SuspendedAt, a.ClosedAt = nil, nil
		return nil
	})
}

// CloseAccount closes an account, by its id or name, whose name the request must repeat: its keys are revoked, its
// sessions ended, its queued tasks canceled. The first commit refuses all of them; the rest is done one after another,
// and again if it is closed again. Its records stay as long as any, and running tasks are done.
func (o *Operator) CloseAccount(ctx context.Context, which string, req api.AccountClose) (api.AccountClosed, error) {
	now := o.Now().UTC()
	a, err := o.find(ctx, which)
	if err != nil {
		return api.AccountClosed{}, err
	}
	a, err = o.Store.UpdateAccount(ctx, a.ID, func(a *account.Account) error {
		if req.Name != a.Name {
			return fault.Invalid("name", "must be the account's name, to be sure that it is meant")
		}
		if a.SuspendedAt = nil; a.ClosedAt == nil {
			a.ClosedAt = &now
		}
		return nil
	})
	if err != nil {
		return api.AccountClosed{}, err
	}
	out := api.AccountClosed{Account: accountOf(a)}
	ended, err := o.endSessions(ctx, a, anySession)
	if err != nil {
		return out, err
	}
	out.Sessions = len(ended)
	if out.Keys, err = o.revokeAll(ctx, a); err != nil {
		return out, err
	}
	out.Tasks, err = o.cancelQueued(ctx, a)
	return out, err
}

// changeAccount changes an account by its id or name.
func (o *Operator) changeAccount(ctx context.Context, which string, change func(*account.Account) error) (api.Account, error) {
	a, err := o.find(ctx, which)
	if err == nil {
		a, err = o.Store.UpdateAccount(ctx, a.ID, change)
	}
	return accountOf(a), err
}

// revokeAll revokes the open API keys of an account and returns their number.
func (o *Operator) revokeAll(ctx context.Context, a account.Account) (n int, _ error) {
	keys, err := o.Store.ListKeys(ctx)
	if err != nil {
		return 0, err
	}
	now := o.Now().UTC()
	for _, k := range keys {
		if k.Account != a.ID || k.Mode == account.Operator || k.RevokedAt != nil {
			continue
		}
		if _, err := o.Store.UpdateKey(ctx, k.ID, revoke(now)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// canceledAtOnce is how many tasks are canceled at the same time: engines put such commits together.
const canceledAtOnce = 16

// cancelQueued cancels the tasks of an account that wait and returns their number.
func (o *Operator) cancelQueued(ctx context.Context, a account.Account) (n int, _ error) {
	if o.Tasks == nil {
		return 0, nil
	}
	for _, mode := range []task.Mode{task.Live, task.Test} {
		q := store.ListQuery{Scope: task.Scope{Account: a.ID, Mode: mode}, State: task.Queued, Limit: store.MaxPage}
		for {
			page, err := o.Tasks.ListTasks(ctx, q)
			if err == nil {
				err = o.cancelAll(ctx, page.Tasks)
			}
			if err != nil {
				return n, err
			}
			n += len(page.Tasks)
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	return n, nil
}

func (o *Operator) cancelAll(ctx context.Context, tasks []task.Task) error {
	errs := make([]error, len(tasks))
	free := make(chan struct{}, canceledAtOnce)
	var wg sync.WaitGroup
	for i, t := range tasks {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			_, err := o.Tasks.RequestCancel(ctx, t.Scope, t.ID)
			if !errors.Is(err, store.ErrNotFound) { // it ended and was swept meanwhile
				errs[i] = err
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func closedAccount() error {
	return fault.New(fault.InvalidRequest, "the account is closed: resume it first")
}
