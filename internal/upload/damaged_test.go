package upload_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/upload"
	"unitask/test/fixture"
)

// TestDamaged damages an upload's files in each way: the list has it beside the others, the same file is taken again, and
// its owner alone can delete it, which leaves no share.
func TestDamaged(t *testing.T) {
	body := file(upload.LeastPiece + 7)
	cut := func([]byte) []byte { return []byte("{") }
	garble := func(raw []byte) []byte { return bytes.Repeat([]byte("x"), len(raw)) }
	for name, tt := range map[string]struct {
		sent   int
		file   func(u upload.Upload) string
		damage func([]byte) []byte
	}{
		"artifact cut":   {len(body), func(u upload.Upload) string { return u.ID }, cut},
		"its Meta":       {len(body), func(u upload.Upload) string { return u.ID + ".json" }, garble},
		"record cut":     {0, func(u upload.Upload) string { return upload.RecordID(u.ID) }, cut},
		"record garbled": {0, func(u upload.Upload) string { return upload.RecordID(u.ID) }, garble},
		"piece cut":      {upload.LeastPiece, func(u upload.Upload) string { return upload.PieceID(u, 0) }, cut},
	} {
		t.Run(name, func(t *testing.T) {
			dir, ctx := t.TempDir(), t.Context()
			b := newBench(t, func(t *testing.T, now func() time.Time) keeping {
				return fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: dir, Now: now}))(t)
			}, upload.Limits{})
			k := b.nodes[0]
			u := b.begin(announce(body))
			if tt.sent > 0 {
				u, _ = k.Receive(ctx, u.ID, 0, cutAt(body, tt.sent))
			}
			b.clock.after.Store(int64(time.Minute))
			other := b.begin(announce(file(30)))
			path := pathOf(t, dir, tt.file(u))
			fixture.Must(0, os.WriteFile(path, tt.damage(fixture.Must(os.ReadFile(path))(t)), 0o600))(t)

			want := upload.Upload{ID: u.ID, Owner: owner, Announcement: upload.Announcement{Bytes: u.Bytes}, ExpiresAt: u.ExpiresAt, Damaged: true}
			page, err := k.List(ctx, owner, "", 1)
			if diff := cmp.Diff([]upload.Upload{want}, page.Uploads); !u.Complete && diff != "" || err != nil {
				t.Errorf("the first page (-want +got):\n%s%v", diff, err)
			}
			page, err = k.List(ctx, owner, "", 9)
			if len(page.Uploads) != 2 || err != nil {
				t.Errorf("listed: %+v, %v", page.Uploads, err)
			}
			got, err := k.OfOwner(ctx, owner, u.ID)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("by its id (-want +got):\n%s%v", diff, err)
			}
			again, created, err := k.Begin(ctx, owner, announce(body))
			if again.ID == u.ID || !created || err != nil {
				t.Errorf("announced again: %+v, new: %t, %v", again, created, err)
			}
			if err := k.Delete(ctx, "acct_2/live", u.ID); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("deleted by another: %v", err)
			}
			if err := k.Delete(ctx, owner, u.ID); err != nil {
				t.Fatal(err)
			}
			if _, err := k.OfOwner(ctx, owner, u.ID); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("once it is deleted: %v", err)
			}
			page, err = k.List(ctx, owner, "", 9)
			if diff := cmp.Diff(upload.Page{Uploads: []upload.Upload{other, again}}, page); diff != "" || err != nil {
				t.Errorf("listed then (-want +got):\n%s%v", diff, err)
			}
		})
	}
}

// pathOf finds a file below a folder.
func pathOf(t *testing.T, dir, name string) (found string) {
	t.Helper()
	fixture.Must(0, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == name {
			found = path
		}
		return err
	}))(t)
	return found
}
