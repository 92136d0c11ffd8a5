package boltstore

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
)

var (
	errGap     = errors.New("boltstore: groups of the log are missing: the files of the store don't belong together")
	errDamaged = errors.New("boltstore: the log is damaged before its newest group")
	errForeign = errors.New("boltstore: the log is another store's: put it back beside its own, or away")
)

// group is one that was read back.
type group struct {
	seq  uint64
	rows []byte
}

// readWAL returns the groups after the given one, in order. What was torn off at the end was never
// acknowledged; a gap, or damage before the newest group, is an error.
func readWAL(path string, id identity, after uint64) ([]group, error) {
	var groups []group
	for _, name := range walPaths(path) {
		found, err := readWALFile(name, id, after)
		if err != nil {
			return nil, fmt.Errorf("%w (%s)", err, name)
		}
		groups = append(groups, found...)
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.seq, b.seq) })
	for i, g := range groups {
		if want := after + 1 + uint64(i); g.seq != want {
			return nil, fmt.Errorf("%w: %d follows %d", errGap, g.seq, want-1)
		}
	}
	return groups, nil
}

func readWALFile(name string, id identity, after uint64) (groups []group, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	return groupsOf(walFile{f, size}, id, after)
}

// walFile is a file of the log to read.
type walFile struct {
	io.ReaderAt
	size int64
}

// groupsOf returns the groups after the given one that a file begins with.
func groupsOf(f walFile, id identity, after uint64) ([]group, error) {
	var groups []group
	newest, at := after, int64(0)
	for {
		h, err := f.head(at)
		if err != nil {
			return nil, err
		}
		fits := h.seq > after && (len(groups) == 0 || h.seq == newest+1)
		if h.id == id && !fits { // written before the file's last turn
			break
		}
		g, ok, err := f.group(at, h)
		if err != nil {
			return nil, err
		}
		if ok && h.id != id {
			return nil, errForeign
		}
		if !ok {
			break
		}
		groups, newest, at = append(groups, g), g.seq, at+h.padded()
	}
	for ; at < f.size; at += walPage {
		h, err := f.head(at)
		if err != nil {
			return nil, err
		}
		if h.id != id || h.seq <= newest {
			continue
		}
		if g, ok, err := f.group(at, h); ok || err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %d is there, and not all before it", errDamaged, g.seq), err)
		}
	}
	return groups, nil
}

// walHeader is what a group's first bytes say, or what is taken for them.
type walHeader struct {
	sum    uint32
	length int64
	id     identity
	seq    uint64
}

// padded returns the bytes that the group takes in the file.
func (h walHeader) padded() int64 {
	return (int64(walHead) + h.length + walPage - 1) / walPage * walPage
}

// head reads what stands at a page's beginning; nothing beyond the end.
func (f walFile) head(at int64) (walHeader, error) {
	raw := make([]byte, walHead)
	if n, err := f.ReadAt(raw, at); n < len(raw) {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return walHeader{}, err
	}
	return walHeader{
		sum: binary.BigEndian.Uint32(raw), length: int64(binary.BigEndian.Uint32(raw[4:])),
		id: identity(raw[8:]), seq: binary.BigEndian.Uint64(raw[8+len(identity{}):]),
	}, nil
}

// group reads the group with the given head; false where there is no whole one.
func (f walFile) group(at int64, h walHeader) (group, bool, error) {
	if h == (walHeader{}) || at+h.padded() > f.size {
		return group{}, false, nil
	}
	raw := make([]byte, h.padded())
	if n, err := f.ReadAt(raw, at); n < len(raw) {
		return group{}, false, err
	}
	if crc32.Checksum(raw[4:], castagnoli) != h.sum {
		return group{}, false, nil
	}
	return group{seq: h.seq, rows: raw[walHead:][:h.length]}, true, nil
}
