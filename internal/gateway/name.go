package gateway

import (
	"log/slog"
	"strings"

	"unitask/internal/task"
)

// nameOf returns what a line of the log calls a task: its id and, if its request told of one, that of its caller's trace.
func nameOf(t *task.Task) slog.Attr {
	id := slog.String("task_id", t.ID)
	_, rest, traced := strings.Cut(t.Traceparent, "-")
	if !traced {
		return id
	}
	trace, _, _ := strings.Cut(rest, "-")
	return slog.Attr{Value: slog.GroupValue(id, slog.String("trace_id", trace))} // without a name it is no group of its own
}
