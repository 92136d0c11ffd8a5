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
	errGap      = errors.New("boltstore: groups of the log are missing: the files of the store don't belong together")
	errDamaged  = errors.New("boltstore: the log is damaged before its newest group")
	errNoLog    = errors.New("boltstore: the log isn't there, and it had changes that the database may lack")
	errShortLog = errors.New("boltstore: the log was cut short")
	errForeign  = errors.New("boltstore: the log is another store's: put it back beside its own, or away")
)

// group is one that was read back.
type group struct {
	seq  uint64
	rows []byte
}

// readWAL returns the groups after the given one, in order. A group that was torn off at the end was never
// acknowledged; a gap, or damage before the newest group, is an error.
func readWAL(path string, l logState) ([]group, error) {
	var groups []group
	kept := l.seq // by the marks
	for i, name := range walPaths(path) {
		found, mark, err := readWALFile(name, l, l.sizes[i])
		if err != nil {
			return nil, fmt.Errorf("%w (%s)", err, name)
		}
		groups = append(groups, found...)
		kept = max(kept, mark)
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.seq, b.seq) })
	for i, g := range groups {
		if want := l.seq + 1 + uint64(i); g.seq != want {
			return nil, fmt.Errorf("%w: %d follows %d", errGap, g.seq, want-1)
		}
	}
	if newest := l.seq + uint64(len(groups)); newest < kept {
		return nil, fmt.Errorf("%w: group %d was kept, and those after %d are not there", errGap, kept, newest)
	}
	return groups, nil
}

// readWALFile reads a file that has at least the given size, and returns its mark too.
func readWALFile(name string, l logState, least int64) (groups []group, mark uint64, err error) {
	f, done, err := openWALFile(name, l)
	if errors.Is(err, fs.ErrNotExist) {
		if least > 0 {
			return nil, 0, errNoLog
		}
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if f.size < least {
		return nil, 0, fmt.Errorf("%w: it has %d bytes of %d", errShortLog, f.size, least)
	}
	if mark, err = f.mark(l.id); err != nil {
		return nil, 0, err
	}
	if !l.marked { // nor has an older store a log whose groups begin later
		if _, err := groupsOf(walFile{f, walPage, f.size}, l.id, l.seq); errors.Is(err, errForeign) {
			return nil, 0, err
		}
	}
	groups, err = groupsOf(f, l.id, l.seq)
	return groups, mark, err
}

func openWALFile(name string, l logState) (walFile, func() error, error) {
	f, err := os.Open(name)
	if err != nil {
		return walFile{}, nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return walFile{}, nil, errors.Join(err, f.Close())
	}
	return walFile{f, l.first(), size}, f.Close, nil
}

// walFile is a file of the log to read.
type walFile struct {
	io.ReaderAt
	first int64 // the offset of its first group
	size  int64
}

// mark returns the number of the kept group in the mark, 0 without one.
func (f walFile) mark(id identity) (uint64, error) {
	raw := make([]byte, walHead)
	if n, err := f.ReadAt(raw, 0); n < len(raw) || f.first == 0 {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return 0, err
	}
	if string(raw[4:8]) != markTag || identity(raw[8:]) != id || crc32.Checksum(raw[4:], castagnoli) != binary.BigEndian.Uint32(raw) {
		return 0, nil // torn, or never written
	}
	return binary.BigEndian.Uint64(raw[8+len(identity{}):]), nil
}

// groupsOf returns the groups after the given one that a file begins with.
func groupsOf(f walFile, id identity, after uint64) ([]group, error) {
	var groups []group
	newest, at := after, f.first
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

// walHeader is a group's first bytes, or bytes that may be.
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

// head reads the header at a page's beginning; it is zero beyond the end.
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

// group reads the group with the given head; false if there is no whole one.
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
