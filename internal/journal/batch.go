package journal

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/disk"
)

const (
	batchPrefix = "batch_"
	nameLength  = 32 // of a batch, in hexadecimal digits
)

// Batch remembers which of many requests that were started together are done, and gives each a key of
// its own: the same one when the batch is started again. It is locked by this process until Close or
// Erase, and used by one goroutine.
type Batch struct {
	BatchInfo
	Fresh bool // no earlier process began it
	seed  string
	done  map[int]bool
	file  *os.File
}

// BatchInfo says how far a batch is.
type BatchInfo struct {
	Command string // that begins it again
	All     int
	Done    int
}

// batchRecord is the first line of a batch.
type batchRecord struct {
	Version int    `json:"version"`
	Seed    string `json:"seed"`
	Command string `json:"command"`
	All     int    `json:"all"`
}

// batchNote is each later line.
type batchNote struct {
	Done *int `json:"done"`
}

// BatchName returns the name of the batch that these texts stand for: the requests and whatever makes
// another batch of the same ones.
func BatchName(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		_, _ = io.WriteString(h, strconv.Itoa(len(text))+":"+text) // never fails, by its documentation
	}
	return hex.EncodeToString(h.Sum(nil))[:nameLength]
}

// Batch opens the batch of a name, or begins it durably. It returns ErrBusy if a live process has it, and
// *DamagedError for a file that isn't one.
func (j *Journal) Batch(name, command string, all int) (*Batch, error) {
	if err := disk.MakeDir(j.dir); err != nil {
		return nil, err
	}
	path := filepath.Join(j.dir, batchPrefix+name+extension)
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		err = disk.LockNamed(f)
		if errors.Is(err, fs.ErrNotExist) { // another process has just ended it
			_ = f.Close()
			continue
		}
		b := &Batch{BatchInfo: BatchInfo{Command: command, All: all}, file: f}
		if err == nil {
			err = b.open(j.dir)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return b, nil
	}
}

func (b *Batch) open(dir string) error {
	raw, err := io.ReadAll(io.LimitReader(b.file, maxEntry))
	if err != nil {
		return err
	}
	if bytes.Contains(raw, []byte("\n")) {
		return b.decode(raw)
	}
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails, by its documentation
	b.Fresh, b.seed, b.done = true, hex.EncodeToString(seed[:]), map[int]bool{}
	first, err := line(batchRecord{Version: version, Seed: b.seed, Command: b.Command, All: b.All})
	if err != nil {
		return err
	}
	if err := b.file.Truncate(0); err != nil { // of one that was never finished
		return err
	}
	_, err = b.file.Write(first)
	return errors.Join(err, b.file.Sync(), disk.SyncDir(dir))
}

func (b *Batch) decode(raw []byte) error {
	first, rest, _ := bytes.Cut(raw, []byte("\n"))
	var r batchRecord
	if err := strictly(first, &r); err != nil || r.Version != version || r.Seed == "" || r.All < 1 {
		return &DamagedError{errors.New("the first line of a batch can't be read")}
	}
	b.seed, b.Command, b.All, b.done = r.Seed, r.Command, r.All, map[int]bool{}
	for part := range bytes.SplitSeq(rest, []byte("\n")) {
		var n batchNote
		if strictly(part, &n) == nil && n.Done != nil && *n.Done >= 0 && *n.Done < b.All {
			b.done[*n.Done] = true
		}
	}
	b.Done = len(b.done)
	return nil
}

// Key returns the Idempotency-Key of a request, counted from 0.
func (b *Batch) Key(n int) string {
	sum := sha256.Sum256([]byte(b.seed + "/" + strconv.Itoa(n)))
	return hex.EncodeToString(sum[:16])
}

// IsDone reports whether a request's result was shown.
func (b *Batch) IsDone(n int) bool { return b.done[n] }

// SetDone notes that a request's result was shown. It isn't synced: a lost line is shown again.
func (b *Batch) SetDone(n int) error {
	noted, err := line(batchNote{Done: &n})
	if err != nil {
		return err
	}
	if _, err := b.file.Write(append([]byte("\n"), noted...)); err != nil {
		return err
	}
	b.done[n] = true
	b.Done = len(b.done)
	return nil
}

// Erase deletes the batch: it is complete.
func (b *Batch) Erase() error { return disk.RemoveLocked(b.file) }

// Close gives up the lock and keeps the batch for another process.
func (b *Batch) Close() error { return b.file.Close() }

// Batches says how far those batches are that no live process has, sorted by their commands.
func (j *Journal) Batches() ([]BatchInfo, error) {
	names, err := j.names(batchPrefix)
	var all []BatchInfo
	for _, name := range names {
		f, openErr := disk.OpenLocked(filepath.Join(j.dir, name))
		if openErr != nil {
			continue // gone, or a live process has it
		}
		raw, readErr := io.ReadAll(io.LimitReader(f, maxEntry))
		var b Batch
		if readErr == nil && b.decode(raw) == nil {
			all = append(all, b.BatchInfo)
		}
		err = errors.Join(err, readErr, f.Close())
	}
	slices.SortFunc(all, func(a, b BatchInfo) int { return strings.Compare(a.Command, b.Command) })
	return all, err
}
