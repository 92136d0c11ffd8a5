package artifact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/task"
)

// mustExpire lets a stored object have expired at the start, by a change of its file.
func mustExpire(t *testing.T, dir, id string) {
	t.Helper()
	path := pathOf(dir, id) + ".json"
	raw, err := os.ReadFile(path)
	var m artifact.Meta
	if err := errors.Join(err, json.Unmarshal(raw, &m)); err != nil {
		t.Fatal(err)
	}
	m.ExpiresAt = start
	if raw, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, path, string(raw))
	mustTouch(t, path, start)
}

func mustSweep(t *testing.T, s artifact.Store, after time.Duration, want int) {
	t.Helper()
	if got, err := s.Sweep(t.Context(), start.Add(after), 1000); got != want || err != nil {
		t.Errorf("after %v: %d deleted, %v; want %d", after, got, err, want)
	}
}

// TestSweepLeavesTheOthersAlone: sweeps look at due objects alone for a day, and then at all.
func TestSweepLeavesTheOthersAlone(t *testing.T) {
	s, dir := newStore(t)
	var kept []string
	for range 10 {
		r := request(newID(), png1)
		r.TTL = 7 * 24 * time.Hour
		kept = append(kept, mustPut(t, s, r).ID)
	}
	known := mustPut(t, s, request(newID(), png1)).ID // before the walk
	mustSweep(t, s, 0, 0)
	later := mustPut(t, s, request(newID(), png1)).ID // and after it
	for _, id := range kept {
		mustExpire(t, dir, id) // whoever looks would delete it
	}
	mustSweep(t, s, time.Hour-time.Second, 0)
	mustHold(t, dir, append(kept, known, later)...)
	mustSweep(t, s, time.Hour, 2)
	mustSweep(t, s, 23*time.Hour, 0)
	mustHold(t, dir, kept...)
	mustSweep(t, s, 24*time.Hour, len(kept))
	mustHold(t, dir)
}

// TestSweepAfterAStart: objects from before a start, or from a backup, are found by the first walk, and so are all
// after a clock that was ahead is set right.
func TestSweepAfterAStart(t *testing.T) {
	s, dir := newStore(t)
	mustPut(t, s, request(newID(), png1))
	mustPut(t, s, request(task.NewID(task.PrefixInput, start), png1))
	again, err := artifact.NewFolder(artifact.FolderConfig{Dir: dir, Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	mustSweep(t, again, 0, 0)
	mustSweep(t, again, time.Hour, 2)
	mustHold(t, dir)

	mustSweep(t, again, 1000*24*time.Hour, 0)
	third := request(newID(), png1)
	third.TTL = 48 * time.Hour
	mustPut(t, again, third)
	mustExpire(t, dir, third.ID)
	mustSweep(t, again, time.Hour, 1)
	mustHold(t, dir)
}

// TestSweepInParts: however few objects a sweep may know of and look at, all go when they expire and not before.
func TestSweepInParts(t *testing.T) {
	for _, limits := range [][2]int{{2, 1}, {2, 1000}, {1000, 1}, {5, 3}} {
		s, dir := newStore(t)
		artifact.LimitSweeps(s.(*artifact.Folder), limits[0], limits[1])
		left := map[time.Duration]int{}
		for i := range 30 {
			r := request(newID(), png1)
			r.TTL = time.Duration(1+i%3) * time.Hour
			left[r.TTL]++
			mustPut(t, s, r)
		}
		for after := time.Duration(0); after <= 3*time.Hour; after += time.Hour {
			deleted := 0
			for range 200 { // minutes, or the rounds of one
				n, err := s.Sweep(t.Context(), start.Add(after), 7)
				if err != nil {
					t.Fatal(err)
				}
				deleted += n
			}
			if deleted != left[after] {
				t.Errorf("limits %v, after %v: %d deleted, want %d", limits, after, deleted, left[after])
			}
		}
		mustHold(t, dir)
	}
}

// TestSweepOfADeletedObject: one that was deleted meanwhile is passed over, and its id may be kept again.
func TestSweepOfADeletedObject(t *testing.T) {
	s, dir := newStore(t)
	id := mustPut(t, s, request(newID(), png1)).ID
	mustSweep(t, s, 0, 0)
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	r := request(id, png1)
	r.TTL = 3 * time.Hour
	mustPut(t, s, r)
	mustSweep(t, s, time.Hour, 0)
	if _, body := mustOpen(t, s, id); !bytes.Equal(body, []byte(png1)) {
		t.Errorf("kept again, it is %q", body)
	}
	mustSweep(t, s, 3*time.Hour, 1)
	mustHold(t, dir)
}
