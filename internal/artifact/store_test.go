package artifact_test

import (
	"testing"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/artifact/artifacttest"
)

var start = artifacttest.Start

const (
	owner = "acct_1"
	png1  = artifacttest.PNG1
	png2  = artifacttest.PNG2
)

var (
	newID     = artifacttest.NewID
	request   = artifacttest.Request
	mustPut   = artifacttest.MustPut
	mustOpen  = artifacttest.MustOpen
	mustBlame = artifacttest.MustBlame
)

// newStore opens a store in a fresh folder, whose clock stands at start.
func newStore(t *testing.T) (artifact.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := artifact.NewFolder(artifact.FolderConfig{Dir: dir, Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dir
}

func TestFolder(t *testing.T) {
	artifacttest.Run(t, func(t *testing.T) artifacttest.Harness {
		s, dir := newStore(t)
		return artifacttest.Harness{
			Store: s, KeepsDeleted: true, Hold: func(t *testing.T, ids ...string) { mustHold(t, dir, ids...) },
		}
	})
}
