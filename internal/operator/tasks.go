package operator

import (
	"context"

	"unitask/internal/api"
	"unitask/internal/store"
)

// ListTasks returns a page of an account's tasks in one mode, newest first, without their inputs and outputs; q names
// the account by its id. next is the cursor to continue at, "" at the end.
func (o *Operator) ListTasks(ctx context.Context, q store.ListQuery) (tasks []api.AdminTask, next string, err error) {
	owner, err := o.find(ctx, q.Scope.Account)
	if err != nil || o.Tasks == nil {
		return nil, "", err
	}
	found, err := o.Tasks.ListTasks(ctx, q)
	for _, t := range found.Tasks {
		tasks = append(tasks, api.AdminTaskOf(t, owner.Name))
	}
	return tasks, found.Next, err
}
