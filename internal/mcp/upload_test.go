package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/mcp"
)

// TestUpload: a local file is sent by a tool if the program that serves it takes files, and one that isn't through when
// the call must end goes on in the next.
func TestUpload(t *testing.T) {
	there := int64(0)
	upload := func(ctx context.Context, path string, sent func(sent, all int64)) (api.Upload, error) {
		switch path {
		case "none":
			return api.Upload{}, fault.Invalid("path", "can't be sent: no such file")
		case "later":
			return api.Upload{}, errors.New("this service takes no files ahead of tasks")
		}
		for ; there < 100; there++ {
			sent(there, 100)
			select {
			case <-ctx.Done():
				return api.Upload{}, ctx.Err()
			case <-time.After(time.Second):
			}
		}
		return api.Upload{Artifact: "art_00000001", ContentType: "video/mp4", Bytes: 100}, nil
	}
	converse(t, newFake(t), mcp.Config{Upload: upload}, func(s *session) {
		for _, tt := range []struct{ arguments, want string }{
			{`{}`, "path is required: a file's path (INVALID_REQUEST)"},
			{`{"path":"none"}`, "path can't be sent: no such file (INVALID_REQUEST)"},
			{`{"path":"later"}`, "this service takes no files ahead of tasks"},
			{`{"path":"film.mp4"}`, "50 of 100 bytes were sent in 50 s\nhint: call file_upload again with the same path, which sends the rest"},
		} {
			if got := text(s.call("file_upload", tt.arguments)); !strings.HasPrefix(got, "ERROR\n"+tt.want) {
				t.Errorf("%s:\n%s\nwant %s", tt.arguments, got, tt.want)
			}
		}
		// The first byte of the rest is there once the second call begins, so that the last comes within its limit.
		there++
		if got, want := text(s.call("file_upload", `{"path":"film.mp4"}`)), `{"artifact":"art_00000001","content_type":"video/mp4","bytes":100,`; !strings.HasPrefix(got, want) {
			t.Errorf("the rest:\n%s\nwant %s", got, want)
		}
		s.heard.mu.Lock()
		defer s.heard.mu.Unlock()
		if n := len(s.heard.progress); n < 20 || !strings.Contains(s.heard.progress[n-1].Message, "of 100 B sent") {
			t.Errorf("%d notifications of progress", n)
		}
	})
	converse(t, newFake(t), mcp.Config{}, func(s *session) {
		if got := s.InitializeResult().Instructions; !strings.Contains(got, "unitask upload FILE") {
			t.Errorf("the instructions without the tool: %s", got)
		}
	})
}
