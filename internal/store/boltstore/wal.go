package boltstore

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

// The write-ahead log: a group of operations is kept once it stands here, after one write and one sync, and the tree
// takes many groups at once later. Two files take turns: while the tree takes the rows of one, groups go to the
// other. They are written over in place, so that a sync has no sizes to write, and a full disk takes no room from
// work under way.
//
// A group is a head and its rows, padded to whole pages: a page is never written twice, because a power cut in the
// middle of that could damage acknowledged rows. The head is the CRC-32C of the bytes after it up to the end of the
// padding, the length of the rows, the store's identity and the group's number, which is one more than that of the
// group before.
//
// The first page of each file is a mark: the number of a group that is kept, which the other file has. It is
// written once the group's sync has ended and waits for no sync itself, so that it may be behind and never
// ahead. A group that it names and that isn't there was lost, and not merely torn off.
const (
	walPage = 4096
	walHead = 4 + 4 + len(identity{}) + 8
	walRoom = 4 << 20 // bytes of a file, laid out in advance; less for a small limit or disk
	markTag = "mark"  // in the place of a group's length
)

// identity is drawn when a store is made: it tells its log from another's.
type identity [16]byte

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// wal is the log. Only the committer uses it.
type wal struct {
	id     identity
	files  [2]*os.File
	active int    // the file whose turn it is
	at     int64  // the offset of the next group in it
	seq    uint64 // of the newest group
	room   int64
	noSync bool
	buf    []byte
	mark   []byte

	syncFunc func(*os.File) error // fdatasync; tests count
}

func walPaths(path string) [2]string { return [2]string{path + ".log0", path + ".log1"} }

// openWAL opens the files, making missing ones. The groups in them are to be read first.
func openWAL(path string, id identity, seq uint64, room int64, noSync bool) (*wal, error) {
	w := &wal{id: id, seq: seq, at: walPage, room: max(room/walPage, 2) * walPage, noSync: noSync, syncFunc: syncData}
	for i, name := range walPaths(path) {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|disk.NoFollow, 0o600)
		if err == nil {
			w.files[i] = f
			err = w.layOut(f)
		}
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	if w.noSync {
		return w, nil
	}
	if err := disk.SyncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// layOut fills a file up to its room, as far as the disk has that.
func (w *wal) layOut(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size >= w.room {
		return err
	}
	if _, err := f.WriteAt(make([]byte, w.room-size), size); err != nil && !errors.Is(noRoom(err), store.ErrFull) {
		return err
	}
	if err := w.sync(f); err != nil {
		return err
	}
	uncache(f)
	return nil
}

// removeWAL removes the files: the tree has all that they hold.
func removeWAL(path string) error {
	for _, name := range walPaths(path) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *wal) sync(f *os.File) error {
	if w.noSync {
		return nil
	}
	return w.syncFunc(f)
}

func (w *wal) close() error {
	var errs []error
	for _, f := range w.files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// over reports whether the active file's turn is over.
func (w *wal) over() bool { return w.at >= w.room }

// turn goes on in the other file, whose groups the tree has. Bytes beyond the room, after a burst of large groups,
// are cut off; should that fail, or not last, it stays until the next turn.
func (w *wal) turn() {
	w.active, w.at = 1-w.active, walPage
	f := w.files[w.active]
	if info, err := f.Stat(); err == nil && info.Size() > 2*w.room {
		_ = f.Truncate(w.room)
	}
}

// sizes returns how long the files are at least from now on.
func (w *wal) sizes() (sizes [2]int64, err error) {
	for i, f := range w.files {
		info, err := f.Stat()
		if err != nil {
			return sizes, err
		}
		sizes[i] = min(info.Size(), w.room)
	}
	return sizes, nil
}

// note writes the mark of the newest group. That it has no room is no fault: the mark is behind then.
func (w *wal) note() error {
	w.mark = append(append(append(w.mark[:0], 0, 0, 0, 0), markTag...), w.id[:]...)
	w.mark = binary.BigEndian.AppendUint64(w.mark, w.seq)
	binary.BigEndian.PutUint32(w.mark, crc32.Checksum(w.mark[4:], castagnoli))
	_, err := w.files[1-w.active].WriteAt(w.mark, 0)
	if err = noRoom(err); errors.Is(err, store.ErrFull) {
		return nil
	}
	return err
}

// write makes a group last and returns its number. ErrFull if there was no room, and the group isn't there; after any
// other error it may be.
func (w *wal) write(group *rows) (uint64, error) {
	w.buf = group.append(append(w.buf[:0], make([]byte, walHead)...))
	length := len(w.buf) - walHead
	if pad := -len(w.buf) & (walPage - 1); pad > 0 {
		w.buf = append(w.buf, make([]byte, pad)...)
	}
	if uint64(length) > 1<<31 {
		return 0, fmt.Errorf("%w: a group of %d bytes", store.ErrFull, length)
	}
	head := binary.BigEndian.AppendUint32(w.buf[:4], uint32(length))
	head = append(head, w.id[:]...)
	binary.BigEndian.AppendUint64(head, w.seq+1)
	binary.BigEndian.PutUint32(w.buf, crc32.Checksum(w.buf[4:], castagnoli))
	f := w.files[w.active]
	if n, err := f.WriteAt(w.buf, w.at); err != nil {
		if err = noRoom(err); n > 0 && errors.Is(err, store.ErrFull) {
			if strike := w.invalidate(f); strike != nil {
				return 0, strike
			}
		}
		return 0, err
	}
	if err := w.sync(f); err != nil {
		return 0, err
	}
	w.seq++
	w.at += int64(len(w.buf))
	if cap(w.buf) > mostScratch {
		w.buf = nil
	}
	return w.seq, w.note()
}

// invalidate makes sure that a group which was refused isn't found there after all.
func (w *wal) invalidate(f *os.File) error {
	_, err := f.WriteAt(make([]byte, walHead), w.at)
	if err == nil {
		err = w.sync(f)
	}
	if err != nil {
		return fmt.Errorf("boltstore: the log may hold a group that was refused: %w", err)
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
