package wal

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

// The faults of a log that lacks acknowledged groups, or is another store's.
var (
	ErrGap     = errors.New("groups of the log are missing: the files of the store don't belong together")
	ErrDamaged = errors.New("the log is damaged before its newest group")
	ErrMissing = errors.New("the log isn't there, and it had changes that the database may lack")
	ErrShort   = errors.New("the log was cut short")
	ErrForeign = errors.New("the log is another store's: put it back beside its own, or away")
)

// Group is one that was read back.
type Group struct {
	Seq   uint64
	Bytes []byte
}

// Read returns the groups after the given one, in order. A group that was torn off at the end was never
// acknowledged; a gap, or damage before the newest group, is an error.
func Read(path string, s State) ([]Group, error) {
	var groups []Group
	kept := s.Seq // by the marks
	for i, name := range Paths(path) {
		found, mark, err := readFile(name, s, s.Sizes[i])
		if err != nil {
			return nil, fmt.Errorf("%w (%s)", err, name)
		}
		groups = append(groups, found...)
		kept = max(kept, mark)
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Seq, b.Seq) })
	for i, g := range groups {
		if want := s.Seq + 1 + uint64(i); g.Seq != want {
			return nil, fmt.Errorf("%w: %d follows %d", ErrGap, g.Seq, want-1)
		}
	}
	if newest := s.Seq + uint64(len(groups)); newest < kept {
		return nil, fmt.Errorf("%w: group %d was kept, and those after %d are not there", ErrGap, kept, newest)
	}
	return groups, nil
}

// readFile reads a file that has at least the given size, and returns its mark too.
func readFile(name string, s State, least int64) (groups []Group, mark uint64, err error) {
	f, done, err := openFile(name, s)
	if errors.Is(err, fs.ErrNotExist) {
		if least > 0 {
			return nil, 0, ErrMissing
		}
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if f.size < least {
		return nil, 0, fmt.Errorf("%w: it has %d bytes of %d", ErrShort, f.size, least)
	}
	if mark, err = f.mark(s.ID); err != nil {
		return nil, 0, err
	}
	if !s.Marked { // nor has an older store a log whose groups begin later
		if _, err := groupsOf(file{f, PageSize, f.size}, s.ID, s.Seq); errors.Is(err, ErrForeign) {
			return nil, 0, err
		}
	}
	groups, err = groupsOf(f, s.ID, s.Seq)
	return groups, mark, err
}

func openFile(name string, s State) (file, func() error, error) {
	f, err := os.Open(name)
	if err != nil {
		return file{}, nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return file{}, nil, errors.Join(err, f.Close())
	}
	return file{f, s.first(), size}, f.Close, nil
}

// file is a file of the log to read.
type file struct {
	io.ReaderAt
	first int64 // the offset of its first group
	size  int64
}

// mark returns the number of the kept group in the mark, 0 without one.
func (f file) mark(id ID) (uint64, error) {
	raw := make([]byte, headSize)
	if n, err := f.ReadAt(raw, 0); n < len(raw) || f.first == 0 {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return 0, err
	}
	if string(raw[4:8]) != markTag || ID(raw[8:]) != id || crc32.Checksum(raw[4:], castagnoli) != binary.BigEndian.Uint32(raw) {
		return 0, nil // torn, or never written
	}
	return binary.BigEndian.Uint64(raw[8+len(ID{}):]), nil
}

// groupsOf returns the groups after the given one that a file begins with.
func groupsOf(f file, id ID, after uint64) ([]Group, error) {
	var groups []Group
	newest, at := after, f.first
	for {
		h, err := f.head(at)
		if err != nil {
			return nil, err
		}
		fits := h.seq > after && (len(groups) == 0 || h.seq == newest+1)
		if h.id == id && !fits { // written before the last Switch to the file
			break
		}
		g, ok, err := f.group(at, h)
		if err != nil {
			return nil, err
		}
		if ok && h.id != id {
			return nil, ErrForeign
		}
		if !ok {
			break
		}
		groups, newest, at = append(groups, g), g.Seq, at+h.padded()
	}
	for ; at < f.size; at += PageSize {
		h, err := f.head(at)
		if err != nil {
			return nil, err
		}
		if h.id != id || h.seq <= newest {
			continue
		}
		if g, ok, err := f.group(at, h); ok || err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %d is there, and not all before it", ErrDamaged, g.Seq), err)
		}
	}
	return groups, nil
}

// header is a group's first bytes, or bytes that may be.
type header struct {
	sum    uint32
	length int64
	id     ID
	seq    uint64
}

// padded returns the bytes that the group takes in the file.
func (h header) padded() int64 {
	return (int64(headSize) + h.length + PageSize - 1) / PageSize * PageSize
}

// head reads the header at a page's beginning; it is zero beyond the end.
func (f file) head(at int64) (header, error) {
	raw := make([]byte, headSize)
	if n, err := f.ReadAt(raw, at); n < len(raw) {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return header{}, err
	}
	return header{
		sum: binary.BigEndian.Uint32(raw), length: int64(binary.BigEndian.Uint32(raw[4:])),
		id: ID(raw[8:]), seq: binary.BigEndian.Uint64(raw[8+len(ID{}):]),
	}, nil
}

// group reads the group with the given head; false if there is no whole one.
func (f file) group(at int64, h header) (Group, bool, error) {
	if h == (header{}) || at+h.padded() > f.size {
		return Group{}, false, nil
	}
	raw := make([]byte, h.padded())
	if n, err := f.ReadAt(raw, at); n < len(raw) {
		return Group{}, false, err
	}
	if crc32.Checksum(raw[4:], castagnoli) != h.sum {
		return Group{}, false, nil
	}
	return Group{Seq: h.seq, Bytes: raw[headSize:][:h.length]}, true, nil
}

// ReadWhole returns every whole group of a file that the database lacks, whatever is between them.
func ReadWhole(name string, s State) (groups []Group, err error) {
	f, done, err := openFile(name, s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for at := f.first; at < f.size; {
		h, err := f.head(at)
		if err != nil {
			return nil, err
		}
		at += PageSize
		if h.id != s.ID || h.seq <= s.Seq {
			continue
		}
		g, ok, err := f.group(at-PageSize, h)
		if err != nil {
			return nil, err
		}
		if ok {
			groups = append(groups, g)
			at += h.padded() - PageSize
		}
	}
	return groups, nil
}
