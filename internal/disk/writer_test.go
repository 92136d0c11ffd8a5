package disk_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"unitask/internal/disk"
)

// TestTurns: files that take turns with their pieces hold the written bytes, however they were cut.
func TestTurns(t *testing.T) {
	var turns disk.Turns
	dir := t.TempDir()
	var all sync.WaitGroup
	for n, cut := range []int{1000, 256 << 10, 700_000, 3 << 20} {
		all.Go(func() {
			want := bytes.Repeat([]byte{byte(n), 1, 2, 3, 4, 5, 6}, 300_000)
			f, err := os.Create(filepath.Join(dir, string(rune('a'+n))))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = f.Close() }()
			w := turns.Writer(f)
			for rest := want; len(rest) > 0; rest = rest[min(cut, len(rest)):] {
				if wrote, err := w.Write(rest[:min(cut, len(rest))]); err != nil || wrote != min(cut, len(rest)) {
					t.Errorf("in cuts of %d: %d, %v", cut, wrote, err)
				}
			}
			if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("in cuts of %d: %d bytes, want %d; %v", cut, len(got), len(want), err)
			}
		})
	}
	all.Wait()
}
