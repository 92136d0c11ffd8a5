package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/node"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
	"unitask/internal/upload"
	"unitask/test/fixture"
)

// TestCheckFindsDamagedUploads: a check finds uploads and pieces of them whose files aren't as they were kept, and
// nothing in what a kill leaves.
func TestCheckFindsDamagedUploads(t *testing.T) {
	dir := t.TempDir()
	db, _, err := node.OpenData(dir, boltstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	fixture.Must(0, db.Close())(t)
	root := filepath.Join(dir, backup.ArtifactsName)
	files := fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: root}))(t)
	keeper := fixture.Must(upload.New(upload.Config{Artifacts: files, Shares: files}))(t)
	send := func(text string, most int) upload.Upload {
		t.Helper()
		sum := sha256.Sum256([]byte(text))
		a := upload.Announcement{ContentType: "text/plain", Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
		u, _, err := keeper.Begin(t.Context(), "acct_1/live", a)
		if err == nil {
			u, err = keeper.Take(t.Context(), u, upload.Part{Body: strings.NewReader(text[:most])})
		}
		return fixture.Must(u, err)(t)
	}
	large := strings.Repeat("x", 200_000)
	open := send(large, 100_000)
	sound, other, shorter, gone, described := send("sound", 5), send("other", 5), send("shorter", 7), send("gone", 4), send("described", 9)
	place := func(id string) string {
		return fixture.Must(filepath.Glob(filepath.Join(root, "*", "*", id)))(t)[0]
	}
	var pieces []string // with the record
	for _, path := range fixture.Must(filepath.Glob(filepath.Join(root, "in", "*", task.PrefixInput+"*")))(t) {
		if info := fixture.Must(os.Stat(path))(t); info.Size() == 100_000 {
			pieces = append(pieces, filepath.Base(path))
		}
	}
	if open.Received != 100_000 || len(pieces) != 1 {
		t.Fatalf("%+v has pieces %q", open, pieces)
	}
	check := func(whole bool, want ...boltstore.Finding) {
		t.Helper()
		report, err := checkFolder(t.Context(), dir, whole)
		byID := func(a, b boltstore.Finding) int { return strings.Compare(a.Subject, b.Subject) }
		slices.SortFunc(want, byID)
		slices.SortFunc(report.Findings, byID)
		if diff := cmp.Diff(want, report.Findings); err != nil || diff != "" || report.Files != 5 {
			t.Errorf("%d files, %v; findings (-want +got):\n%s", report.Files, err, diff)
		}
	}
	// As a kill leaves it: bytes without a description, and a share without an upload.
	remains := filepath.Join(filepath.Dir(place(sound.ID)), task.NewID(task.PrefixArtifact, time.Now()))
	fixture.Must(0, os.WriteFile(remains, []byte("x"), 0o600))(t)
	stray := artifact.Share{ID: task.NewID(task.PrefixArtifact, time.Now()), Bytes: 1, Until: time.Now().Add(time.Hour)}
	fixture.Must(0, files.TakeShare(t.Context(), "acct_1/live", stray))(t)
	check(true, []boltstore.Finding{}...)

	fixture.Must(0, os.WriteFile(place(other.ID), []byte("OTHER"), 0o600))(t)
	fixture.Must(0, os.WriteFile(place(pieces[0]), make([]byte, 100_000), 0o600))(t)
	check(false, []boltstore.Finding{}...)
	hashes := []boltstore.Finding{{Subject: other.ID, Problem: "file: its SHA-256 is another"}, {Subject: pieces[0], Problem: "file: its SHA-256 is another"}}
	check(true, hashes...)

	fixture.Must(0, os.Truncate(place(shorter.ID), 3))(t)
	fixture.Must(0, os.Remove(place(gone.ID)))(t)
	damaged := "file: INTERNAL: an artifact can't be read: "
	want := []boltstore.Finding{
		{Subject: shorter.ID, Problem: damaged + shorter.ID + " is damaged: it has 3 bytes, not 7"},
		{Subject: gone.ID, Problem: "file: its bytes are missing"},
	}
	check(false, want...)
	check(true, append(hashes, want...)...)
	fixture.Must(0, os.WriteFile(place(described.ID)+".json", []byte("{}"), 0o600))(t)
	report, err := checkFolder(t.Context(), dir, false)
	if err != nil || len(report.Findings) != 3 {
		t.Errorf("with a description that can't be read: %+v, %v", report, err)
	}
}
