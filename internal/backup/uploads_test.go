package backup_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/internal/upload"
)

// TestUploadsCount: after a restore complete uploads count in their account's quota, and no other object does.
func TestUploadsCount(t *testing.T) {
	const quota = 100
	clock := func() time.Time { return now }
	keeper := func(f *artifact.Folder) *upload.Keeper {
		t.Helper()
		k, err := upload.New(upload.Config{Artifacts: f, Shares: f, Limits: upload.Limits{Quota: quota}, Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	announce := func(text string) upload.Announcement {
		sum := sha256.Sum256([]byte(text))
		return upload.Announcement{ContentType: "text/plain", Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
	}
	files := mustFolder(t, t.TempDir())
	mustPut(t, files, task.PrefixArtifact)
	mustPut(t, files, task.PrefixInput)
	want := map[string][]artifact.Share{}
	for _, owner := range []string{"acct_1/live", "acct_1/test", "acct_2/live"} {
		text := fmt.Sprintf("%60s", owner)
		k := keeper(files)
		u, _, err := k.Begin(t.Context(), owner, announce(text))
		if err == nil {
			u, err = k.Take(t.Context(), u, upload.Part{Body: bytes.NewReader([]byte(text))})
		}
		if err != nil || !u.Complete {
			t.Fatalf("%+v, %v", u, err)
		}
		want[owner] = []artifact.Share{{ID: u.ID, Bytes: u.Bytes, Until: u.ExpiresAt}}
	}
	var packed bytes.Buffer
	if _, err := backup.Write(t.Context(), &packed, source(database{text: "the database"}, files)); err != nil {
		t.Fatal(err)
	}
	back := t.TempDir()
	if _, err := backup.Unpack(t.Context(), &packed, back, unsealed); err != nil {
		t.Fatal(err)
	}
	restored := mustFolder(t, filepath.Join(back, backup.ArtifactsName))
	for owner := range want {
		got, err := restored.SharesOf(t.Context(), owner)
		if diff := cmp.Diff(want[owner], got); diff != "" || err != nil {
			t.Errorf("shares of %s (-want +got):\n%s%v", owner, diff, err)
		}
		if _, _, err := keeper(restored).Begin(t.Context(), owner, announce(fmt.Sprintf("%50s", owner))); fault.CodeOf(err) != fault.RateLimitExceeded {
			t.Errorf("%s announces more than its quota: %v", owner, err)
		}
	}
}
