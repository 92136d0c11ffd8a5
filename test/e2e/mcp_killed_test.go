package e2e_test

import (
	"bufio"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

// conversation is a client's messages that begin and call a slow tool, one a line.
const conversation = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"image_generate","arguments":{"input":{"prompt":"@slow:3s a fox"}},"_meta":{"progressToken":1}}}
`

// TestMCPKilled kills the server of the tools once its task is accepted: the journal finishes that
// task, and there is no other.
func TestMCPKilled(t *testing.T) {
	t.Parallel()
	h := newHost(t).start()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Binary(), "mcp")
	cmd.Env = append(h.Environ(), "UNITASK_BASE_URL="+h.Base, "UNITASK_API_KEY="+h.key)
	cmd.Dir = h.Dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(conversation)); err != nil {
		t.Fatal(err)
	}
	accepted := false
	for lines := bufio.NewScanner(out); !accepted && lines.Scan(); {
		accepted = strings.Contains(lines.Text(), `"notifications/progress"`)
	}
	if err := cmd.Process.Kill(); err != nil || !accepted {
		t.Fatalf("accepted: %v, kill: %v", accepted, err)
	}
	_ = cmd.Wait()

	if o := h.client("tasks", "resume", "-o", "resumed.*"); o.code != 0 || !strings.Contains(o.stderr, "resumed.png") {
		t.Errorf("tasks resume: %+v", o)
	}
	var list api.TaskList
	h.call("GET", api.PathTasks, "", nil, &list)
	if len(list.Data) != 1 || list.Data[0].State != task.Succeeded {
		t.Errorf("tasks: %+v, want one that succeeded", list.Data)
	}
}
