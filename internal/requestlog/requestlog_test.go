package requestlog_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"unitask/internal/fault"
	"unitask/internal/requestlog"
	"unitask/internal/task"
	"unitask/test/fixture"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is one that a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func mustOpen(t testing.TB, cfg requestlog.Config) *requestlog.Log {
	t.Helper()
	l, err := requestlog.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // one that was broken on purpose says so
	return l
}

// entry is a creation of a task of its own.
func entry(now time.Time) requestlog.Entry {
	return requestlog.Entry{
		ID: task.NewID(task.PrefixRequest, now), At: now, KeyID: task.NewID(task.PrefixKey, now), Account: task.NewID(task.PrefixAccount, now),
		TaskID: task.NewID(task.PrefixTask, now), Method: "POST", Route: "/api/ai/v1/tasks", Status: 502, Code: fault.ProviderUnavailable,
		Took: 1234567 * time.Microsecond,
	}
}

// finder is a log, or its folder.
type finder interface {
	Find(ctx context.Context, id string) ([]requestlog.Entry, error)
}

func wantFound(t *testing.T, in finder, id string, want ...requestlog.Entry) {
	t.Helper()
	got, err := in.Find(t.Context(), id)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got):\n%s", id, err, diff)
	}
}

func TestFind(t *testing.T) {
	c, dir := newClock(), t.TempDir()
	l := mustOpen(t, requestlog.Config{Dir: dir, Now: c.now})
	first := entry(c.now())
	read := entry(c.now())
	read.TaskID, read.Method, read.Route, read.Status, read.Code = first.TaskID, "GET", "/api/ai/v1/tasks/{task_id}", 200, ""
	keyless := requestlog.Entry{ID: task.NewID(task.PrefixRequest, c.now()), At: c.now(), Method: "other", Route: `a "quoted" <route>`, Status: 401}
	read.At = read.At.Add(time.Second)
	l.Add(read)
	l.Add(first)
	l.Add(keyless)
	wantFound(t, l, first.ID, first)
	wantFound(t, l, keyless.ID, keyless)
	wantFound(t, l, first.TaskID, first, read)
	wantFound(t, l, first.KeyID)
	wantFound(t, l, first.ID[:len(first.ID)-1])
	wantFound(t, l, task.NewID(task.PrefixRequest, c.now()))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantFound(t, requestlog.Folder(dir), first.TaskID, first, read)
	wantFound(t, requestlog.Folder(filepath.Join(dir, "none")), first.TaskID)
	l.Add(first)
	if dropped, _ := l.Lost(); dropped != 1 {
		t.Errorf("%d dropped by a log that was closed", dropped)
	}
}

// TestCrash ends a log in the middle of a line, as a power cut does: the next one goes on behind it.
func TestCrash(t *testing.T) {
	c, dir := newClock(), t.TempDir()
	l := mustOpen(t, requestlog.Config{Dir: dir, Now: c.now})
	before, after := entry(c.now()), entry(c.now())
	l.Add(before)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files := segments(t, dir)
	f, err := os.OpenFile(files[0], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "{\"id\":%q,\x00\x00", after.ID); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantFound(t, requestlog.Folder(dir), after.ID)
	again := mustOpen(t, requestlog.Config{Dir: dir, Now: c.now})
	again.Add(after)
	wantFound(t, again, before.ID, before)
	wantFound(t, again, after.ID, after)
	if now := segments(t, dir); len(now) != 1 {
		t.Errorf("segments %v, want the one from before", now)
	}
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "requests-*.log"))
	if err != nil || len(files) == 0 {
		t.Fatalf("segments %v, %v", files, err)
	}
	return files
}

// TestSize: the log stays within its bound, and loses the oldest first.
func TestSize(t *testing.T) {
	const bound = 64 << 10
	c, dir := newClock(), t.TempDir()
	l := mustOpen(t, requestlog.Config{Dir: dir, Now: c.now, Size: bound})
	first := entry(c.now())
	var last requestlog.Entry
	l.Add(first)
	for range 100 {
		for range 10 {
			c.advance(time.Millisecond)
			last = entry(c.now())
			l.Add(last)
		}
		l.Flush()
	}
	var total int64
	for _, name := range segments(t, dir) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > bound || total < bound/2 {
		t.Errorf("%d bytes are kept, the bound is %d", total, bound)
	}
	wantFound(t, l, first.ID)
	wantFound(t, l, last.ID, last)
}

