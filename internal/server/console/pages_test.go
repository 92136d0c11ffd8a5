package console_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func decode[T any](t *testing.T, a answer) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("status %d, body %q: %v", a.StatusCode, a.body, err)
	}
	return out
}

// pagesOf are the pages of each role; those of operators come last.
var (
	memberPages   = []string{"/", "/keys", "/keys/new", "/tasks", "/usage", "/lookup"}
	operatorPages = []string{"/suppliers", "/accounts"}
)

func TestPages(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "operator")
	for _, path := range append(memberPages, operatorPages...) {
		got := b.get(path)
		if got.StatusCode != http.StatusOK || !strings.Contains(got.body, "</html>") {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	done := b.run(`{"capability":"image.generate","input":{"prompt":"a red fox"},"parameters":{"size":"64x64"}}`)
	page := b.get("/tasks/" + done.ID)
	if page.StatusCode != 200 || !strings.Contains(page.body, `<img src="/artifacts/`) {
		t.Errorf("%d %s", page.StatusCode, page.body)
	}
	t.Log(w.log.String())
}
