// Package journal remembers the submissions of this machine's client: each request with its Idempotency-Key is on
// disk before the first byte of it is sent, and goes when its task has ended. A client that is killed in between
// leaves an entry, with which another process finishes the same task.
//
// It sends no requests and knows no service. An entry is one file of its own in a folder that is the user's alone:
// its first line holds the submission, each later one a fact about it. Bytes of media that came from a file are not
// copied: their path and SHA-256 stand for them. The process that works on an entry holds a lock on its file, which
// ends with the process, however that ends; so any number of processes may use one folder. A file that can't be read
// is an error of that entry alone.
package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"unitask/internal/disk"
	"unitask/internal/task"
)

const (
	prefix    = "sub_"
	extension = ".jsonl"
)

// MaxAge is how long an entry is of use: the service keeps a key for 30 days after its task's last
// change, unless its operator chose otherwise; a key that it has forgotten would begin a second task.
const MaxAge = 29 * 24 * time.Hour

// Journal is a folder of entries. It is safe for concurrent use, also by several processes.
type Journal struct{ dir string }

// StateDir returns the folder of the client's state: UNITASK_STATE_DIR, else "unitask" in the user's
// state folder.
func StateDir() string {
	if dir := os.Getenv("UNITASK_STATE_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(xdg.StateHome, "unitask")
}

// Open returns the journal in a state folder. No file is made before the first Begin.
func Open(stateDir string) *Journal { return &Journal{dir: filepath.Join(stateDir, "journal")} }

// Begin writes a submission durably and returns its entry, locked. Entries past MaxAge go.
func (j *Journal) Begin(s Submission) (*Entry, error) {
	line, err := encode(s)
	if err != nil {
		return nil, err
	}
	if err := disk.MakeDir(j.dir); err != nil {
		return nil, err
	}
	if _, err := j.Sweep(time.Now()); err != nil {
		return nil, err
	}
	e := &Entry{Submission: s}
	if err := j.create(e); err != nil {
		return nil, err
	}
	_, err = e.file.Write(line)
	if err = errors.Join(err, e.file.Sync(), disk.SyncDir(j.dir)); err != nil {
		return nil, errors.Join(err, e.Erase())
	}
	return e, nil
}

// create makes the entry's file and locks it. Whoever looks for leftovers may be faster, and takes
// the empty file away: then it gets another name.
func (j *Journal) create(e *Entry) error {
	for {
		e.ID = task.NewID(prefix, time.Now())
		f, err := os.OpenFile(j.Path(e.ID), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		err = disk.LockNamed(f)
		if err == nil {
			e.file = f
			return nil
		}
		if err = errors.Join(err, f.Close()); !errors.Is(err, ErrBusy) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// List returns the ids of all entries, sorted by the millisecond of their beginning, those of live
// processes included.
func (j *Journal) List() ([]string, error) {
	names, err := j.names(prefix)
	var ids []string
	for _, name := range names {
		if id := strings.TrimSuffix(name, extension); task.ValidID(prefix, id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// names returns the files that begin so, sorted; empty without a folder.
func (j *Journal) names(prefix string) ([]string, error) {
	found, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, one := range found {
		if name := one.Name(); strings.HasPrefix(name, prefix) && strings.HasSuffix(name, extension) {
			names = append(names, name)
		}
	}
	return names, err
}

// ErrBusy reports that a live process works on the entry.
var ErrBusy = disk.ErrLocked

// Take locks an entry and reads it. It returns ErrBusy for one of a live process, fs.ErrNotExist for one that has
// gone, ErrUnsent for one that was never whole, which goes now, and *DamagedError for a file that isn't an entry,
// which stays.
func (j *Journal) Take(id string) (*Entry, error) {
	if !task.ValidID(prefix, id) {
		return nil, fs.ErrNotExist
	}
	f, err := disk.OpenLocked(j.Path(id))
	if err != nil {
		return nil, err
	}
	e, err := read(f)
	if errors.Is(err, ErrUnsent) {
		return nil, errors.Join(err, disk.RemoveLocked(f))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	e.ID, e.file = id, f
	return e, nil
}

// Forget deletes an entry, a damaged one too. It returns ErrBusy for one of a live process; one that has gone is no error.
func (j *Journal) Forget(id string) error {
	f, err := disk.OpenLocked(j.Path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return disk.RemoveLocked(f)
}

// Peek reads an entry without its lock, to look at another process's entry. The result is for reading only.
func (j *Journal) Peek(id string) (*Entry, error) {
	f, err := os.Open(j.Path(id))
	if err != nil {
		return nil, err
	}
	e, err := read(f)
	if e != nil {
		e.ID = id
	}
	return e, errors.Join(err, f.Close())
}

// Sweep deletes the entries and batches past MaxAge and returns how many those were.
func (j *Journal) Sweep(now time.Time) (int, error) {
	names, err := j.names("")
	gone := 0
	for _, name := range names {
		path := filepath.Join(j.dir, name)
		info, statErr := os.Stat(path)
		if statErr != nil || now.Sub(info.ModTime()) < MaxAge {
			continue // gone already, or young
		}
		f, lockErr := disk.OpenLocked(path)
		if lockErr != nil {
			continue // a live process works on it
		}
		err = errors.Join(err, disk.RemoveLocked(f))
		gone++
	}
	return gone, err
}

// Path returns an entry's file.
func (j *Journal) Path(id string) string { return filepath.Join(j.dir, id+extension) }