// TestKeep: a segment goes when its last line is too old.
func TestKeep(t *testing.T) {
	c, dir := newClock(), t.TempDir()
	l := mustOpen(t, requestlog.Config{Dir: dir, Now: c.now, Keep: 72 * time.Hour})
	var days []requestlog.Entry
	for range 6 {
		days = append(days, entry(c.now()))
		l.Add(days[len(days)-1])
		l.Flush()
		c.advance(25 * time.Hour)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = mustOpen(t, requestlog.Config{Dir: dir, Now: c.now, Keep: 72 * time.Hour})
	l.Flush()
	for i, e := range days {
		if i < 3 {
			wantFound(t, l, e.ID)
		} else {
			wantFound(t, l, e.ID, e)
		}
	}
}

// TestFlood: requests without a key, and those over a rate, displace no other lines.
func TestFlood(t *testing.T) {
	c := newClock()
	l := mustOpen(t, requestlog.Config{Dir: t.TempDir(), Now: c.now})
	const flood = 1000
	for i := range flood {
		e := entry(c.now())
		if e.Status = 429; i%2 == 0 {
			e.KeyID = ""
		}
		l.Add(e)
	}
	good := entry(c.now())
	l.Add(good)
	if dropped, skipped := l.Lost(); dropped != 0 || skipped != flood-requestlog.RefusedMost {
		t.Errorf("%d dropped, %d refused ones left out", dropped, skipped)
	}
	wantFound(t, l, good.ID, good)
	next := entry(c.now().Add(time.Second))
	next.KeyID = ""
	l.Add(next)
	wantFound(t, l, next.ID, next)
}

// TestTellsOfWhatIsMissing: the server's log says how many requests the request log hasn't got, and once.
func TestTellsOfWhatIsMissing(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	l := fixture.Must(requestlog.Open(requestlog.Config{Dir: t.TempDir(), Now: c.now, Logger: slog.New(slog.NewTextHandler(&out, nil))}))(t)
	for range requestlog.RefusedMost + 7 {
		e := entry(c.now())
		e.KeyID = ""
		l.Add(e)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "missing in the request log") != 1 || !strings.Contains(got, "dropped=0 refused=7") {
		t.Errorf("the log says %q", got)
	}
}

// TestBrokenDisk: lines that can't be written are dropped and counted; no request waits, and memory is bounded.
func TestBrokenDisk(t *testing.T) {
	c := newClock()
	l := mustOpen(t, requestlog.Config{Dir: t.TempDir(), Now: c.now})
	if err := requestlog.Break(l); err != nil {
		t.Fatal(err)
	}
	e := entry(c.now())
	n := 2 * requestlog.BufferMost / len(requestlog.AppendEntry(nil, e))
	for range n {
		l.Add(e)
	}
	l.Flush()
	if dropped, _ := l.Lost(); dropped != int64(n) {
		t.Errorf("%d of %d dropped", dropped, n)
	}
}

// TestAddIsCheap: a request pays no allocation for its line.
func TestAddIsCheap(t *testing.T) {
	c := newClock()
	l := mustOpen(t, requestlog.Config{Dir: t.TempDir(), Now: c.now})
	e := entry(c.now())
	l.Add(e)
	if n := testing.AllocsPerRun(1000, func() { l.Add(e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	l := mustOpen(b, requestlog.Config{Dir: b.TempDir(), Size: 64 << 20})
	e := entry(time.Now())
	b.ReportAllocs()
	for b.Loop() {
		l.Add(e)
	}
}

// FuzzLine: a parsed line is written as one that parses the same.
func FuzzLine(f *testing.F) {
	f.Add(requestlog.AppendEntry(nil, entry(newClock().now())))
	f.Add([]byte(`{"id":"req_1","at":"2026-11-21T08:00:00Z","us":-1}`))
	f.Add([]byte(`{"id":"req_1","at":"9999-12-31T23:59:59-23:00","us":9223372036854775}`))
	f.Add([]byte(`{"id":"req_1","at":"0000-01-01T00:00:00+23:00","us":-9223372036854776}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := requestlog.ParseEntry(raw)
		if year := first.At.UTC().Year(); err != nil || year < 0 || year > 9999 {
			return // beyond the range of RFC 3339
		}
		written := string(requestlog.AppendEntry(nil, first))
		if strings.Count(written, "\n") != 1 || !strings.HasSuffix(written, "\n") {
			t.Fatalf("%q is no line", written)
		}
		again, err := requestlog.ParseEntry([]byte(strings.TrimSuffix(written, "\n")))
		first.At = first.At.UTC().Truncate(time.Millisecond)
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Errorf("%q: %v (-first +again):\n%s", written, err, diff)
		}
	})
}
