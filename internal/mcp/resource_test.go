package mcp_test

import (
	"encoding/json"
	"strings"
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
		if err != nil || len(templates.ResourceTemplates) != 2 || templates.ResourceTemplates[0].URITemplate != "unitask://tasks/{id}" {
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

// TestFileResource: a file of a task's result is a resource as long as it fits into an answer.
func TestFileResource(t *testing.T) {
	f := newFake(t)
	small, large := f.artifact("image/png", 3), f.artifact("image/png", 640<<10+1)
	f.output.Images = []api.Artifact{small, large}
	converse(t, f, mcp.Config{}, func(s *session) {
		s.call("image_generate", `{"input":{"prompt":"a fox"}}`)
		const files = "unitask://tasks/task_1/artifacts/"
		got, err := s.ReadResource(s.t.Context(), &sdk.ReadResourceParams{URI: files + small.ID})
		if err != nil || len(got.Contents) != 1 || len(got.Contents[0].Blob) != 3 || got.Contents[0].MIMEType != "image/png" {
			t.Errorf("the file: %+v, %v", got, err)
		}
		for uri, want := range map[string]string{
			files + large.ID: "too large", files + "art_9": "not found", "unitask://tasks/task_2/artifacts/" + small.ID: "not found", files: "not found",
		} {
			if _, err := s.ReadResource(s.t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", uri, err, want)
			}
		}
	})
	converse(t, f, mcp.Config{Room: func(int64) bool { return false }}, func(s *session) {
		if _, err := s.ReadResource(s.t.Context(), &sdk.ReadResourceParams{URI: "unitask://tasks/task_1/artifacts/" + small.ID}); err == nil {
			t.Error("a file is read without room")
		}
	})
}
