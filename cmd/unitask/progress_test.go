package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"unitask/internal/client"
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

// TestPausesOfASending: each break of a file's sending has its line, and one that lasts has no second one.
func TestPausesOfASending(t *testing.T) {
	var notes strings.Builder
	p := startProgress(&terminal{err: &notes}, "")
	defer p.stop()
	lost := client.Retry{Err: errors.New("lost")}
	for range 2 {
		p.sent(1, 2)
		p.retry(lost)
		p.retry(lost)
	}
	if want := "sending 2 B\nlost; trying again\nlost; trying again\n"; notes.String() != want {
		t.Errorf("%q, want %q", notes.String(), want)
	}
}
