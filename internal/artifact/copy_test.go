package artifact_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// TestPause: no file is removed during a pause, and all due files are after the last one.
func TestPause(t *testing.T) {
	s, dir := newStore(t)
	f := s.(*artifact.Folder)
	deleted, expired := newID(), newID()
	mustPut(t, s, request(deleted, png1))
	mustPut(t, s, request(expired, png2))
	first, second := f.Pause(), f.Pause()
	later := start.Add(2 * time.Hour)
	if err := s.Delete(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(t.Context(), later, 10); n != 0 || err != nil {
		t.Errorf("Sweep during a pause: %d, %v", n, err)
	}
	if err := first(); err != nil {
		t.Fatal(err)
	}
	mustHold(t, dir, deleted, expired)
	if err := second(); err != nil {
		t.Fatal(err)
	}
	mustHold(t, dir, expired)
	if n, err := s.Sweep(t.Context(), later, 10); n != 1 || err != nil {
		t.Errorf("Sweep after the pauses: %d, %v", n, err)
	}
	mustHold(t, dir)
}

// TestDeletedInAPause: what is deleted during a pause is gone but for a copy, and what is kept after it under the same id
// isn't lost with it.
func TestDeletedInAPause(t *testing.T) {
	s, dir := newStore(t)
	f := s.(*artifact.Folder)
	id := newID()
	mustPut(t, s, request(id, png1))
	resume := f.Pause()
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Stat(t.Context(), id); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("Stat: %v, want NOT_FOUND", err)
	}
	if _, _, err := s.Open(t.Context(), id); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("Open: %v, want NOT_FOUND", err)
	}
	if _, err := s.Put(t.Context(), request(id, png1)); fault.CodeOf(err) != fault.CapacityExhausted {
		t.Errorf("Put: %v, want CAPACITY_EXHAUSTED", err)
	}
	copied := 0
	err := f.Walk(t.Context(), func(artifact.Part, func() (io.ReadCloser, error)) error { copied++; return nil }, func(string) {})
	if err != nil || copied != 2 {
		t.Errorf("a copy has %d files, %v, want 2", copied, err)
	}
	if err := resume(); err != nil {
		t.Fatal(err)
	}
	mustHold(t, dir)
	mustPut(t, s, request(id, png2))
	mustHold(t, dir, id)
}

// TestWalk: each object's bytes come before its Meta, a damaged one is named and left out.
func TestWalk(t *testing.T) {
	s, dir := newStore(t)
	f := s.(*artifact.Folder)
	whole, cut := newID(), newID()
	input := task.NewID(task.PrefixInput, start)
	for _, id := range []string{whole, cut, input} {
		mustPut(t, s, request(id, png1))
	}
	mustWrite(t, pathOf(dir, cut), png1[:9])
	lost := task.NewID(task.PrefixInput, start)
	mustPut(t, s, request(lost, png1))
	if err := os.Remove(pathOf(dir, lost)); err != nil {
		t.Fatal(err)
	}
	var names, bad []string
	err := f.Walk(t.Context(), func(p artifact.Part, open func() (io.ReadCloser, error)) error {
		body, err := open()
		if err != nil {
			return err
		}
		raw, err := io.ReadAll(body)
		if int64(len(raw)) != p.Bytes || !artifact.ValidPart(p.Name) {
			t.Errorf("%s: %d bytes of %d", p.Name, len(raw), p.Bytes)
		}
		if strings.HasSuffix(p.Name, ".json") != p.ModTime.Equal(start.Add(time.Hour)) {
			t.Errorf("%s: its time is %s; that of a Meta is the expiry", p.Name, p.ModTime)
		}
		names = append(names, p.Name)
		return errors.Join(err, body.Close())
	}, func(id string) { bad = append(bad, id) })
	if err != nil {
		t.Fatal(err)
	}
	art, in := "art/"+whole[len(whole)-2:]+"/"+whole, "in/"+input[len(input)-2:]+"/"+input
	if diff := cmp.Diff([]string{art, art + ".json", in, in + ".json"}, names); diff != "" {
		t.Errorf("walked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{cut, lost}, bad); diff != "" {
		t.Errorf("damaged (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Walk(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestValidPart(t *testing.T) {
	id := newID()
	good := "art/" + id[len(id)-2:] + "/" + id
	for name, want := range map[string]bool{
		good: true, good + ".json": true, good + ".json.json": false, "in" + good[3:]: false, "/" + good: false,
		"../" + good: false, good + "/": false, "art/../" + id: false, "art/zz/" + id[:len(id)-2] + "zz": true,
		"art/" + id: false, "": false, ".json": false, "art/zz/" + id: strings.HasSuffix(id, "zz"),
	} {
		if got := artifact.ValidPart(name); got != want {
			t.Errorf("%q: got %t, want %t", name, got, want)
		}
	}
}
