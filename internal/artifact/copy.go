package artifact

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"unitask/internal/fault"
)

// Pause puts off every removal, expiry included, until resume is called: whoever copies the folder finds all that was
// there at this moment. What is deleted meanwhile is gone for readers at once, and its id can't be kept anew until then.
// Pauses may overlap. Files that a crash keeps from being removed are removed when they expire.
func (f *Folder) Pause() (resume func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pauses++
	return func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.pauses--; f.pauses > 0 {
			return nil
		}
		var failed []error
		for id := range f.later {
			failed = append(failed, f.removeLocked(id))
		}
		clear(f.later)
		return errors.Join(failed...)
	}
}

// leaving reports whether the object is deleted as soon as no pause holds it.
func (f *Folder) leaving(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.later[id]
	return ok
}

// errLeaving is the refusal to keep an object under the id of one that is leaving, whose files a copy may be reading.
var errLeaving = fault.New(fault.CapacityExhausted, "what was deleted can't be kept again while a backup is taken").WithRetryAfter(10 * time.Second)

// Part is one of an object's two files, by its name below the folder: its bytes, or its Meta.
type Part struct {
	Name    string // with slashes
	Bytes   int64
	ModTime time.Time
}

// Walk calls visit with each file of every complete object: the bytes, then the Meta, which completes a copy in this
// order. damaged is called with the ids of objects that aren't as their Put left them. open opens the part.
func (f *Folder) Walk(ctx context.Context, visit func(p Part, open func() (io.ReadCloser, error)) error, damaged func(id string)) error {
	return f.Each(ctx, func(m Meta, err error) error {
		switch {
		case errors.Is(err, ErrDamaged), fault.CodeOf(err) == fault.NotFound:
			damaged(m.ID)
			return nil
		case err != nil:
			return err
		}
		for _, file := range []string{f.path(m.ID), f.path(m.ID) + metaSuffix} {
			if err := f.visit(file, visit); err != nil {
				return err
			}
		}
		return nil
	})
}

// Each calls visit with the Meta of every object that has one, expired or not, and with the fault of one that isn't as
// its Put left it: NOT_FOUND without its bytes. Of a Meta that can't be read there is the id alone.
func (f *Folder) Each(ctx context.Context, visit func(m Meta, err error) error) error {
	metas, err := filepath.Glob(filepath.Join(f.dir, "*", "??", "*"+metaSuffix))
	if err != nil {
		return err
	}
	for _, meta := range metas {
		id := filepath.Base(meta[:len(meta)-len(metaSuffix)])
		if err := ctx.Err(); err != nil {
			return err
		}
		if !ValidID(id) {
			continue
		}
		m, err := f.readMeta(id)
		if m.ID = id; err == nil {
			err = f.inFull(m)
		}
		if err := visit(m, err); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) visit(file string, visit func(p Part, open func() (io.ReadCloser, error)) error) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(f.dir, file)
	if err != nil {
		return err
	}
	part := Part{Name: filepath.ToSlash(name), Bytes: info.Size(), ModTime: info.ModTime()}
	return visit(part, func() (io.ReadCloser, error) { return os.Open(file) })
}

// ValidPart reports whether a name is one that Walk gives.
func ValidPart(name string) bool {
	dir, file := path.Split(name)
	id := file
	if path.Ext(file) == metaSuffix {
		id = file[:len(file)-len(metaSuffix)]
	}
	if !ValidID(id) {
		return false
	}
	sub := resultDir
	if isInput(id) {
		sub = inputDir
	}
	return dir == path.Join(sub, id[len(id)-2:])+"/"
}
