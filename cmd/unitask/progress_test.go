package main

import (
	"io"
	"testing"

	"unitask/internal/store"
)

// TestProgressOfACopy: a copy that goes on says how many tasks it added.
func TestProgressOfACopy(t *testing.T) {
	for _, c := range []struct {
		resumed bool
		phase   store.Phase
		want    string
	}{
		{false, store.PhaseCopy, "8000 tasks"},
		{true, store.PhaseCopy, "8000 more tasks"},
		{true, store.PhaseVerify, "8000 tasks"},
	} {
		p := startProgress(&terminal{err: io.Discard}, "")
		p.resumed = c.resumed
		p.work(c.phase, 8000)
		p.stop()
		if p.detail != c.want {
			t.Errorf("%s, resumed %t: %q, want %q", c.phase, c.resumed, p.detail, c.want)
		}
	}
}
