package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"unitask/internal/disk"
	"unitask/internal/fault"
)

// Put implements Store: the bytes are spooled beside their place, hashed on the way, judged, measured and synced, and
// then made complete in one step.
func (f *Folder) Put(ctx context.Context, r PutRequest) (Meta, error) {
	if err := r.check(); err != nil {
		return Meta{}, err
	}
	if f.leaving(r.ID) {
		return Meta{}, errLeaving
	}
	dir := filepath.Dir(f.path(r.ID))
	if err := makeDir(dir); err != nil {
		return Meta{}, writeFault(err)
	}
	spooled, err := f.spooler.Spool(ctx, dir, r)
	if err != nil {
		return Meta{}, err
	}
	defer spooled.Remove() // renamed by now after success
	if err := spooled.File.Sync(); err != nil {
		return Meta{}, writeFault(err)
	}
	return f.complete(spooled.File, spooled.Meta)
}

// complete gives the spooled bytes their name and their Meta, unless the id is complete already.
func (f *Folder) complete(temp *os.File, m Meta) (Meta, error) {
	path := f.path(m.ID)
	meta, err := writeMeta(filepath.Dir(path), m)
	if err != nil {
		return Meta{}, writeFault(err)
	}
	defer func() { _ = os.Remove(meta) }()
	if err := temp.Close(); err != nil {
		return Meta{}, writeFault(err)
	}
	kept, err := f.renameBoth(temp.Name(), meta, path, m)
	if err != nil {
		return kept, err
	}
	// Also if another Put was first: it may not have come this far yet.
	if err := disk.SyncDir(filepath.Dir(path)); err != nil {
		return Meta{}, writeFault(err)
	}
	return kept, nil
}

func (f *Folder) renameBoth(bytes, meta, path string, m Meta) (Meta, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, leaving := f.later[m.ID]; leaving {
		return Meta{}, errLeaving
	}
	first, err := f.stat(m.ID)
	switch {
	case err == nil && first.SHA256 == m.SHA256:
		return first, nil
	case err == nil:
		return first, ErrExists
	case fault.CodeOf(err) != fault.NotFound && !errors.Is(err, ErrDamaged):
		return Meta{}, err
	}
	if err := os.Rename(bytes, path); err != nil {
		return Meta{}, writeFault(err)
	}
	if err := os.Rename(meta, path+metaSuffix); err != nil {
		return Meta{}, writeFault(err)
	}
	f.agenda.add(m)
	return m, nil
}

// writeMeta writes and syncs the Meta under a temporary name, with the expiry as its time.
func writeMeta(dir string, m Meta) (name string, err error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, TempPrefix)
	if err != nil {
		return "", err
	}
	_, err = file.Write(raw)
	if err == nil && !m.ExpiresAt.IsZero() {
		err = os.Chtimes(file.Name(), time.Time{}, m.ExpiresAt)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// writeFault is the fault for an error of the disk.
func writeFault(err error) *fault.Error {
	if isFull(err) {
		return fault.Wrap(fault.CapacityExhausted, err, "the service has no room for more data at the moment")
	}
	return fault.Wrap(fault.Internal, fmt.Errorf("%w: %w", ErrDisk, err), "an artifact could not be kept")
}

// makeDir makes a folder for this user alone, and makes its name durable.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(dir))
}
