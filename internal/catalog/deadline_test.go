package catalog_test

import (
	"testing"
	"time"

	"unitask/internal/catalog"
)

func TestWithDeadlines(t *testing.T) {
	before, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	after, err := before.WithDeadlines(map[catalog.Name]time.Duration{"text.chat": time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range before.All() {
		want := old.Deadline
		if old.Name == "text.chat" {
			want = time.Second
		}
		got, ok := after.Get(old.Name)
		if !ok || got.Deadline != want || old.Deadline == time.Second {
			t.Errorf("%s: deadline %v, want %v, and %v before", old.Name, got.Deadline, want, old.Deadline)
		}
	}
	if _, err := before.WithDeadlines(map[catalog.Name]time.Duration{"text.chad": time.Second}); err == nil {
		t.Error("a deadline for nothing is taken")
	}
}
