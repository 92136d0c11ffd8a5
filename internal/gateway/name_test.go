package gateway_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"unitask/internal/gateway"
	"unitask/internal/task"
)

// TestNameInLog: a line names the task, and its caller's trace if there is one.
func TestNameInLog(t *testing.T) {
	for trace, want := range map[string]string{
		"": `"task_id":"task_1"}`,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": `"task_id":"task_1","trace_id":"0af7651916cd43dd8448eb211c80319c"}`,
	} {
		var out bytes.Buffer
		slog.New(slog.NewJSONHandler(&out, nil)).Info("a line", gateway.NameOf(&task.Task{ID: "task_1", Traceparent: trace}))
		if !strings.HasSuffix(out.String(), want+"\n") {
			t.Errorf("%q: %s", trace, out.String())
		}
	}
}
