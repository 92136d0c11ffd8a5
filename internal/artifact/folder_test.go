package artifact_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/task"
)

func TestFolderSurvivesReopening(t *testing.T) {
	s, dir := newStore(t)
	id := newID()
	want := mustPut(t, s, request(id, png1))
	again, err := artifact.NewFolder(artifact.FolderConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got, body := mustOpen(t, again, id); !cmp.Equal(want, got) || string(body) != png1 {
		t.Errorf("reopened: %+v, %q", got, body)
	}
	mustHold(t, dir, id)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && path != dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, which lets others in", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFolderDamaged: a changed object is never served, and another Put heals it.
func TestFolderDamaged(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"bytes cut":    func(t *testing.T, path string) { mustWrite(t, path, png1[:9]) },
		"bytes gone":   mustRemove,
		"meta cut":     func(t *testing.T, path string) { mustWrite(t, path+".json", "{") },
		"meta gone":    func(t *testing.T, path string) { mustRemove(t, path+".json") },
		"another meta": func(t *testing.T, path string) { mustWrite(t, path+".json", anotherMeta(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := newStore(t)
			id := newID()
			want := mustPut(t, s, request(id, png1))
			damage(t, pathOf(dir, id))
			if _, r, err := s.Open(t.Context(), id); err == nil {
				_ = r.Close()
				t.Error("it is opened")
			}
			if _, err := s.Stat(t.Context(), id); err == nil {
				t.Error("it is described")
			}
			if got := mustPut(t, s, request(id, png1)); !cmp.Equal(want, got) {
				t.Errorf("kept again: %+v, want %+v", got, want)
			}
			if _, body := mustOpen(t, s, id); string(body) != png1 {
				t.Errorf("kept again, it is %q", body)
			}
			mustHold(t, dir, id)
		})
	}
}

func TestSweep(t *testing.T) {
	s, dir := newStore(t)
	put := func(prefix string, ttl time.Duration) string {
		r := request(task.NewID(prefix, start), png1)
		r.TTL = ttl
		return mustPut(t, s, r).ID
	}
	soon, input := put(task.PrefixArtifact, time.Hour), put(task.PrefixInput, time.Hour)
	later, never := put(task.PrefixArtifact, 48*time.Hour), put(task.PrefixArtifact, 0)
	damaged := put(task.PrefixArtifact, time.Hour)
	mustWrite(t, pathOf(dir, damaged)+".json", "{")
	mustTouch(t, pathOf(dir, damaged)+".json", start)
	mustTouch(t, pathOf(dir, later)+".json", start) // as a copy of the folder may leave it

	sweep := func(after time.Duration, limit, want int, names fault.Code) {
		t.Helper()
		got, err := s.Sweep(t.Context(), start.Add(after), limit)
		if got != want || fault.CodeOf(err) != names {
			t.Errorf("after %v: %d deleted, %v; want %d and the code %q", after, got, err, want, names)
		}
	}
	sweep(time.Hour-time.Nanosecond, 10, 0, fault.Internal) // the damaged one is named once in each walk
	mustHold(t, dir, soon, input, later, never, damaged)
	sweep(time.Hour, 1, 1, "")
	sweep(time.Hour, 10, 1, "")
	mustHold(t, dir, later, never, damaged)
	sweep(48*time.Hour, 10, 1, fault.Internal)
	mustHold(t, dir, never, damaged)
}

func TestSweepRemains(t *testing.T) {
	s, dir := newStore(t)
	kept, orphan, fresh := newID(), newID(), newID()
	for _, id := range []string{kept, orphan, fresh} {
		r := request(id, png1)
		r.TTL = 0
		mustPut(t, s, r)
	}
	for _, id := range []string{orphan, fresh} {
		mustRemove(t, pathOf(dir, id)+".json")
	}
	shard := filepath.Dir(pathOf(dir, kept))
	old, young := filepath.Join(shard, ".tmp-1"), filepath.Join(shard, ".tmp-2")
	now := start.Add(1000 * time.Hour)
	for path, at := range map[string]time.Time{
		old: now.Add(-25 * time.Hour), young: now.Add(-time.Hour), pathOf(dir, kept): start,
		pathOf(dir, orphan): now.Add(-25 * time.Hour), pathOf(dir, fresh): now.Add(-time.Hour),
		filepath.Join(shard, "a stranger's file"): start,
	} {
		if _, err := os.Stat(path); err != nil {
			mustWrite(t, path, "x")
		}
		mustTouch(t, path, at)
	}
	if got, err := s.Sweep(t.Context(), now, 10); got != 0 || err != nil {
		t.Errorf("%d deleted, %v, want no object and no error", got, err)
	}
	var got []string
	for _, path := range []string{old, young, pathOf(dir, kept), pathOf(dir, orphan), pathOf(dir, fresh), filepath.Join(shard, "a stranger's file")} {
		if _, err := os.Stat(path); err == nil {
			got = append(got, filepath.Base(path))
		}
	}
	if diff := cmp.Diff([]string{".tmp-2", kept, fresh, "a stranger's file"}, got); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
}

// FuzzDecodeMeta: a parsed Meta is one that a Put could have written, and is the same when it is written again.
func FuzzDecodeMeta(f *testing.F) {
	f.Add([]byte(anotherMeta(f)))
	f.Add([]byte(`{"id":"../x","bytes":-1}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := artifact.DecodeMeta(raw)
		if err != nil {
			return
		}
		media, text := artifact.Types()
		valid := task.ValidID(task.PrefixArtifact, m.ID) || task.ValidID(task.PrefixInput, m.ID)
		if !valid || m.Owner == "" || m.Bytes <= 0 || m.Width < 0 || m.Height < 0 || m.Duration < 0 ||
			!slices.Contains(append(media, text...), m.ContentType) || len(m.SHA256) != 64 {
			t.Errorf("accepted %+v", m)
		}
		written, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := artifact.DecodeMeta(written); err != nil || !cmp.Equal(m, again) {
			t.Errorf("%+v is read again as %+v, %v", m, again, err)
		}
	})
}

func anotherMeta(t testing.TB) string {
	t.Helper()
	raw, err := json.Marshal(artifact.Meta{
		ID: newID(), Owner: owner, ContentType: "image/png", Bytes: int64(len(png1)),
		SHA256: strings.Repeat("0a", 32), CreatedAt: start, ExpiresAt: start.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func pathOf(dir, id string) string {
	sub, _, _ := strings.Cut(id, "_")
	return filepath.Join(dir, sub, id[len(id)-2:], id)
}

// mustHold wants the folder to hold exactly the two files of each object.
func mustHold(t *testing.T, dir string, ids ...string) {
	t.Helper()
	want := []string{}
	for _, id := range ids {
		want = append(want, pathOf(dir, id), pathOf(dir, id)+".json")
	}
	got := []string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			got = append(got, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustRemove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func mustTouch(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}
