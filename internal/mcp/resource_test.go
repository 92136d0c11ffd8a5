package mcp_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/mcp"
)

// TestTaskResource: a task that a call made is a resource, and another id isn't one.
func TestTaskResource(t *testing.T) {
	f := newFake(t)
	f.output.Text = new("a result")
	converse(t, f, mcp.Config{}, func(s *session) {
		s.call("text_chat", `{"input":{"prompt":"hello"}}`)
		templates, err := s.ListResourceTemplates(s.t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "unitask://tasks/{id}" {
			t.Errorf("templates: %+v, %v", templates, err)
		}
		got, err := s.ReadResource(s.t.Context(), &sdk.ReadResourceParams{URI: "unitask://tasks/task_1"})
		if err != nil {
			t.Fatal(err)
		}
		var now api.Task
		if err := json.Unmarshal([]byte(got.Contents[0].Text), &now); err != nil || now.ID != "task_1" || *now.Output.Text != "a result" {
			t.Errorf("the resource: %s, %v", got.Contents[0].Text, err)
		}
		for _, uri := range []string{"unitask://tasks/task_2", "unitask://tasks/", "unitask://keys/task_1", "file:///etc/hostname"} {
			if _, err := s.ReadResource(s.t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s is read", uri)
			}
		}
	})
}
