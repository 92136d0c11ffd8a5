package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"unitask/internal/artifact"
)

// ErrArchive is wrapped by every error about an archive that isn't whole, or isn't one.
var ErrArchive = errors.New("not a whole archive of unitask")

// ErrNoRoom is wrapped by the error about an archive that is larger than the room for it.
var ErrNoRoom = errors.New("there is no room for the archive's files")

// Terms say which archives are taken.
type Terms struct {
	Key      Key   // checks the seal
	Unsealed bool  // the seal, if there is one, isn't checked
	Room     int64 // bytes that all files together may have; 0: no limit
}

// Verify reads an archive to its end, packed by gzip or not, and compares it with its manifest and its seal.
func Verify(r io.Reader, terms Terms) (Manifest, error) {
	entries, err := read(r, nothing{}, terms)
	if err != nil {
		return Manifest{}, err
	}
	return entries.manifest, nil
}

// Unpack verifies an archive and writes its files below dir, an empty folder, each synced. Complete uploads among them
// count for their accounts again. Bytes written before an error must not be used.
func Unpack(ctx context.Context, r io.Reader, dir string, terms Terms) (Manifest, error) {
	entries, err := read(r, folder(dir), terms)
	if err != nil {
		return Manifest{}, err
	}
	if place := entries.manifest.Elsewhere; place != "" {
		if err := SetLocation(dir, place); err != nil {
			return Manifest{}, err
		}
	}
	if err := artifact.ShareUploads(ctx, filepath.Join(dir, ArtifactsName)); err != nil {
		return Manifest{}, err
	}
	return entries.manifest, syncTree(dir)
}

// sink takes the entries of an archive.
type sink interface {
	create(name string, size int64, at time.Time) (io.WriteCloser, error)
}

// read returns the reader that has read the whole archive.
func read(r io.Reader, to sink, terms Terms) (*reader, error) {
	in, err := unpacked(r)
	if err != nil {
		return nil, err
	}
	entries := &reader{tar: tar.NewReader(in), to: to, terms: terms, sum: sha256.New(), times: sha256.New()}
	if err := entries.all(); err != nil {
		return nil, err
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(in, maxPadding+1)); err != nil { // and gzip's own checksum
		return nil, damaged(err)
	} else if n > maxPadding {
		return nil, damaged(errors.New("it goes on after its end"))
	}
	return entries, nil
}

// maxPadding bounds the padding after the end of an archive, in bytes: tar fills its last block, 10 KiB as a rule.
const maxPadding = 1 << 20

// unpacked looks whether the archive is packed.
func unpacked(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	if head, err := in.Peek(2); err != nil || !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return in, nil //nolint:nilerr // whatever is wrong with it, the tar's reader says
	}
	unpack, err := gzip.NewReader(in)
	if err != nil {
		return nil, damaged(err)
	}
	return unpack, nil
}

func damaged(err error) error { return fmt.Errorf("%w: %w", ErrArchive, err) }

// reader reads the entries in their order: database, artifacts, manifest, seal.
type reader struct {
	tar      *tar.Reader
	to       sink
	terms    Terms
	sum      hash.Hash // as in Manifest.SHA256
	times    hash.Hash // over the times of the same entries
	manifest Manifest  // of the read entries; in the end, of the archive
	raw      []byte    // the manifest's own bytes
	parts    int64
}

func (r *reader) all() error {
	for n := 0; ; n++ {
		h, err := r.tar.Next()
		switch {
		case errors.Is(err, io.EOF):
			return damaged(errors.New("it has no manifest: it was cut short"))
		case err != nil:
			return damaged(err)
		case h.Typeflag != tar.TypeReg || h.Size < 0:
			return damaged(fmt.Errorf("%q is no file", h.Name))
		case sparse(h): // a header alone would write any number of zeros
			return damaged(fmt.Errorf("%q is a sparse file", h.Name))
		case n == 0 && h.Name != DatabaseName:
			return damaged(fmt.Errorf("it begins with %q", h.Name))
		case n > 0 && h.Name == manifestName:
			return r.finish(h.Size)
		case n > 0 && !validName(h.Name):
			return damaged(fmt.Errorf("%q doesn't belong into it", h.Name))
		}
		if err := r.entry(h); err != nil {
			return err
		}
	}
}

