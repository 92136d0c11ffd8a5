package artifact

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"unitask/internal/fault"
)

// Share is the part of its owner's quota that an upload takes.
type Share struct {
	ID    string // of the upload
	Bytes int64
	Until time.Time // when it ends by itself, in milliseconds
}

// Shares keeps who takes which part of a quota. Both kinds of Store implement it, so that the nodes which share a store
// share the quotas. An owner is two names with a slash between. Implementations are safe for concurrent use.
type Shares interface {
	// TakeShare records a share durably; the same one again is no error.
	TakeShare(ctx context.Context, owner string, s Share) error
	// SharesOf returns the shares of an owner, also those that are over and not removed yet, and all that were taken
	// before it was called.
	SharesOf(ctx context.Context, owner string) ([]Share, error)
	// GiveShare removes a share; one that isn't there is no error.
	GiveShare(ctx context.Context, owner string, s Share) error
}

// sharesFolder is the folder of the shares.
const sharesFolder = "uploads"

const shareLayout = "20060102T150405.000Z" // sorts as the times do

// Name returns the share as the name of a file.
func (s Share) Name() string {
	return s.Until.UTC().Format(shareLayout) + "-" + strconv.FormatInt(s.Bytes, 10) + "-" + s.ID
}

// ParseShare reads what Name returned; false for any other name.
func ParseShare(name string) (s Share, ok bool) {
	until, rest, _ := strings.Cut(name, "-")
	bytes, id, _ := strings.Cut(rest, "-")
	var err, wrong error
	s.ID = id
	s.Until, err = time.Parse(shareLayout, until)
	s.Bytes, wrong = strconv.ParseInt(bytes, 10, 64)
	return s, err == nil && wrong == nil && s.Bytes > 0 && ValidID(id)
}

var _ Shares = (*Folder)(nil)

// shares is the folder of an owner's shares; an owner who isn't two plain names has none.
func (f *Folder) shares(owner string) (string, error) {
	account, mode, _ := strings.Cut(owner, "/")
	if !fs.ValidPath(owner) || account == "." || mode == "" || strings.Contains(mode, "/") {
		return "", errors.New("artifact: an owner of shares is an account and a mode")
	}
	return filepath.Join(f.dir, sharesFolder, account, mode), nil
}

// TakeShare implements Shares.
func (f *Folder) TakeShare(_ context.Context, owner string, s Share) error {
	dir, err := f.shares(owner)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, s.Name()), nil, 0o600)
	}
	if err != nil {
		return writeFault(err)
	}
	return nil
}

// SharesOf implements Shares.
func (f *Folder) SharesOf(_ context.Context, owner string) (all []Share, _ error) {
	dir, err := f.shares(owner)
	if err != nil {
		return nil, writeFault(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, writeFault(err)
	}
	for _, entry := range entries {
		if s, ok := ParseShare(entry.Name()); ok {
			all = append(all, s)
		}
	}
	return all, nil
}

// GiveShare implements Shares.
func (f *Folder) GiveShare(_ context.Context, owner string, s Share) error {
	dir, err := f.shares(owner)
	if err == nil {
		err = os.Remove(filepath.Join(dir, s.Name()))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeFault(err)
	}
	return nil
}

// ShareUploads takes the shares of all complete uploads in the folder of a store that isn't open, such as one that a
// backup was unpacked into: Walk leaves the shares out.
func ShareUploads(ctx context.Context, dir string) error {
	f := &Folder{dir: dir}
	return f.Each(ctx, func(m Meta, err error) error {
		if _, foreign := f.shares(m.Owner); err != nil || !m.Upload || foreign != nil {
			return nil //nolint:nilerr // an object that can't be read is no upload
		}
		return f.TakeShare(ctx, m.Owner, Share{ID: m.ID, Bytes: m.Bytes, Until: m.ExpiresAt})
	})
}

// endShares removes the shares of all owners whose time is over.
func (f *Folder) endShares(now time.Time) error {
	files, err := filepath.Glob(filepath.Join(f.dir, sharesFolder, "*", "*", "*"))
	for _, file := range files {
		if s, ok := ParseShare(filepath.Base(file)); ok && !now.Before(s.Until) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Internal, err, "what old uploads take could not be removed")
	}
	return nil
}
