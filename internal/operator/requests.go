package operator

import (
	"context"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/requestlog"
	"unitask/internal/task"
)

// Requests finds answered requests: a log under way, or its folder.
type Requests interface {
	// Find returns those that a request's or a task's id stands for, oldest first.
	Find(ctx context.Context, id string) ([]requestlog.Entry, error)
}

// FindRequests returns the records of a request by its id, or of a task's requests by the task's, oldest first;
// NOT_FOUND without one.
func (o *Operator) FindRequests(ctx context.Context, id string) ([]api.RequestRecord, error) {
	return o.findRequests(ctx, "", id)
}

// findRequests finds those of an account's id, of all accounts for "".
func (o *Operator) findRequests(ctx context.Context, owner, id string) ([]api.RequestRecord, error) {
	if !task.ValidID(task.PrefixRequest, id) && !task.ValidID(task.PrefixTask, id) {
		return nil, fault.Invalid("id", "must be that of a request (req_…) or a task (task_…)")
	}
	var found []requestlog.Entry
	if o.Requests != nil {
		var err error
		if found, err = o.Requests.Find(ctx, id); err != nil {
			return nil, err
		}
	}
	out := make([]api.RequestRecord, 0, len(found))
	for _, e := range found {
		if owner == "" || e.Account == owner {
			out = append(out, api.RequestRecord{
				ID: e.ID, At: api.Timestamp{Time: e.At}, Client: e.Client, KeyID: e.KeyID, Account: e.Account, TaskID: e.TaskID,
				Method: e.Method, Route: e.Route, Status: e.Status, Code: e.Code, DurationMS: float64(e.Took.Microseconds()) / 1000,
			})
		}
	}
	if len(out) == 0 {
		return nil, fault.New(fault.NotFound, "the request log has nothing of this id: it is unknown, or too old")
	}
	return out, nil
}
