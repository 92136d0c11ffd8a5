package operator

import (
	"context"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/store"
	"unitask/internal/task"
)

// ListTasks returns a page of an account's tasks in one mode, or of all accounts', without their inputs and outputs; q
// names the account by its id. next is the cursor to continue at, "" at the end.
func (o *Operator) ListTasks(ctx context.Context, q store.ListQuery) (tasks []api.AdminTask, next string, err error) {
	names := map[string]string{}
	if q.Everywhere {
		names, err = o.accountNames(ctx)
	} else {
		var owner account.Account
		owner, err = o.find(ctx, q.Scope.Account)
		names[q.Scope.Account] = owner.Name
	}
	if err != nil || o.Tasks == nil {
		return nil, "", err
	}
	found, err := o.Tasks.ListTasks(ctx, q)
	for _, t := range found.Tasks {
		tasks = append(tasks, api.AdminTaskOf(t, names[t.Scope.Account]))
	}
	return tasks, found.Next, err
}

// KeyName names a key, or a member's stand-in for one, and its account.
type KeyName struct{ Name, Account string }

// KeyNames returns the names of all keys, and of members in the console, by the ids that their tasks have.
func (o *Operator) KeyNames(ctx context.Context) (map[string]KeyName, error) {
	keys, err := o.Store.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	accounts, err := o.Store.ListAccounts(ctx)
	if err != nil {
		return nil, err
	}
	names, owners := make(map[string]KeyName, len(keys)), make(map[string]string, len(accounts))
	for _, a := range accounts {
		owners[a.ID] = a.Name
		for _, m := range a.Members {
			for _, mode := range []task.Mode{task.Live, task.Test} {
				names[MemberKey(a.ID, m.Name, mode)] = KeyName{m.Name + " in the console", a.Name}
			}
		}
	}
	for _, k := range keys {
		names[k.ID] = KeyName{k.Name, owners[k.Account]}
	}
	names[api.BySession] = KeyName{Name: "the local client, and members who left"}
	return names, nil
}

// SumsQuery selects sums of usage; empty members select all.
type SumsQuery struct {
	Account     string       // its id
	First, Last account.Date // of the tasks' ends, both included
	Mode        task.Mode
	Capability  string
	KeyID       string
	Metadata    []string // as in store.UsageQuery
}

// EachSum calls visit with the sums of usage, until it returns false, in no order. visit must not wait: the store is being
// read.
func (o *Operator) EachSum(ctx context.Context, q SumsQuery, visit func(store.UsageKey, store.Usage) bool) error {
	days := store.UsageQuery{Owner: q.Account, First: q.First, Last: q.Last, Metadata: q.Metadata}
	return o.Store.EachUsage(ctx, days, func(k store.UsageKey, u store.Usage) bool {
		if q.Mode != "" && q.Mode != k.Mode || q.Capability != "" && q.Capability != k.Capability || q.KeyID != "" && q.KeyID != k.KeyID {
			return true
		}
		return visit(k, u)
	})
}
