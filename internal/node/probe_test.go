package node_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/config"
	"unitask/internal/node"
)

// TestProbeFeatures asks a server that takes some of the features, ignores one, refuses some and breaks at one.
func TestProbeFeatures(t *testing.T) {
	const said = `{"choices":[{"message":{"content":`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body := string(raw)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(body, "response_format"):
			_, _ = io.WriteString(w, said+`"{\"capital\":\"Stockholm\"}"}}]}`)
		case strings.Contains(body, "tools"):
			_, _ = io.WriteString(w, said+`null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get_capital","arguments":"{}"}}]}}]}`)
		case strings.Contains(body, "input_audio"):
			w.WriteHeader(http.StatusInternalServerError)
		case strings.Contains(body, "image_url"), strings.Contains(body, "file_data"):
			w.WriteHeader(http.StatusBadRequest)
		default:
			_, _ = io.WriteString(w, said+`"Stockholm."}}]}`)
		}
	}))
	defer srv.Close()
	found, err := node.ProbeFeatures(t.Context(), config.Supplier{Name: "own", Kind: "openai", BaseURL: srv.URL}, "m")
	if err != nil {
		t.Fatal(err)
	}
	const refused, without = "it refuses the request (status 400)", "it answers, but without it"
	want := []node.Ability{
		{Feature: "json_schema", Able: true, Known: true},
		{Feature: "json_object", Able: true, Known: true},
		{Feature: "images", Known: true, About: refused},
		{Feature: "audio", About: "status 500: the work could not be done by the chosen route"},
		{Feature: "documents", Known: true, About: refused},
		{Feature: "tools", Able: true, Known: true},
		{Feature: "reasoning", Known: true, About: without},
		{Feature: "web_search", Known: true, About: without},
	}
	if diff := cmp.Diff(want, found, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".About" }, cmp.Comparer(func(a, b string) bool {
		return a == b || strings.HasPrefix(a, "status 500: ") && strings.HasPrefix(b, "status 500: ")
	}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	srv.Close()
	if _, err := node.ProbeFeatures(t.Context(), config.Supplier{Name: "own", Kind: "openai", BaseURL: srv.URL}, "m"); err == nil || !strings.HasPrefix(err.Error(), "m doesn't chat: ") {
		t.Errorf("a server that is gone: %v", err)
	}
}
