package sweep_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestArtifactSyncs lets each sync below the folder of the artifacts fail once. The script keeps three
// objects, an input, a picture and a sound, and each of them syncs its bytes, its description and its folder.
func TestArtifactSyncs(t *testing.T) {
	f := fault{name: "EIO", errno: syscall.EIO, only: []string{"fsync", "fdatasync"}, below: "artifacts"}
	var files, folders, beyond atomic.Int64
	t.Run("point", func(t *testing.T) {
		for n := range 16 {
			t.Run(strconv.Itoa(n+1), func(t *testing.T) {
				t.Parallel()
				p := &point{t: t, fault: f, n: n + 1}
				p.visit()
				met, _ := p.injector.met()
				if met == nil {
					beyond.Add(1)
					return
				}
				switch parts := strings.Split(met.file, string(filepath.Separator)); {
				case strings.HasPrefix(parts[len(parts)-1], "."):
					files.Add(1)
				case len(parts) == 3: // artifacts/results/1g: a folder of objects
					folders.Add(1)
				}
			})
		}
	})
	if files.Load() != 6 || folders.Load() != 3 || beyond.Load() == 0 {
		t.Errorf("got %d syncs of files and %d of the folders that hold them, want 6 and 3, and fewer than 16 in all", files.Load(), folders.Load())
	}
}
