package operator

import (
	"context"
	"slices"
	"strings"

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

// FindRequests returns the records of a request by its id, or of a task's requests by the task's, oldest first, from the
// logs of all nodes; NOT_FOUND without one.
func (o *Operator) FindRequests(ctx context.Context, id string) (api.RequestList, error) {
	list, err := o.findRequests(ctx, "", id)
	if err == nil && len(list.Data) == 0 {
		err = unknownRequest(strings.Join(list.Incomplete, ", "))
	}
	return list, err
}

// findRequests finds those of an account's id, of all accounts for "". An empty list is no error.
func (o *Operator) findRequests(ctx context.Context, owner, id string) (list api.RequestList, err error) {
	one := task.ValidID(task.PrefixRequest, id)
	if !one && !task.ValidID(task.PrefixTask, id) {
		return list, fault.Invalid("id", "must be that of a request (req_…) or a task (task_…)")
	}
	var found []requestlog.Entry
	if o.Requests != nil {
		if found, err = o.Requests.Find(ctx, id); err != nil {
			return list, err
		}
	}
	if whole := one && len(found) > 0; o.AskFunc != nil && !whole { // one node answered a request
		var more []requestlog.Entry
		more, list.Incomplete = o.AskFunc(ctx, id, one)
		found = append(found, more...)
		slices.SortStableFunc(found, func(a, b requestlog.Entry) int { return a.At.Compare(b.At) })
	}
	list.Data = make([]api.RequestRecord, 0, len(found))
	for _, e := range found {
		if owner == "" || e.Account == owner {
			list.Data = append(list.Data, api.RequestRecord{
				ID: e.ID, At: api.Timestamp{Time: e.At}, Client: e.Client, KeyID: e.KeyID, Account: e.Account, TaskID: e.TaskID,
				Method: e.Method, Route: e.Route, Status: e.Status, Code: e.Code, DurationMS: api.Milliseconds(e.Took),
			})
		}
	}
	return list, nil
}

// Log returns the requests and ends of tasks since a cursor, from the node that is asked; without a place of that node in
// the cursor, it begins now.
func (o *Operator) Log(_ context.Context, cursor string) (api.LogPage, error) {
	if o.Tail == nil {
		return api.LogPage{}, fault.New(fault.InvalidRequest, "only a running server has requests to follow")
	}
	page, err := o.Tail.Since(cursor)
	if err != nil {
		err = fault.Invalid("cursor", "is not one that was returned")
	}
	return page, err
}

// unknownRequest is that no log has an id; silent are the nodes that weren't heard, "" if all were.
func unknownRequest(silent string) error {
	message := "the request log has nothing of this id: it is unknown, or too old"
	if silent != "" {
		message = "the request logs of the nodes that answered have nothing of this id; no answer came from " + silent
	}
	return fault.New(fault.NotFound, message)
}
