// Package backup writes a data folder into one archive and puts one back.
//
// An archive is a tar: the database as it stood between two commits, then each file of the artifact folder, then the
// manifest. Its order makes it whole: a task that the database calls done was done before the image was taken, so its
// files are there when they are copied; removals are put off until then. Results of tasks that end meanwhile may be
// among the files, without a row that leads to them. The manifest comes last because its checksums do: an archive
// that was cut short has no seal.
//
// Whoever may write to an archive can make the checksums anew. Seal therefore adds one more entry that
// only the holder of the operator's key can make. An archive's sizes are held against the room before a
// byte is written.
//
// The package knows the content of an archive and its checks. The command that restores decides how the store goes
// on.
package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"unitask/internal/artifact"
)

// The names within an archive and a data folder.
const (
	DatabaseName  = "unitask.db"
	ArtifactsName = "artifacts"
	manifestName  = "manifest.json"
)

const (
	format      = 1
	maxManifest = 16 << 20 // bytes: ids of damaged files make it long
)

// Manifest describes an archive.
type Manifest struct {
	Format    int       `json:"format"`
	Program   string    `json:"program"` // the version that wrote it
	CreatedAt time.Time `json:"created_at"`
	Database  int64     `json:"database_bytes"`
	Files     int64     `json:"files"` // results and inputs, each two entries
	FileBytes int64     `json:"file_bytes"`
	SHA256    string    `json:"sha256"`            // over the name, size and bytes of every entry before this one
	Damaged   []string  `json:"damaged,omitempty"` // ids of files that were not as they should be, and are left out
	// Elsewhere is the object store that the artifacts are in; the archive has none of them then.
	Elsewhere string `json:"artifacts_elsewhere,omitempty"`
}

// Database gives consistent images of itself: boltstore does, at work and at rest.
type Database interface {
	Image(ctx context.Context) (io.ReadCloser, int64, error)
}

// Source is the input of Write.
type Source struct {
	Database Database
	Files    *artifact.Folder // nil with Elsewhere
	Program  string
	Now      func() time.Time
	// Elsewhere is the object store that the artifacts are in, "" if they are in Files.
	Elsewhere string
}

// Write writes an archive and returns its manifest. Tasks go on meanwhile.
func Write(ctx context.Context, w io.Writer, s Source) (m Manifest, err error) {
	if s.Files != nil {
		resume := s.Files.Pause() // before the image: files that it names must not go before they are copied
		defer func() { err = errors.Join(err, resume()) }()
	}
	image, size, err := s.Database.Image(ctx)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, image.Close()) }()
	m = Manifest{Format: format, Program: s.Program, CreatedAt: s.Now().UTC().Truncate(time.Millisecond), Database: size, Elsewhere: s.Elsewhere}
	out := &writer{tar: tar.NewWriter(w), sum: sha256.New(), at: m.CreatedAt}
	if err := out.add(DatabaseName, size, m.CreatedAt, image); err != nil {
		return m, err
	}
	if s.Files != nil {
		if err := out.files(ctx, s.Files, &m); err != nil {
			return m, err
		}
	}
	m.SHA256 = hex.EncodeToString(out.sum.Sum(nil))
	return m, out.finish(m)
}

// writer writes entries and hashes them on the way.
type writer struct {
	tar *tar.Writer
	sum hash.Hash
	at  time.Time
}

// files adds every file of the folder.
func (w *writer) files(ctx context.Context, folder *artifact.Folder, m *Manifest) error {
	err := folder.Walk(ctx, func(p artifact.Part, open func() (io.ReadCloser, error)) error {
		body, err := open()
		if err != nil {
			return err
		}
		m.FileBytes += p.Bytes
		m.Files++
		return errors.Join(w.add(ArtifactsName+"/"+p.Name, p.Bytes, p.ModTime, body), body.Close())
	}, func(id string) { m.Damaged = append(m.Damaged, id) })
	m.Files /= 2
	return err
}

func (w *writer) add(name string, size int64, at time.Time, body io.Reader) error {
	if err := w.header(name, size, at); err != nil {
		return err
	}
	describe(w.sum, name, size)
	_, err := io.Copy(io.MultiWriter(w.tar, w.sum), io.LimitReader(body, size))
	return err
}

func (w *writer) header(name string, size int64, at time.Time) error {
	return w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: at.Truncate(time.Second), Format: tar.FormatPAX,
	})
}

// finish writes the manifest and the end of the archive.
func (w *writer) finish(m Manifest) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := w.header(manifestName, int64(len(raw)), w.at); err != nil {
		return err
	}
	if _, err := w.tar.Write(raw); err != nil {
		return err
	}
	return w.tar.Close()
}

// describe hashes an entry's properties, so that no two lists of entries have one sum.
func describe(sum hash.Hash, name string, size int64) { _, _ = fmt.Fprintf(sum, "%s %d\n", name, size) }
