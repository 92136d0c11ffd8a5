package door_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"unitask/internal/door"
)

// clock is a time that tests set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func hash(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// TestUndelivered begins calls and their retries: a retry has the key of the call whose answer was lost.
func TestUndelivered(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	u := door.NewUndelivered(c.now)
	begin := func(key, body string, retry bool) *door.Attempt { return u.Begin(key, hash(body), retry) }

	lost, other := begin("key_a", "hello", false), begin("key_a", "hello", false)
	if lost.Key() == other.Key() || len(lost.Key()) < 20 {
		t.Errorf("two calls have the keys %q and %q", lost.Key(), other.Key())
	}
	other.End(false)
	other.End(true) // the first time counts
	if again := begin("key_a", "hello", true); again.Key() != other.Key() {
		t.Error("a retry joins the call that is under way, not the lost one")
	}
	if again := begin("key_a", "hello", true); again.Key() != lost.Key() {
		t.Error("a second retry doesn't join the other call")
	}
	for name, fresh := range map[string]*door.Attempt{
		"another key": begin("key_b", "hello", true), "another body": begin("key_a", "hello!", true), "no retry": begin("key_a", "hello", false),
	} {
		if fresh.Key() == lost.Key() || fresh.Key() == other.Key() {
			t.Errorf("%s joins", name)
		}
	}
}

// TestUndeliveredKept: a call whose failure was answered joins its retries for a minute, after any other call.
func TestUndeliveredKept(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	u := door.NewUndelivered(c.now)
	begin := func(retry bool) *door.Attempt { return u.Begin("key_a", hash("hello"), retry) }

	kept := begin(false)
	kept.Keep()
	kept.End(false)
	again := begin(true)
	if again.Key() != kept.Key() {
		t.Error("a retry doesn't join the call that was kept")
	}
	again.End(false)
	lost := begin(false)
	lost.End(false)
	if again := begin(true); again.Key() != lost.Key() {
		t.Error("a retry joins the call that was kept, not the lost one")
	}
	c.at = c.at.Add(2 * time.Minute)
	if again := begin(true); again.Key() != lost.Key() {
		t.Error("the lost call is forgotten with the one that was kept")
	}
	lost.End(true)
	begin(true).End(true)
	if again := begin(true); again.Key() == kept.Key() {
		t.Error("a call is kept for longer than a minute")
	}
	(*door.Attempt)(nil).Keep() // as with a key of the caller's own
}

func TestUndeliveredSettled(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	u := door.NewUndelivered(c.now)
	first := u.Begin("key_a", hash("hello"), false)
	first.End(true)
	second := u.Begin("key_a", hash("hello"), true)
	if second.Key() == first.Key() {
		t.Error("a retry joins a call whose answer was delivered")
	}
	second.End(false)
	c.at = c.at.Add(10 * time.Minute)
	third := u.Begin("key_a", hash("hello"), true)
	if third.Key() != second.Key() {
		t.Error("a retry within ten minutes doesn't join")
	}
	third.End(false)
	c.at = c.at.Add(10*time.Minute + time.Second)
	if late := u.Begin("key_a", hash("hello"), true); late.Key() == third.Key() {
		t.Error("a retry after ten minutes joins")
	}
	(*door.Attempt)(nil).End(false)
}

// TestUndeliveredBound has one key lose more answers than are remembered: others keep their room, and the key has it
// again later.
func TestUndeliveredBound(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	u := door.NewUndelivered(c.now)
	var last *door.Attempt
	for range 1<<11 + 1 {
		last = u.Begin("key_a", hash("many"), false)
		last.End(false)
	}
	joined := map[string]bool{}
	for range 1<<11 + 1 {
		joined[u.Begin("key_a", hash("many"), true).Key()] = true
	}
	if joined[last.Key()] {
		t.Error("more calls of a key are remembered than its share")
	}
	lost := u.Begin("key_b", hash("one"), false)
	lost.End(false)
	if u.Begin("key_b", hash("one"), true).Key() != lost.Key() {
		t.Error("another key's call isn't remembered")
	}
}

// TestUndeliveredRoomAgain has calls expire, which make room.
func TestUndeliveredRoomAgain(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	u := door.NewUndelivered(c.now)
	for range 1 << 11 {
		u.Begin("key_a", hash("many"), false).End(false)
	}
	c.at = c.at.Add(11 * time.Minute)
	lost := u.Begin("key_a", hash("new"), false)
	lost.End(false)
	if u.Begin("key_a", hash("new"), true).Key() != lost.Key() {
		t.Error("expired calls make no room")
	}
}
