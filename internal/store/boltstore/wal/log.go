package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"unitask/internal/disk"
	"unitask/internal/store"
)

const (
	PageSize = 4096 // bytes
	headSize = 4 + 4 + len(ID{}) + 8
	Room     = 4 << 20 // bytes of a file, laid out in advance; a smaller limit or disk has less
	mostKept = 4 << 20 // bytes of memory for a group that are kept for the next one
	markTag  = "mark"  // in the place of a group's length
)

// ID is drawn when a store is made: it tells its log from another's.
type ID [16]byte

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Log is an open log.
type Log struct {
	id     ID
	files  [2]*os.File
	active int    // the file that takes groups
	at     int64  // the offset of the next group in it
	Seq    uint64 // of the newest group, in the log or, if it had no room, in the database alone
	room   int64
	noSync bool
	buf    []byte
	mark   []byte

	SyncFile func(*os.File) error // makes a file's bytes last; Sync, unless a test counts
}

// Paths returns the files of a database's log.
func Paths(path string) [2]string { return [2]string{path + ".log0", path + ".log1"} }

// Open opens the log of a database, making missing files, with room bytes each. seq is the newest group that the
// database has; noSync leaves syncs out, for tests. The groups in them are to be read first.
func Open(path string, id ID, seq uint64, room int64, noSync bool) (*Log, error) {
	l := &Log{id: id, Seq: seq, at: PageSize, room: max(room/PageSize, 2) * PageSize, noSync: noSync, SyncFile: Sync}
	for i, name := range Paths(path) {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|disk.NoFollow, 0o600)
		if err == nil {
			l.files[i] = f
			err = l.layOut(f)
		}
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	if l.noSync {
		return l, nil
	}
	if err := disk.SyncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// layOut fills a file up to its room, as far as the disk has that.
func (l *Log) layOut(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size >= l.room {
		return err
	}
	if _, err := f.WriteAt(make([]byte, l.room-size), size); err != nil && !errors.Is(noRoom(err), store.ErrFull) {
		return err
	}
	if err := l.sync(f); err != nil {
		return err
	}
	uncache(f)
	return nil
}

// Remove removes the files: the database has all that they hold.
func Remove(path string) error {
	for _, name := range Paths(path) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (l *Log) sync(f *os.File) error {
	if l.noSync {
		return nil
	}
	return l.SyncFile(f)
}

// Close closes the files.
func (l *Log) Close() error {
	var errs []error
	for _, f := range l.files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// Full reports whether the active file has no room left.
func (l *Log) Full() bool { return l.at >= l.room }

// Switch goes on in the other file, whose groups the database has. Bytes beyond the room, after a burst of large groups,
// are cut off; should that fail, or not last, it stays until the next Switch.
func (l *Log) Switch() {
	l.active, l.at = 1-l.active, PageSize
	f := l.files[l.active]
	if info, err := f.Stat(); err == nil && info.Size() > 2*l.room {
		_ = f.Truncate(l.room)
	}
}

// Sizes returns how long the files are at least from now on.
func (l *Log) Sizes() (sizes [2]int64, err error) {
	for i, f := range l.files {
		info, err := f.Stat()
		if err != nil {
			return sizes, err
		}
		sizes[i] = min(info.Size(), l.room)
	}
	return sizes, nil
}

// putMark writes the mark of the newest group. That it has no room is no fault: the mark is behind then.
func (l *Log) putMark() error {
	l.mark = append(append(append(l.mark[:0], 0, 0, 0, 0), markTag...), l.id[:]...)
	l.mark = binary.BigEndian.AppendUint64(l.mark, l.Seq)
	binary.BigEndian.PutUint32(l.mark, crc32.Checksum(l.mark[4:], castagnoli))
	_, err := l.files[1-l.active].WriteAt(l.mark, 0)
	if err = noRoom(err); errors.Is(err, store.ErrFull) {
		return nil
	}
	return err
}

// Write makes a group last, whose bytes the function appends, and returns its number. It returns store.ErrFull if there was no room, and the group isn't there; after any
// other error it may be.
func (l *Log) Write(group func(b []byte) []byte) (uint64, error) {
	l.buf = group(append(l.buf[:0], make([]byte, headSize)...))
	length := len(l.buf) - headSize
	if pad := -len(l.buf) & (PageSize - 1); pad > 0 {
		l.buf = append(l.buf, make([]byte, pad)...)
	}
	if uint64(length) > 1<<31 {
		return 0, fmt.Errorf("%w: a group of %d bytes", store.ErrFull, length)
	}
	head := binary.BigEndian.AppendUint32(l.buf[:4], uint32(length))
	head = append(head, l.id[:]...)
	binary.BigEndian.AppendUint64(head, l.Seq+1)
	binary.BigEndian.PutUint32(l.buf, crc32.Checksum(l.buf[4:], castagnoli))
	f := l.files[l.active]
	if n, err := f.WriteAt(l.buf, l.at); err != nil {
		if err = noRoom(err); n > 0 && errors.Is(err, store.ErrFull) {
			if failed := l.invalidate(f); failed != nil {
				return 0, failed
			}
		}
		return 0, err
	}
	if err := l.sync(f); err != nil {
		return 0, err
	}
	l.Seq++
	l.at += int64(len(l.buf))
	if cap(l.buf) > mostKept {
		l.buf = nil
	}
	return l.Seq, l.putMark()
}

// invalidate makes sure that a group which was refused isn't found there after all.
func (l *Log) invalidate(f *os.File) error {
	_, err := f.WriteAt(make([]byte, headSize), l.at)
	if err == nil {
		err = l.sync(f)
	}
	if err != nil {
		return fmt.Errorf("the log may hold a group that was refused: %w", err)
	}
	return nil
}

// noRoom turns the error of a full file system into ErrFull.
func noRoom(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return store.ErrFull
	}
	return err
}
