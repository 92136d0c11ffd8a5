package losstest_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/losstest"
	"unitask/internal/store/memstore"
)

var errEnough = errors.New("enough")

// stream takes some lines and then no more.
type stream struct {
	mu    sync.Mutex
	left  int
	lines []string
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left < 0 {
		return 0, errEnough
	}
	s.lines = append(s.lines, string(bytes.TrimSuffix(p, []byte("\n"))))
	return len(p), nil
}

func write(t *testing.T) (*memstore.DB, []string) {
	t.Helper()
	db, out := memstore.New(time.Now), &stream{left: 200}
	w := losstest.Writers{Store: db, Out: out, Count: 1}
	if err := w.Run(t.Context()); !errors.Is(err, errEnough) {
		t.Fatalf("Run: %v", err)
	}
	return db, out.lines
}

func noted(t *testing.T, lines []string) *losstest.Record {
	t.Helper()
	b := &losstest.Record{}
	for _, text := range lines {
		if !b.Note(text) {
			t.Fatalf("not an acknowledgement: %q", text)
		}
	}
	return b
}

func TestBook(t *testing.T) {
	db, lines := write(t)
	last := lines[len(lines)-1]
	ended := lines[slices.IndexFunc(lines, func(text string) bool { return strings.HasSuffix(text, "succeeded") })]
	for name, tt := range map[string]struct {
		lines []string
		want  string // part of the expected finding, "" for no finding
	}{
		"sound":         {lines, ""},
		"lost":          {append(lines[:len(lines):len(lines)], "task_06gzvv1eykge7ryxw8j854krhw 1 queued"), "not found"},
		"older":         {append(lines[:len(lines):len(lines)], strings.Fields(last)[0]+" 9 running"), "found at revision"},
		"another state": {[]string{strings.Replace(ended, "succeeded", "failed", 1)}, "as succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			err := noted(t, tt.lines).Check(t.Context(), db)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNoteRefuses(t *testing.T) {
	for _, text := range []string{"", "task_06gzvv1eykge7ryxw8j854krhw 1", "task_06gzvv1eykge7ryxw8j854krhw 1 succee", "task_x 1 queued"} {
		if (&losstest.Record{}).Note(text) {
			t.Errorf("%q passed for an acknowledgement", text)
		}
	}
}

// forgetful lists all deliveries but one, or one of them twice.
type forgetful struct {
	*memstore.DB
	twice bool
}

func (f forgetful) ListDeliveries(ctx context.Context, q store.DeliveryQuery) (store.DeliveryPage, error) {
	page, err := f.DB.ListDeliveries(ctx, q)
	if err == nil && q.Cursor == "" && len(page.Deliveries) > 0 {
		if page.Deliveries = page.Deliveries[1:]; f.twice {
			page.Deliveries = append(page.Deliveries, page.Deliveries[0])
		}
	}
	return page, err
}

// TestRecordFindsAMissingDelivery: an end that an endpoint doesn't hear of is a broken promise, as is one that it hears of
// twice.
func TestRecordFindsAMissingDelivery(t *testing.T) {
	db, lines := write(t)
	record := noted(t, lines)
	if err := record.Check(t.Context(), db); err != nil {
		t.Errorf("a store with all of them: %v", err)
	}
	for _, of := range []forgetful{{db, false}, {db, true}} {
		if err := record.Check(t.Context(), of); err == nil || !strings.Contains(err.Error(), "deliveries") {
			t.Errorf("got %v, want an end without its delivery", err)
		}
	}
}
