package console_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"unitask/internal/account"
	"unitask/internal/task"
)

// TestAccountNamedLikeAll: a member of an account with the name that stands for all accounts sees the own tasks alone.
func TestAccountNamedLikeAll(t *testing.T) {
	w := newWorld(t)
	named := account.Account{ID: task.NewID(task.PrefixAccount, w.now()), Name: "*", CreatedAt: w.now()}
	if err := w.store.PutAccount(t.Context(), named); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"member", "admin"} {
		star, other := w.member("*", role), w.member("acme", "member")
		own, foreign := star.run(`{"capability":"text.chat","input":{"prompt":"hello"}}`).ID, other.run(`{"capability":"text.chat","input":{"prompt":"hello"}}`).ID
		for _, query := range []string{"", "?account=*", "?account=" + named.ID, "?mode=test", "?state=succeeded&account=*"} {
			if got := star.listed(query); !slices.Contains(got, own) || slices.Contains(got, foreign) {
				t.Errorf("%s %q lists %v", role, query, got)
			}
		}
		for _, query := range []string{"?format=csv", "?format=jsonl", "?format=csv&account=*", "?format=jsonl&mode=test&account=*"} {
			got := star.get("/tasks/export" + query)
			if got.StatusCode != http.StatusOK || !strings.Contains(got.body, own) || strings.Contains(got.body, foreign) {
				t.Errorf("%s exports %q: %d %s", role, query, got.StatusCode, got.body)
			}
		}
		if got := other.get("/tasks?account=*"); got.StatusCode != http.StatusNotFound {
			t.Errorf("another account's member: %d", got.StatusCode)
		}
	}
}
