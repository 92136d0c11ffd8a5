package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// TestLineOfABreak: on a terminal the line of the wait makes room for a result, and is there from a break of it until it
// comes again.
func TestLineOfABreak(t *testing.T) { synctest.Test(t, testLineOfABreak) }

func testLineOfABreak(t *testing.T) {
	var screen strings.Builder
	term := &terminal{err: &screen, errTTY: true, width: func() int { return 80 }}
	p := startProgress(term, "text.chat")
	drawn := func() bool {
		time.Sleep(3 * frameTime)
		term.screen.Lock()
		defer term.screen.Unlock()
		return term.drawn
	}
	broken := 0
	text := func() { p.hush(func() { broken++ }) }
	lost := client.Retry{Err: errors.New("lost")}
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"before the text", func() {}, true},
		{"beside the text", text, false},
		{"after one unanswered read", func() { p.retry(lost) }, false},
		{"after a second one", func() { p.retry(lost) }, true},
		{"beside the text that comes again", text, false},
		{"after a request that broke", func() { p.retry(client.Retry{Err: lost.Err, Try: 2, Tries: 6}) }, true},
	} {
		if step.do(); drawn() != step.want {
			t.Errorf("the line is there %s: %t", step.name, !step.want)
		}
	}
	p.stop() // no line is drawn any more
	if broken != 2 || strings.Count(screen.String(), "\nlost; trying again")+strings.Count(screen.String(), "Klost; trying again") != 2 {
		t.Errorf("%d breaks, %q", broken, screen.String())
	}
}
