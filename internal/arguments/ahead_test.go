package arguments

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/test/fixture"
)

// TestAhead: a large file is sent once the rest of the request is right, and stands in the request of a service that
// takes none ahead.
func TestAhead(t *testing.T) {
	write := func(name, begin string) string {
		path := filepath.Join(t.TempDir(), name)
		return fixture.Must(path, os.WriteFile(path, []byte(begin+strings.Repeat(" ", 1<<20)), 0o600))(t)
	}
	picture, notes := write("a.png", "\x89PNG\r\n\x1a\n"), write("a.md", "# Notes")
	refused := errors.New("refused")
	for _, tt := range []struct {
		name       string
		capability catalog.Name
		words      []string
		id         string
		check      error
		sent       int
		input      string // a part of it, "" for an error
	}{
		{"complete", "image.edit", []string{"x", "images=@" + picture}, "art_1", nil, 1, `{"images":[{"artifact":"art_1"}],"prompt":"x"}`},
		{"two", "image.edit", []string{"x", "images=@" + picture, "images=@" + picture}, "art_1", nil, 2, `[{"artifact":"art_1"},{"artifact":"art_1"}]`},
		{"without its prompt", "image.edit", []string{"images=@" + picture}, "art_1", nil, 0, ""},
		{"refused before", "image.edit", []string{"x", "images=@" + picture}, "art_1", refused, 0, ""},
		{"taken within the request", "image.edit", []string{"x", "images=@" + picture}, "", nil, 1, `{"images":[{"content_type":"image/png","data":"iVBO`},
		{"beside a prompt", "text.chat", []string{"x", "@" + notes}, "art_1", nil, 1, `{"document":{"artifact":"art_1"},"type":"document"}`},
		{"beside a prompt, within the request", "text.chat", []string{"x", "@" + notes}, "", nil, 1, `{"document":{"content_type":"text/markdown","data":"IyBO`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent, checked := 0, ""
			read := &Reader{
				AheadFunc: func(*os.File, int64, string) (string, error) { sent++; return tt.id, nil },
				CheckFunc: func(req api.CreateRequest) error {
					checked = string(fixture.Must(json.Marshal(req))(t))
					return tt.check
				},
			}
			req, err := Fit(mustEntry(t, tt.capability), tt.words, read)
			if sent != tt.sent || (err == nil) != (tt.input != "") || !strings.Contains(string(req.Input), tt.input) {
				t.Errorf("%d sent, %v, %.300s; want %d and %s", sent, err, req.Input, tt.sent, tt.input)
			}
			if tt.sent > 0 && strings.Count(checked, `{"url":"https://example.com/"}`) != tt.sent {
				t.Errorf("checked %.300s", checked)
			}
		})
	}
}
