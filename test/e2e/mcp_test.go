package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/task"
	"unitask/test/harness"
)

// toolAnswer is the output of a client of the protocol for a call.
type toolAnswer struct {
	IsError bool
	Content []struct{ Type, Text, Data, MimeType string }
	Meta    map[string]any `json:"_meta"`
}

// foreign runs a client of the protocol that starts unitask mcp, and decodes its output.
func (h *host) foreign(v any, program string, args ...string) {
	h.T.Helper()
	ctx, cancel := context.WithTimeout(h.T.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(h.Environ(), "UNITASK_BASE_URL="+h.Base, "UNITASK_API_KEY="+h.key, "NODE_NO_WARNINGS=1")
	cmd.Dir = h.Dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, v)
	}
	if err != nil {
		h.T.Fatalf("%s %q: %v\n%s%s", program, args, err, out, stderr.String())
	}
	if strings.Contains(string(out), h.key) || strings.Contains(stderr.String(), h.key) {
		h.T.Errorf("%q shows the key", args)
	}
}

// inspect runs the protocol's own inspector.
func (h *host) inspect(v any, limit string, args ...string) {
	h.T.Helper()
	given := []string{"--cli", harness.Binary(), "mcp", "--limit", limit}
	h.foreign(v, npmTool(h.T, "mcp-inspector"), append(given, args...)...)
}

func (h *host) inspectCall(limit, tool string, args ...string) toolAnswer {
	h.T.Helper()
	var a toolAnswer
	h.inspect(&a, limit, slices.Concat([]string{"--method", "tools/call", "--tool-name", tool, "--tool-arg"}, args)...)
	return a
}

// TestMCP uses the tools by the protocol's own inspector: it lists them, calls them, is refused, and
// gets a slow task handed over by its id, waits for it and cancels another.
func TestMCP(t *testing.T) {
	t.Parallel()
	h := newHost(t).start()
	var list struct{ Tools []struct{ Name string } }
	h.inspect(&list, "50s", "--method", "tools/list")
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	if want := len(directory.All()); len(list.Tools) != want+2 {
		t.Errorf("tools %+v, want %d capabilities and 2 for tasks", list.Tools, want)
	}

	hello := h.inspectCall("50s", "text_chat", `input={"prompt":"Say hello"}`)
	if hello.IsError || len(hello.Content) != 1 || !strings.Contains(hello.Content[0].Text, "sandbox") {
		t.Errorf("text_chat: %+v", hello)
	}
	fox := h.inspectCall("50s", "image_generate", `input={"prompt":"a fox"}`, `parameters={"size":"64x64"}`)
	if len(fox.Content) != 2 || fox.Content[0].MimeType != "image/png" || !strings.HasPrefix(fox.Content[0].Data, "iVBOR") {
		t.Errorf("image_generate: %+v", fox)
	}
	wrong := h.inspectCall("50s", "image_generate", `input={"prompt":5}`)
	if !wrong.IsError || !strings.HasPrefix(wrong.Content[0].Text, "input.prompt must be a string (INVALID_REQUEST)\nhint: ") {
		t.Errorf("wrong arguments: %+v", wrong)
	}

	h.inspectUpload()

	// A task of 6 seconds outlasts a call that may take 3, and is one task all the time.
	slow := h.inspectCall("3s", "image_generate", `input={"prompt":"@slow:6s a fox"}`)
	id, _ := slow.Meta["unitask/task_id"].(string)
	if id == "" || !strings.Contains(slow.Content[0].Text, id+" is still ") {
		t.Fatalf("a slow task: %+v", slow)
	}
	got := h.inspectCall("50s", "task_get", "id="+id)
	if got.IsError || len(got.Content) == 0 || got.Content[0].MimeType != "image/png" {
		t.Errorf("task_get: %+v", got)
	}

	id = strings.TrimSpace(h.must("run", "image.generate", "@slow:10m a fox", "--no-wait"))
	if stopped := h.inspectCall("50s", "task_cancel", "id="+id); stopped.IsError {
		t.Errorf("task_cancel: %+v", stopped)
	}
	var now api.Task
	for deadline := time.Now().Add(time.Minute); now.State != task.Canceled && time.Now().Before(deadline); {
		h.call("GET", api.PathTasks+"/"+id, "", map[string]string{api.HeaderPrefer: "wait=2"}, &now)
	}
	if now.State != task.Canceled {
		t.Errorf("the canceled task is %s", now.State)
	}
}

// inspectUpload sends a file that no argument could hold, and uses it.
func (h *host) inspectUpload() {
	h.T.Helper()
	if err := os.WriteFile(filepath.Join(h.Dir, "notes.txt"), bytes.Repeat([]byte("a fox and an owl\n"), 1<<17), 0o600); err != nil {
		h.T.Fatal(err)
	}
	var sent toolAnswer
	h.foreign(&sent, npmTool(h.T, "mcp-inspector"), "--cli", harness.Binary(), "mcp", "--files", h.Dir,
		"--method", "tools/call", "--tool-name", "file_upload", "--tool-arg", "path=notes.txt")
	var file struct{ Artifact string }
	if sent.IsError || len(sent.Content) != 1 || json.Unmarshal([]byte(sent.Content[0].Text), &file) != nil || file.Artifact == "" {
		h.T.Fatalf("file_upload: %+v", sent)
	}
	input := `input={"messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"document","document":{"artifact":"` + file.Artifact + `"}}]}]}`
	if read := h.inspectCall("50s", "text_chat", input); read.IsError {
		h.T.Errorf("a chat about the file: %+v", read)
	}
}

// TestMCPProgress hears of a slow task by the protocol's own library, whose timeout starts anew at
// each notification.
func TestMCPProgress(t *testing.T) {
	t.Parallel()
	h := newHost(t).start()
	modules := filepath.Dir(filepath.Dir(npmTool(t, "mcp-inspector")))
	script, err := filepath.Abs(filepath.Join("testdata", "mcp_progress.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Progress []struct {
			Progress, Total float64
			Message         string
		}
		Answer toolAnswer
	}
	h.foreign(&got, need(t, "node"), script, modules, harness.Binary(), "mcp")
	last := 0.0
	for _, p := range got.Progress {
		if p.Progress <= last || p.Progress > p.Total || p.Message == "" {
			t.Errorf("progress %+v after %v", p, last)
		}
		last = p.Progress
	}
	if len(got.Progress) < 2 || got.Answer.IsError || len(got.Answer.Content) == 0 {
		t.Errorf("%d notifications, answer %+v", len(got.Progress), got.Answer)
	}
}
