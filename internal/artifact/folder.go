package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"unitask/internal/disk"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// FolderConfig configures a Folder.
type FolderConfig struct {
	Dir string           // made if it is missing; belongs to this store alone
	Now func() time.Time // nil: time.Now
}

// Folder is the Store of one node, in a folder of its own:
//
//	<dir>/art/k3/art_…k3        the bytes
//	<dir>/art/k3/art_…k3.json   the Meta; the object is complete when this is there
//	<dir>/in/…                  the same for private inputs
//	<dir>/uploads/OWNER/…       an empty file for each share that an owner's uploads take, which its name describes
//	<dir>/…/k3/.tmp-…           a Put under way
//
// The shard is the id's last two characters, which are random. The Meta is renamed into place after
// the bytes and removed before them, so at no moment does one stand for bytes that aren't there.
// Its modification time is the object's expiry, which lets a walk pass by without reading it.
type Folder struct {
	dir     string
	spooler Spooler
	mu      sync.Mutex // held while an object becomes complete or is removed

	pauses int                 // under mu: while it isn't 0, no file is removed
	later  map[string]struct{} // under mu: ids to delete when the last pause ends

	agenda  agenda // under mu
	sweeper sweeper
}

var _ Store = (*Folder)(nil)

// TempPrefix begins the names of the temporary files that a Spooler makes.
const TempPrefix = ".tmp-"

const (
	metaSuffix = ".json"
	inputDir   = "in"
	resultDir  = "art"
)

// NewFolder opens the folder, and makes it with access for its user alone.
func NewFolder(c FolderConfig) (*Folder, error) {
	if c.Dir == "" {
		return nil, errors.New("artifact: Dir is required")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	for _, sub := range []string{resultDir, inputDir} {
		if err := makeDir(filepath.Join(c.Dir, sub)); err != nil {
			return nil, fmt.Errorf("artifact folder: %w", err)
		}
	}
	return &Folder{
		dir: c.Dir, spooler: Spooler{Now: c.Now}, later: map[string]struct{}{}, agenda: agenda{most: mostDue}, sweeper: sweeper{part: walkPart},
	}, nil
}

// Open implements Store.
func (f *Folder) Open(ctx context.Context, id string) (Meta, io.ReadSeekCloser, error) {
	// The bytes first: once they are open, a Delete can't take them away between the two.
	if err := ctx.Err(); err != nil {
		return Meta{}, nil, err
	}
	if !ValidID(id) {
		return Meta{}, nil, NotFound()
	}
	file, err := os.Open(f.path(id))
	if err != nil {
		return Meta{}, nil, readFault(err)
	}
	m, err := f.settled(id)
	if info, wrong := file.Stat(); err == nil && (wrong != nil || info.Size() != m.Bytes) {
		err = NotFound() // the Meta is of bytes that were kept after these were deleted
	}
	if err != nil {
		_ = file.Close()
		return Meta{}, nil, err
	}
	return m, file, nil
}

// Stat implements Store.
func (f *Folder) Stat(ctx context.Context, id string) (Meta, error) {
	if err := ctx.Err(); err != nil {
		return Meta{}, err
	}
	if !ValidID(id) {
		return Meta{}, NotFound()
	}
	return f.settled(id)
}

// settled is stat for an object that may be deleted and kept anew meanwhile, so that its Meta and its bytes don't belong
// together at that moment.
func (f *Folder) settled(id string) (Meta, error) {
	if f.leaving(id) {
		return Meta{}, NotFound()
	}
	m, err := f.stat(id)
	if errors.Is(err, ErrDamaged) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.stat(id)
	}
	return m, err
}

// Delete implements Store.
func (f *Folder) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !ValidID(id) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pauses > 0 {
		f.later[id] = struct{}{}
		return nil
	}
	return f.removeLocked(id)
}

// removeLocked removes the Meta, then the bytes. A crash between leaves bytes that no id leads to, for a later sweep;
// a crash before both removals are on disk leaves the object as it was.
func (f *Folder) removeLocked(id string) error {
	for _, path := range []string{f.path(id) + metaSuffix, f.path(id)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.Internal, err, "an artifact could not be deleted")
		}
	}
	return nil
}

// Room implements Store.
func (f *Folder) Room() (int64, error) { return disk.Free(f.dir) }

// Close implements Store. A folder keeps no file open.
func (f *Folder) Close() error { return nil }

// path is the file of a valid id's bytes.
func (f *Folder) path(id string) string {
	sub := resultDir
	if isInput(id) {
		sub = inputDir
	}
	return filepath.Join(f.dir, sub, id[len(id)-2:], id)
}

// stat returns the Meta of an object whose bytes are there in full.
func (f *Folder) stat(id string) (Meta, error) {
	m, err := f.readMeta(id)
	if err == nil {
		err = f.inFull(m)
	}
	if err != nil {
		return Meta{}, err
	}
	return m, nil
}

// inFull returns the fault of an object whose bytes aren't there in full.
func (f *Folder) inFull(m Meta) error {
	info, err := os.Stat(f.path(m.ID))
	switch {
	case err != nil:
		return readFault(err)
	case info.Size() != m.Bytes:
		return damaged(m.ID, fmt.Errorf("it has %d bytes, not %d", info.Size(), m.Bytes))
	default:
		return nil
	}
}

func (f *Folder) readMeta(id string) (Meta, error) {
	raw, err := os.ReadFile(f.path(id) + metaSuffix)
	if err != nil {
		return Meta{}, readFault(err)
	}
	m, err := DecodeMeta(raw)
	if err == nil && m.ID != id {
		err = errors.New("it describes another id")
	}
	if err != nil {
		return Meta{}, damaged(id, err)
	}
	return m, nil
}

// DecodeMeta reads a Meta and refuses one that no Put wrote.
func DecodeMeta(raw []byte) (Meta, error) {
	var m Meta
	if err := json.Unmarshal(raw, &m); err != nil {
		return Meta{}, err
	}
	var hash task.Hash
	err := hash.UnmarshalText([]byte(m.SHA256))
	switch {
	case !ValidID(m.ID), m.Owner == "", m.CreatedAt.IsZero():
		return Meta{}, errors.New("id, owner or time is missing")
	case err != nil || hash.String() != m.SHA256:
		return Meta{}, errors.New("its SHA-256 is malformed")
	case m.Bytes <= 0, m.Width < 0, m.Height < 0, m.Duration < 0:
		return Meta{}, errors.New("a size is out of range")
	case !m.mayBe(m.ContentType):
		return Meta{}, errors.New("its content type is not allowed")
	}
	return m, nil
}

// mayBe reports whether the object may have the content type.
func (m Meta) mayBe(kind string) bool {
	switch kind {
	case typePDF:
		return isInput(m.ID) || m.Upload
	case typeRaw:
		return isInput(m.ID)
	default:
		return known(kind)
	}
}

func damaged(id string, cause error) *fault.Error {
	return fault.Wrap(fault.Internal, fmt.Errorf("%s is %w: %w", id, ErrDamaged, cause), "an artifact can't be read")
}

func readFault(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return NotFound()
	}
	return fault.Wrap(fault.Internal, fmt.Errorf("%w: %w", ErrDisk, err), "an artifact can't be read")
}
