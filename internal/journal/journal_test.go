package journal_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/journal"
)

var visible = cmp.Options{cmpopts.IgnoreUnexported(journal.Entry{}, journal.Submission{}), cmpopts.IgnoreFields(journal.Entry{}, "Age")}

func submission() journal.Submission {
	return journal.Submission{
		Key: "key-00000001", BaseURL: "http://a.test", Profile: "local", DataDir: "/d", Mode: "test", Output: "/tmp/fox.png", JSON: true,
		Body: []byte(`{"capability":"text.chat","input":{"prompt":"<a> & \"b\" é"}}`),
	}
}

func mustBegin(t *testing.T, j *journal.Journal, s journal.Submission) *journal.Entry {
	t.Helper()
	e, err := j.Begin(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustTake(t *testing.T, j *journal.Journal, id string) *journal.Entry {
	t.Helper()
	e, err := j.Take(id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustList(t *testing.T, j *journal.Journal) []string {
	t.Helper()
	ids, err := j.List()
	must(t, err)
	return ids
}

// TestLife is an entry's whole life, over three processes.
func TestLife(t *testing.T) {
	j := journal.Open(filepath.Join(t.TempDir(), "new", "state"))
	if got := mustList(t, j); got != nil {
		t.Errorf("a folder that isn't there holds %v", got)
	}
	first := mustBegin(t, j, submission())
	if _, err := j.Take(first.ID); !errors.Is(err, journal.ErrBusy) {
		t.Errorf("taken from a live process: %v", err)
	}
	must(t, first.Accepted("task_1"))
	if seen, err := j.Peek(first.ID); err != nil || seen.TaskID != "task_1" || seen.ID != first.ID {
		t.Errorf("seen from outside: %+v, %v", seen, err)
	}
	must(t, first.Close())

	second := mustTake(t, j, first.ID)
	want := &journal.Entry{Submission: submission(), ID: first.ID, TaskID: "task_1"}
	want.Body = nil
	if diff := cmp.Diff(want, second, visible); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	body, err := second.Load()
	if err != nil || !bytes.Equal(body, submission().Body) {
		t.Errorf("body %s, %v", body, err)
	}
	must(t, second.SetFailed(true))
	must(t, second.Close())

	third := mustTake(t, j, first.ID)
	if third.TaskID != "task_1" || !third.Failed {
		t.Errorf("task %q, failed %v, want what was noted", third.TaskID, third.Failed)
	}
	must(t, third.Erase())
	if got := mustList(t, j); len(got) != 0 {
		t.Errorf("erased, and %v is left", got)
	}
	if _, err := j.Take(first.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("taken after its end: %v", err)
	}
}

func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	state := t.TempDir()
	j := journal.Open(state)
	e := mustBegin(t, j, submission())
	for path, want := range map[string]fs.FileMode{
		filepath.Join(state, "journal"): fs.ModeDir | 0o700,
		j.Path(e.ID):                    0o600,
	} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
}

// TestFiles: bytes of files stay out of the journal, and a file that changes is found out.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	picture, sound := filepath.Join(dir, "a.png"), filepath.Join(dir, "b.wav")
	pictured, sounded := bytes.Repeat([]byte("pixels"), 1000), []byte("sound")
	must(t, os.WriteFile(picture, pictured, 0o600))
	must(t, os.WriteFile(sound, sounded, 0o600))
	encoded := base64.StdEncoding.EncodeToString(pictured)
	s := submission()
	s.Body = fmt.Appendf(nil, `{"images":[{"data":%q},{"data":%[1]q}],"audio":%[2]q,"prompt":"fox"}`, encoded, base64.StdEncoding.EncodeToString(sounded))
	s.Files = []journal.File{{Path: sound, Bytes: sounded}, {Path: picture, Bytes: pictured}}
	j := journal.Open(dir)
	e := mustBegin(t, j, s)
	must(t, e.Close())
	raw, err := os.ReadFile(filepath.Join(dir, "journal", e.ID+".jsonl"))
	if err != nil || len(raw) > 1000 || strings.Contains(string(raw), encoded[:40]) {
		t.Errorf("%d bytes in the journal (%v):\n%.300s", len(raw), err, raw)
	}
	load := func() ([]byte, error) {
		e := mustTake(t, j, e.ID)
		body, err := e.Load()
		must(t, e.Close())
		return body, err
	}
	if body, err := load(); err != nil || !bytes.Equal(body, s.Body) {
		t.Errorf("the body isn't what it was (%v):\n%.300s", err, body)
	}
	for _, damage := range []func() error{
		func() error { return os.WriteFile(picture, append(pictured[1:], 'x'), 0o600) },
		func() error { return os.WriteFile(picture, pictured[1:], 0o600) },
		func() error { return os.Remove(picture) },
	} {
		must(t, damage())
		_, err := load()
		if changed, ok := errors.AsType[*journal.ChangedError](err); !ok || changed.Path != picture {
			t.Errorf("got %v, want that %s has changed", err, picture)
		}
	}
}

func TestDamaged(t *testing.T) {
	const good = `{"version":1,"key":"k","base_url":"http://a","body":[{"text":"{}"}]}`
	tests := []struct{ name, content, want string }{
		{"empty", "", "never finished"},
		{"cut short", good, "never finished"},
		{"not JSON", "secret words\n", "the entry is damaged: its first line can't be read"},
		{"another member", strings.Replace(good, "key", "kez", 1) + "\n", "its first line can't be read"},
		{"two values", good + good + "\n", "its first line can't be read"},
		{"another version", strings.Replace(good, "1", "2", 1) + "\n", "it is of version 2, this program knows 1"},
		{"no key", strings.Replace(good, `"k"`, `""`, 1) + "\n", "missing"},
		{"no body", strings.Replace(good, `{"text":"{}"}`, "", 1) + "\n", "missing"},
		{"an empty piece", strings.Replace(good, `"text":"{}"`, "", 1) + "\n", "can't be put together"},
		{"a relative path", strings.Replace(good, `"text":"{}"`, `"file":"a.png"`, 1) + "\n", "can't be put together"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state := t.TempDir()
			j := journal.Open(state)
			e := mustBegin(t, j, submission())
			must(t, e.Close())
			must(t, os.WriteFile(j.Path(e.ID), []byte(tt.content), 0o600))
			_, err := j.Take(e.ID)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if kept := len(mustList(t, j)) == 1; kept == errors.Is(err, journal.ErrUnsent) {
				t.Errorf("kept %v after %v", kept, err)
			}
		})
	}
}

// TestTornNote: the lines after the first are a help, and may be cut anywhere.
func TestTornNote(t *testing.T) {
	state := t.TempDir()
	j := journal.Open(state)
	e := mustBegin(t, j, submission())
	must(t, e.Accepted("task_1"))
	must(t, e.Close())
	path := j.Path(e.ID)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"task_id":"ta`)
	must(t, errors.Join(err, f.Close()))
	again := mustTake(t, j, e.ID)
	if again.TaskID != "task_1" {
		t.Errorf("task %q, want the last whole note's", again.TaskID)
	}
	must(t, again.SetFailed(true))
	must(t, again.Close())
	if again = mustTake(t, j, e.ID); again.TaskID != "task_1" || !again.Failed {
		t.Errorf("task %q, failed %v, want the note behind the torn one", again.TaskID, again.Failed)
	}
}

func TestSweep(t *testing.T) {
	state := t.TempDir()
	j := journal.Open(state)
	live, left, young := mustBegin(t, j, submission()), mustBegin(t, j, submission()), mustBegin(t, j, submission())
	must(t, left.Close())
	must(t, young.Close())
	old := time.Now().Add(-journal.MaxAge)
	for _, e := range []*journal.Entry{live, left} {
		must(t, os.Chtimes(j.Path(e.ID), old, old))
	}
	gone, err := j.Sweep(time.Now())
	if err != nil || gone != 1 {
		t.Errorf("%d gone, %v, want the one that nobody works on", gone, err)
	}
	want := slices.Sorted(slices.Values([]string{live.ID, young.ID}))
	if diff := cmp.Diff(want, mustList(t, j)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// TestManyAtOnce: whoever looks for leftovers takes no entry of a live process, and every leftover is
// taken once.
func TestManyAtOnce(t *testing.T) {
	const writers, each = 8, 20
	state := t.TempDir()
	var all, looking sync.WaitGroup
	done := make(chan struct{})
	taken := map[string]int{}
	var mu sync.Mutex
	look := func() error {
		j := journal.Open(state)
		ids, err := j.List()
		for _, id := range ids {
			e, takeErr := j.Take(id)
			switch {
			case errors.Is(takeErr, journal.ErrBusy), errors.Is(takeErr, fs.ErrNotExist), errors.Is(takeErr, journal.ErrUnsent):
			case takeErr != nil:
				return takeErr
			default:
				mu.Lock()
				taken[e.TaskID]++
				mu.Unlock()
				err = errors.Join(err, e.Erase())
			}
		}
		return err
	}
	for range 3 {
		looking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := look(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for w := range writers {
		all.Go(func() {
			j := journal.Open(state)
			for i := range each {
				e, err := j.Begin(submission())
				if err == nil {
					err = e.Accepted(fmt.Sprintf("task_%d_%d", w, i))
				}
				if err == nil && i%2 == 0 {
					err = e.Erase()
				} else if err == nil {
					err = e.Close()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	close(done)
	looking.Wait()
	must(t, look())
	if len(taken) != writers*each/2 {
		t.Errorf("%d leftovers were taken, want %d", len(taken), writers*each/2)
	}
	for id, n := range taken {
		if n != 1 || id == "" {
			t.Errorf("task %q was taken %d times", id, n)
		}
	}
}

func TestBeginRefuses(t *testing.T) {
	s := submission()
	s.Body = []byte("{\"a\":\"\xff\"}")
	if _, err := journal.Open(t.TempDir()).Begin(s); err == nil {
		t.Error("a body that JSON can't repeat was taken")
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := journal.Open(file).Begin(submission()); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// FuzzTake gives any bytes the place of an entry: the result is an error of one of the known kinds, or an entry that
// can be stored and read again alike.
func FuzzTake(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}\n", `{"version":1,"key":"k","base_url":"http://a","body":[{"text":"{}"}]}` + "\n" + `{"task_id":"task_1"}` + "\n",
		`{"version":1,"key":"k","base_url":"http://a","output":"-","json":true,"body":[{"file":"/nowhere","sha256":"00","bytes":1},{"text":"x"}]}` + "\n{\n",
	} {
		f.Add([]byte(seed))
	}
	j := journal.Open(f.TempDir())
	e, err := j.Begin(submission())
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		f.Fatal(err)
	}
	path := j.Path(e.ID)
	f.Fuzz(func(t *testing.T, raw []byte) {
		must(t, os.WriteFile(path, raw, 0o600))
		got, err := j.Take(e.ID)
		if err != nil {
			if _, damaged := errors.AsType[*journal.DamagedError](err); !damaged && !errors.Is(err, journal.ErrUnsent) {
				t.Fatalf("an error of no known kind: %v", err)
			}
			return
		}
		body, err := got.Load()
		if _, changed := errors.AsType[*journal.ChangedError](err); err != nil && !changed {
			t.Fatalf("the body: %v", err)
		}
		must(t, got.SetFailed(!got.Failed))
		must(t, got.Close())
		again := mustTake(t, j, e.ID)
		if sure, _ := again.Load(); err == nil && !bytes.Equal(body, sure) {
			t.Fatalf("body %q, then %q", body, sure)
		}
		if diff := cmp.Diff(got, again, visible); diff != "" {
			t.Fatalf("read again (-first +second):\n%s", diff)
		}
		must(t, again.Close())
	})
}
