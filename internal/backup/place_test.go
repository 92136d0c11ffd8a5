package backup_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"unitask/internal/backup"
)

// mustStage unpacks an archive within dir.
func mustStage(t *testing.T, dir string) string {
	t.Helper()
	raw, _ := mustWrite(t)
	staging, err := backup.Stage(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Unpack(t.Context(), bytes.NewReader(raw), staging, unsealed); err != nil {
		t.Fatal(err)
	}
	return staging
}

func TestPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "data")
	mustStage(t, dir) // of a restore that was cut off
	first := mustStage(t, dir)
	want := len(tree(t, first))
	if err := backup.Place(first, dir); err != nil {
		t.Fatal(err)
	}
	if got := len(tree(t, dir)); got != want || want != 5 {
		t.Errorf("%d files are placed, want %d", got, want)
	}
	second := mustStage(t, dir)
	if err := backup.Place(second, dir); !errors.Is(err, backup.ErrOccupied) {
		t.Errorf("a folder with data: %v, want ErrOccupied", err)
	}
	logs := []string{backup.DatabaseName + ".log0", backup.DatabaseName + ".log1"} // a server that was killed left them
	for _, log := range logs {
		if err := os.WriteFile(filepath.Join(dir, log), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	aside, err := backup.Aside(dir, now)
	if err != nil || len(tree(t, aside)) != want+len(logs) {
		t.Errorf("Aside: %d files in %q, %v", len(tree(t, aside)), aside, err)
	}
	if err := backup.Place(second, dir); err != nil || len(tree(t, dir)) != 2*want+len(logs) {
		t.Errorf("%d files, want old and new: %v", len(tree(t, dir)), err)
	}
}

// TestPlaceBesideANewDatabase: files that a server made in the folder meanwhile aren't replaced.
func TestPlaceBesideANewDatabase(t *testing.T) {
	dir := t.TempDir()
	if aside, err := backup.Aside(dir, now); aside != "" || err != nil {
		t.Errorf("Aside of nothing: %q, %v", aside, err)
	}
	staging := mustStage(t, dir)
	path := filepath.Join(dir, backup.DatabaseName)
	if err := os.WriteFile(path, []byte("newer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := backup.Place(staging, dir); !errors.Is(err, backup.ErrOccupied) {
		t.Errorf("got %v, want ErrOccupied", err)
	}
	if raw, err := os.ReadFile(path); string(raw) != "newer" {
		t.Errorf("the database is %q now, %v", raw, err)
	}
}

// TestElsewhere: a backup of a data folder whose artifacts are in an object store says so, and so does the folder that
// is restored from it, until another place is recorded.
func TestElsewhere(t *testing.T) {
	const place = "s3://media/unitask"
	var out bytes.Buffer
	s := source(database{text: "the database"}, nil)
	s.Elsewhere = place
	wrote, err := backup.Write(t.Context(), &out, s)
	if err != nil || wrote.Elsewhere != place || wrote.Files != 0 {
		t.Fatalf("%+v, %v", wrote, err)
	}
	dir := t.TempDir()
	staging, err := backup.Stage(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Unpack(t.Context(), bytes.NewReader(out.Bytes()), staging, backup.Terms{Unsealed: true}); err != nil {
		t.Fatal(err)
	}
	if err := backup.Place(staging, dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{place, "s3://other", ""} {
		if want != place {
			if err := backup.SetLocation(dir, want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := backup.Location(dir); err != nil || got != want {
			t.Errorf("the artifacts are in %q, %v; want %q", got, err, want)
		}
	}
	s.Elsewhere = "s3://\x1b[2J"
	out.Reset()
	if _, err := backup.Write(t.Context(), &out, s); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Verify(&out, backup.Terms{Unsealed: true}); !errors.Is(err, backup.ErrArchive) {
		t.Errorf("a place that is none: %v", err)
	}
}
