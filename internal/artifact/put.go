package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"unitask/internal/disk"
	"unitask/internal/fault"
)

// Put implements Store: the bytes are spooled beside their place, hashed on the way, synced, judged
// and measured, and then made complete in one step.
func (f *Folder) Put(ctx context.Context, r PutRequest) (Meta, error) {
	if !validID(r.ID) || r.Owner == "" || r.Limit <= 0 {
		return Meta{}, errors.New("artifact: a Put needs a valid id, an owner and a limit")
	}
	dir := filepath.Dir(f.path(r.ID))
	if err := makeDir(dir); err != nil {
		return Meta{}, writeFault(err)
	}
	temp, err := os.CreateTemp(dir, tempPrefix)
	if err != nil {
		return Meta{}, writeFault(err)
	}
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name()) // renamed by now after success
	}()
	m, err := f.spool(ctx, temp, r)
	if err != nil {
		return Meta{}, err
	}
	return f.complete(temp, m)
}

// spool writes the body to temp, syncs it, and returns its Meta.
func (f *Folder) spool(ctx context.Context, temp *os.File, r PutRequest) (Meta, error) {
	sum := sha256.New()
	var bodyErr error // the body's own error, told from the disk's
	n, err := io.Copy(io.MultiWriter(f.out.Writer(temp), sum), io.LimitReader(readerFunc(func(p []byte) (n int, err error) {
		if err = ctx.Err(); err == nil {
			n, err = r.Body.Read(p)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			bodyErr = err
		}
		return n, err
	}), min(r.Limit, math.MaxInt64-1)+1))
	switch {
	case bodyErr != nil:
		return Meta{}, bodyFault(ctx, r.Source, bodyErr)
	case err != nil:
		return Meta{}, writeFault(err)
	case n > r.Limit:
		return Meta{}, r.Source.TooLarge(r.Limit)
	case n == 0:
		return Meta{}, r.Source.bad("is empty", nil)
	}
	kind, err := judge(temp, r)
	if err != nil {
		return Meta{}, err
	}
	if err := temp.Sync(); err != nil {
		return Meta{}, writeFault(err)
	}
	m := Meta{
		ID: r.ID, Owner: r.Owner, Capability: r.Capability, ContentType: kind, Bytes: n,
		SHA256: hex.EncodeToString(sum.Sum(nil)), CreatedAt: f.now().UTC().Truncate(time.Millisecond),
	}
	if r.TTL > 0 {
		m.ExpiresAt = m.CreatedAt.Add(r.TTL)
	}
	m.Width, m.Height, m.Duration = measure(temp, n, kind)
	return m, nil
}

// judge returns the content type of the spooled bytes, or Source's fault if it isn't allowed.
func judge(temp io.ReaderAt, r PutRequest) (string, error) {
	head := make([]byte, SniffLen)
	n, err := temp.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", writeFault(err)
	}
	head = head[:n]
	if kind := textKind(r.ContentType); kind != "" && isInput(r.ID) {
		if !isText(head) {
			return "", r.Source.bad("is not text in UTF-8", nil)
		}
		return kind, nil
	}
	kind := Sniff(head)
	if kind == "" {
		return "", r.Source.bad("is of no supported content type", nil)
	}
	if family, _, _ := strings.Cut(kind, "/"); r.Kinds != nil && !slices.Contains(r.Kinds, family) {
		return "", r.Source.bad("is of another kind than was asked for", nil)
	}
	return kind, nil
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
	first, err := f.stat(m.ID)
	switch {
	case err == nil && first.SHA256 == m.SHA256:
		return first, nil
	case err == nil:
		return first, ErrExists
	case fault.CodeOf(err) != fault.NotFound && !errors.Is(err, errDamaged):
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
	file, err := os.CreateTemp(dir, tempPrefix)
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

// readerFunc is an io.Reader by one function.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// bodyFault leaves an error that has a code, as a Fetcher's, and the end of the context as they are.
func bodyFault(ctx context.Context, s Source, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || ctx.Err() != nil {
		return err
	}
	return s.bad("could not be read", err)
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
