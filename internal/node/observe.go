package node

import (
	"unitask/internal/gateway"
	"unitask/internal/hours"
	"unitask/internal/metrics"
	"unitask/internal/task"
)

// observers are told of the same ends.
type observers struct {
	metrics *metrics.Metrics
	hours   *hours.Counter
}

var _ gateway.Observer = observers{}

// TaskEnded implements gateway.Observer.
func (o observers) TaskEnded(t *task.Task) {
	o.metrics.TaskEnded(t)
	o.hours.TaskEnded(t)
}

// AttemptEnded implements gateway.Observer.
func (o observers) AttemptEnded(t *task.Task, a *task.Attempt) {
	o.metrics.AttemptEnded(t, a)
	o.hours.AttemptEnded(t, a)
}
