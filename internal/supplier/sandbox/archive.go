package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"unitask/internal/disk"
	"unitask/internal/supplier"
)

// archiveTime is how long a submission is kept.
const archiveTime = time.Hour

// archive keeps the jobs of submissions in a folder; without a folder it keeps no jobs. It is best effort: a
// supplier's memory of a submission is no promise of the service.
type archive struct{ dir string }

// keep writes the job down and removes those whose time is over.
func (a archive) keep(submitKey string, job supplier.Job) {
	raw, err := json.Marshal(job)
	if a.dir == "" || err != nil || os.MkdirAll(a.dir, 0o700) != nil {
		return
	}
	a.sweep(time.Now().Add(-archiveTime))
	name := a.name(submitKey)
	_ = os.Remove(name + ".new") // of a process that was killed
	if disk.WriteNew(name+".new", raw) == nil {
		_ = os.Rename(name+".new", name)
	}
}

func (a archive) find(submitKey string) (job supplier.Job, ok bool) {
	if a.dir == "" {
		return job, false
	}
	raw, err := os.ReadFile(a.name(submitKey))
	return job, err == nil && json.Unmarshal(raw, &job) == nil
}

func (a archive) sweep(before time.Time) {
	entries, _ := os.ReadDir(a.dir) // empty if it can't be read
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(a.dir, e.Name()))
		}
	}
}

func (a archive) name(submitKey string) string {
	sum := sha256.Sum256([]byte(submitKey))
	return filepath.Join(a.dir, hex.EncodeToString(sum[:16]))
}
