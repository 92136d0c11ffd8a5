package upload_test

import (
	"testing"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/upload"
	"unitask/test/fixture"
)

// TestAnnouncedAgainAfterItsTime: the record of an upload whose time is over, which is removed later, is in nobody's way.
func TestAnnouncedAgainAfterItsTime(t *testing.T) {
	var folder keeping
	b := newBench(t, func(t *testing.T, now func() time.Time) keeping {
		if folder == nil {
			folder = fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir(), Now: now}))(t)
		}
		return folder
	}, upload.Limits{})
	body := file(1000)
	first := b.begin(announce(body))
	b.clock.after.Store(int64(24*time.Hour + time.Second))
	again, created, err := b.nodes[0].Begin(t.Context(), owner, announce(body))
	if err != nil || !created || again.ID != first.ID || !again.ExpiresAt.After(first.ExpiresAt) {
		t.Errorf("announced again: %+v, %t, %v", again, created, err)
	}
}