func validName(name string) bool {
	part, ok := strings.CutPrefix(name, ArtifactsName+"/")
	return ok && artifact.ValidPart(part)
}

// sparse reports a file with holes, which unitask never writes.
func sparse(h *tar.Header) bool {
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func (r *reader) entry(h *tar.Header) error {
	if left := r.terms.Room - r.manifest.Database - r.manifest.FileBytes; r.terms.Room > 0 && h.Size > left {
		return fmt.Errorf("%w: %q has %d bytes, and there is room for %d", ErrNoRoom, h.Name, h.Size, max(left, 0))
	}
	if h.Name == DatabaseName {
		r.manifest.Database = h.Size
	} else {
		r.manifest.FileBytes += h.Size
		r.parts++
	}
	describe(r.sum, h.Name, h.Size)
	describe(r.times, h.Name, h.ModTime.Unix())
	out, err := r.to.create(h.Name, h.Size, h.ModTime)
	if err != nil {
		return err
	}
	body := &source{Reader: io.TeeReader(r.tar, r.sum)}
	_, err = io.Copy(out, body)
	if err = errors.Join(err, out.Close()); err != nil && body.err != nil {
		return damaged(err)
	}
	return err
}

// source remembers whether reading failed, which says that the archive is to blame.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// finish compares the read entries with the manifest, and that with the seal.
func (r *reader) finish(size int64) (err error) {
	if r.raw, err = r.small(manifestName, size, maxManifest); err != nil {
		return err
	}
	var says Manifest
	if err := json.Unmarshal(r.raw, &says); err != nil {
		return damaged(err)
	}
	if says.Format != format {
		return fmt.Errorf("%w: its format is %d and this version knows %d", ErrArchive, says.Format, format)
	}
	if says.Elsewhere != "" {
		if err := checkLocation(says.Elsewhere); err != nil {
			return damaged(err)
		}
	}
	got := r.manifest
	got.Files, got.SHA256 = r.parts/2, hex.EncodeToString(r.sum.Sum(nil))
	if got.Database != says.Database || got.Files != says.Files || got.FileBytes != says.FileBytes || got.SHA256 != says.SHA256 {
		return damaged(errors.New("its files are not those that its manifest describes"))
	}
	r.manifest = says
	found, err := r.seal()
	if err != nil || r.terms.Unsealed {
		return err
	}
	return r.terms.Key.check(found, r.times, r.raw)
}

// seal reads the rest of the archive and returns its seal, nil without one.
func (r *reader) seal() (*seal, error) {
	h, err := r.tar.Next()
	if errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // said above
	}
	if err != nil {
		return nil, damaged(err)
	}
	if h.Name != sealName {
		return nil, damaged(errors.New("it goes on after its manifest"))
	}
	raw, err := r.small(sealName, h.Size, maxSeal)
	if err != nil {
		return nil, err
	}
	var found seal
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, damaged(err)
	}
	if _, err := r.tar.Next(); !errors.Is(err, io.EOF) {
		return nil, damaged(errors.New("it goes on after its seal"))
	}
	return &found, nil
}

// small reads an entry that is kept in memory.
func (r *reader) small(name string, size, most int64) ([]byte, error) {
	if size > most {
		return nil, damaged(errors.New(name + " is too long"))
	}
	raw, err := io.ReadAll(io.LimitReader(r.tar, most))
	if err != nil {
		return nil, damaged(err)
	}
	return raw, nil
}

// nothing discards entries.
type nothing struct{}

func (nothing) create(string, int64, time.Time) (io.WriteCloser, error) { return nothing{}, nil }
func (nothing) Write(p []byte) (int, error)                             { return len(p), nil }
func (nothing) Close() error                                            { return nil }

// folder writes entries as files that only this user may read.
type folder string

func (d folder) create(name string, _ int64, at time.Time) (io.WriteCloser, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &file{File: f, at: at}, nil
}

type file struct {
	*os.File
	at time.Time
}

// Close syncs the file and gives it its time, which a sweep of the artifact folder looks at.
func (f *file) Close() error {
	err := errors.Join(f.Sync(), f.File.Close())
	return errors.Join(err, os.Chtimes(f.Name(), time.Time{}, f.at))
}
