package operator

import (
	"context"
	"errors"
	"sync"
	"time"

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
		*a = a.Closing(now)
		return nil
	})
	if err != nil {
		return api.AccountClosed{}, err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), closePatience) // whoever asked may leave
	defer stop()
	out, err := o.endAll(ctx, a)
	if err != nil {
		err = fault.Wrap(fault.CodeOf(err), err, "the account is closed, but not all that it has was ended: close it again")
	}
	return out, err
}

// closePatience bounds how long a closing goes on after its first commit.
const closePatience = 5 * time.Minute

// endAll ends what a closed account has.
func (o *Operator) endAll(ctx context.Context, a account.Account) (api.AccountClosed, error) {
	out := api.AccountClosed{Account: accountOf(a)}
	ended, err := o.endSessions(ctx, a, anySession)
	if err != nil {
		return out, err
	}
	out.Sessions = len(ended)
	if out.Keys, err = o.revokeAll(ctx, a); err != nil {
		return out, err
	}
	if out.Tasks, err = o.cancelQueued(ctx, a); err != nil || o.Tasks == nil {
		return out, err
	}
	select {
	case <-ctx.Done():
		return out, ctx.Err()
	case <-time.After(lateTasks):
	}
	late, err := o.cancelQueued(ctx, a)
	out.Tasks += late
	return out, err
}

// lateTasks is for how long after the closing of an account tasks of it may still be accepted: by other nodes until they
// hear of it, by this one where a commit was under way.
const lateTasks = time.Second

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

// cancelQueued cancels the tasks of an account that wait and returns their number, and the first error: the others are
// canceled all the same.
func (o *Operator) cancelQueued(ctx context.Context, a account.Account) (n int, first error) {
	if o.Tasks == nil {
		return 0, nil
	}
	for _, mode := range []task.Mode{task.Live, task.Test} {
		q := store.ListQuery{Scope: task.Scope{Account: a.ID, Mode: mode}, State: task.Queued, Limit: store.MaxPage}
		for {
			page, err := o.Tasks.ListTasks(ctx, q)
			if err != nil {
				return n, errors.Join(first, err)
			}
			canceled, err := o.cancelAll(ctx, page.Tasks)
			if n += canceled; first == nil {
				first = err
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	return n, first
}

// cancelAll cancels tasks that wait and returns their number and an error of one that wasn't.
func (o *Operator) cancelAll(ctx context.Context, tasks []task.Task) (n int, _ error) {
	done, errs := make([]bool, len(tasks)), make([]error, len(tasks))
	free := make(chan struct{}, canceledAtOnce)
	var wg sync.WaitGroup
	for i, t := range tasks {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			done[i], errs[i] = o.cancel(ctx, t)
		})
	}
	wg.Wait()
	var failed error
	for i, err := range errs {
		if done[i] {
			n++
		}
		if err != nil {
			failed = err
		}
	}
	return n, failed
}

// cancel cancels a task that waits; one that ended and was swept meanwhile is none.
func (o *Operator) cancel(ctx context.Context, t task.Task) (bool, error) {
	if o.CancelFunc != nil {
		return o.CancelFunc(ctx, t.Scope, t.ID)
	}
	_, err := o.Tasks.RequestCancel(ctx, t.Scope, t.ID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func closedAccount() error {
	return fault.New(fault.InvalidRequest, "the account is closed: resume it first")
}
