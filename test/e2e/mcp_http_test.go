package e2e_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"unitask/internal/catalog"
)

// remote is the output of a client of the protocol over HTTP.
type remote struct {
	Tools    []string
	Answer   toolAnswer
	Progress int
	Resource string
	Error    string
}

func (h *host) overHTTP(key, tool, arguments string, more ...string) remote {
	h.T.Helper()
	modules := filepath.Dir(filepath.Dir(npmTool(h.T, "mcp-inspector")))
	script, err := filepath.Abs(filepath.Join("testdata", "mcp_http.mjs"))
	if err != nil {
		h.T.Fatal(err)
	}
	var got remote
	h.foreign(&got, need(h.T, "node"), slices.Concat([]string{script, modules, h.Base + "/mcp", key, tool, arguments}, more)...)
	return got
}

// inspectHTTP runs the protocol's own inspector on the server's URL.
func (h *host) inspectHTTP(v any, args ...string) {
	h.T.Helper()
	given := []string{"--cli", h.Base + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + h.key}
	h.foreign(v, npmTool(h.T, "mcp-inspector"), append(given, args...)...)
}

// TestMCPOverHTTP uses the tools by the protocol's own library, by its URL and a header: with a key, with one of a scope,
// with another account's and with a wrong one; and by the protocol's own inspector.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Env = append(h.Env, "UNITASK_MCP_HTTP=true")
	h.start()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Tools []struct{ Name string } }
	if h.inspectHTTP(&list, "--method", "tools/list"); len(list.Tools) != len(directory.All())+2 {
		t.Errorf("the inspector's tools: %+v", list)
	}
	var inspected toolAnswer
	h.inspectHTTP(&inspected, "--method", "tools/call", "--tool-name", "text_chat", "--tool-arg", `input={"prompt":"Say hello"}`)
	if inspected.IsError || len(inspected.Content) != 1 || !strings.Contains(inspected.Content[0].Text, "sandbox") {
		t.Errorf("the inspector's call: %+v", inspected)
	}
	hello := h.overHTTP(h.key, "text_chat", `{"input":{"prompt":"Say hello"}}`)
	if hello.Error != "" || len(hello.Tools) != len(directory.All())+2 || hello.Answer.IsError || !strings.Contains(hello.Answer.Content[0].Text, "sandbox") {
		t.Errorf("text_chat: %+v", hello)
	}
	id, _ := hello.Answer.Meta["unitask/task_id"].(string)
	fox := h.overHTTP(h.key, "image_generate", `{"input":{"prompt":"@slow:6s a fox"},"parameters":{"size":"64x64"}}`, "unitask://tasks/"+id)
	if fox.Error != "" || fox.Progress < 1 || !strings.HasPrefix(fox.Answer.Content[0].Data, "iVBOR") || !strings.Contains(fox.Resource, `"id":"`+id+`"`) {
		t.Errorf("image_generate: %+v", fox)
	}
	scoped := strings.TrimSpace(h.must("keys", "create", "--name", "pictures", "--mode", "test", "--scope", "image.*", "--jq", ".key"))
	if got := h.overHTTP(scoped, "text_chat", `{"input":{"prompt":"Say hello"}}`); !got.Answer.IsError && got.Error == "" || slices.Contains(got.Tools, "text_chat") || !slices.Contains(got.Tools, "image_edit") {
		t.Errorf("outside the scope: %+v", got)
	}
	foreign := strings.TrimSpace(h.must("keys", "create", "--name", "another", "--mode", "test", "--account", "other", "--jq", ".key"))
	if got := h.overHTTP(foreign, "task_get", `{"id":"`+id+`"}`); !got.Answer.IsError || !strings.Contains(got.Answer.Content[0].Text, "NOT_FOUND") {
		t.Errorf("another account's task: %+v", got)
	}
	if got := h.overHTTP(h.key+"x", "text_chat", `{}`); !strings.Contains(got.Error, "401") && !strings.Contains(got.Error, "UNAUTHENTICATED") {
		t.Errorf("a wrong key: %+v", got)
	}
}
