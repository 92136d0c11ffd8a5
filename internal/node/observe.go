package node

import (
	"strings"

	"unitask/internal/api"
	"unitask/internal/gateway"
	"unitask/internal/hours"
	"unitask/internal/metrics"
	"unitask/internal/server"
	"unitask/internal/tail"
	"unitask/internal/task"
)

// observers are told of the same ends.
type observers struct {
	metrics *metrics.Metrics
	hours   *hours.Counter
	tail    *tail.Tail
}

var _ gateway.Observer = observers{}

// TaskEnded implements gateway.Observer.
func (o observers) TaskEnded(t *task.Task) {
	o.metrics.TaskEnded(t)
	o.hours.TaskEnded(t)
	if !o.tail.Followed() {
		return
	}
	end := api.TaskEnd{
		ID: t.ID, Account: t.Scope.Account, KeyID: t.KeyID, Capability: t.Capability, Mode: t.Scope.Mode, State: t.State,
		Attempts: len(t.Attempts), Cost: t.Cost.String(), DurationMS: api.Milliseconds(t.UpdatedAt.Sub(t.CreatedAt)),
	}
	if t.Failure != nil {
		end.Code = t.Failure.Code
	}
	if end.Attempts > 0 {
		end.Supplier = t.Attempts[end.Attempts-1].Supplier
	}
	o.tail.Add(api.LogEvent{At: api.Timestamp{Time: t.UpdatedAt}, Task: &end})
}

// AttemptEnded implements gateway.Observer.
func (o observers) AttemptEnded(t *task.Task, a *task.Attempt) {
	o.metrics.AttemptEnded(t, a)
	o.hours.AttemptEnded(t, a)
}

// tellRequest has the followers see an answered request, unless it is their own.
func tellRequest(latest *tail.Tail, r server.Request) {
	if !latest.Followed() || strings.HasSuffix(r.Route, api.PathAdminLog) {
		return
	}
	latest.Add(api.LogEvent{At: api.Timestamp{Time: r.At.Add(r.Took)}, Request: &api.RequestRecord{
		ID: r.ID, At: api.Timestamp{Time: r.At}, Client: r.Client, KeyID: r.KeyID, Account: r.Account, TaskID: r.TaskID, Method: r.Method, Route: r.Route,
		Status: r.Status, Code: r.Code, DurationMS: api.Milliseconds(r.Took),
	}})
}
