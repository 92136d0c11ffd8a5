package gateway

import (
	"context"
	"log/slog"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// forgotten is how far the erasure that a lower Keep began has come in an account. It is in memory alone: after a start
// the first pass goes through all again.
type forgotten struct {
	by    account.Forget
	until time.Time // tasks created before have lost their requests
}

// clockSkew is how much the time in a task's id may differ from that of its record, which an engine's clock tells.
const clockSkew = time.Minute

// lateCopy is how long after its task a copy may be stored at the very most: what is due is looked through once more
// after that, and only then is an erasure over.
const lateCopy = 5 * time.Minute

// forget erases the requests that accounts keep for a shorter time than was promised when their tasks came.
func (g *Gateway) forget(ctx context.Context) {
	accounts, err := g.accounts.ListAccounts(ctx)
	for _, a := range accounts {
		if err == nil && a.Forgets != nil {
			err = g.forgetOf(ctx, a)
		}
	}
	if err != nil && ctx.Err() == nil {
		g.log.Error("erasing kept requests failed", slog.Any("error", err))
	}
}

// forgetOf erases as much as is due in an account, and notes when that was all.
func (g *Gateway) forgetOf(ctx context.Context, a account.Account) error {
	f, now := *a.Forgets, g.clock.Past()
	until := f.Until(now)
	var from time.Time
	if last := g.forgotten[a.ID]; last.by == f {
		from = last.until.Add(-lateCopy)
	}
	for _, mode := range []task.Mode{task.Live, task.Test} {
		if err := g.eraseCopies(ctx, task.Scope{Account: a.ID, Mode: mode}, from, until); err != nil {
			return err
		}
	}
	if !f.Done(now.Add(-lateCopy)) {
		g.forgotten[a.ID] = forgotten{f, until}
		return nil
	}
	delete(g.forgotten, a.ID)
	_, err := g.accounts.UpdateAccount(ctx, a.ID, func(a *account.Account) error {
		if a.Forgets != nil && *a.Forgets == f {
			a.Forgets = nil
		}
		return nil
	})
	return err
}

// eraseCopies deletes the copies of requests of a scope's tasks that were created in this time.
func (g *Gateway) eraseCopies(ctx context.Context, s task.Scope, from, until time.Time) error {
	q := store.ListQuery{Scope: s, Limit: store.MaxPage, Cursor: task.NewID(task.PrefixTask, until.Add(clockSkew))}
	for q.Cursor != "" && task.IDTime(q.Cursor).After(from.Add(-clockSkew)) {
		page, err := g.store.ListTasks(ctx, q)
		if err != nil {
			return err
		}
		for _, t := range page.Tasks {
			if t.InputUntil == nil || !t.CreatedAt.Before(until) {
				continue
			}
			if err := g.artifacts.Delete(ctx, keptID(t.ID)); err != nil {
				return err
			}
		}
		q.Cursor = page.Next
	}
	return nil
}
