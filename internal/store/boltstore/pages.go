package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// DamagedError reports a file whose bytes bbolt can't have written.
type DamagedError struct {
	Path    string
	Problem string
}

// Error names the file and the damage.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("boltstore: %s is damaged: %s", e.Path, e.Problem)
}

// pageFile reads the pages of a bbolt file by their numbers. bbolt maps the file and trusts every
// number in it, so that damage ends in a panic or in a fault; here it ends in an error.
type pageFile struct {
	io.ReaderAt
	path string
	size int64
	page int64 // bytes of a page
	meta treeMeta
}

// treeMeta is the newest whole meta page.
type treeMeta struct{ root, freelist, pages, txid uint64 }

// The layout of bbolt's pages, in the byte order of the machine.
const (
	pageHeader    = 16 // number, flags, count, overflow
	elementSize   = 16 // of a branch and of a leaf
	metaMagic     = 0xED0CDAED
	metaVersion   = 2
	metaSize      = 64
	metaSum       = 56 // the offset of the sum of all before it
	leastPage     = 1 << 10
	mostPage      = 16 << 20
	mostBytes     = 256 << 20 // of a page and its overflow: beyond all that is written
	noFreelist    = ^uint64(0)
	branchPage    = 0x01
	leafPage      = 0x02
	freelistPage  = 0x10
	bucketElement = 0x01
)

// openPages opens the file and compares its size with its meta page.
func openPages(path string) (*pageFile, func() error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	p, err := newPageFile(f, path)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return p, f.Close, nil
}

func newPageFile(f *os.File, path string) (*pageFile, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p := &pageFile{ReaderAt: f, path: path, size: info.Size()}
	if !p.findMeta() {
		return nil, p.damaged("it doesn't begin as a database does")
	}
	if want := int64(p.meta.pages) * p.page; p.meta.pages > 1<<40 || p.size < want {
		return nil, p.damaged("it was cut short: it has %d bytes of %d", p.size, want)
	}
	return p, nil
}

func (p *pageFile) damaged(format string, args ...any) error {
	return &DamagedError{Path: p.path, Problem: fmt.Sprintf(format, args...)}
}

// findMeta looks for both meta pages as bbolt does, and keeps the newer one that is whole.
func (p *pageFile) findMeta() (found bool) {
	take := func(at int64) (size int64, ok bool) {
		m, size, ok := p.metaAt(at)
		if ok && (!found || m.txid > p.meta.txid) {
			p.meta, p.page, found = m, size, true
		}
		return size, ok
	}
	if size, ok := take(0); ok {
		take(size)
		return found
	}
	for at := int64(leastPage); at <= mostPage && !found; at *= 2 {
		take(at)
	}
	return found
}

func (p *pageFile) metaAt(at int64) (m treeMeta, size int64, ok bool) {
	raw := make([]byte, pageHeader+metaSize)
	if n, _ := p.ReadAt(raw, at); n < len(raw) { // an error is a meta page that isn't there
		return m, 0, false
	}
	raw = raw[pageHeader:]
	sum := fnv.New64a()
	_, _ = sum.Write(raw[:metaSum]) // never fails
	word, long := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	if word(raw) != metaMagic || word(raw[4:]) != metaVersion || long(raw[metaSum:]) != sum.Sum64() {
		return m, 0, false
	}
	size = int64(word(raw[8:]))
	return treeMeta{root: long(raw[16:]), freelist: long(raw[32:]), pages: long(raw[40:]), txid: long(raw[48:])},
		size, size >= leastPage && size <= mostPage
}

// pageAt is a page with those that follow it as its overflow.
type pageAt struct {
	id       uint64
	flags    uint16
	count    int
	overflow uint64
	raw      []byte
}

// read returns the page of a number, whose header has to fit, with its overflow.
func (p *pageFile) read(id uint64) (pageAt, error) {
	at, err := p.head(id)
	if err != nil || at.overflow == 0 {
		return at, err
	}
	at.raw = make([]byte, int64(at.overflow+1)*p.page)
	if _, err := p.ReadAt(at.raw, int64(id)*p.page); err != nil {
		return at, fmt.Errorf("boltstore: read page %d of %s: %w", id, p.path, err)
	}
	return at, nil
}

// head is read without the overflow.
func (p *pageFile) head(id uint64) (pageAt, error) {
	if id < 2 || id >= p.meta.pages {
		return pageAt{}, p.damaged("page %d is named, and there are %d", id, p.meta.pages)
	}
	raw := make([]byte, p.page)
	if _, err := p.ReadAt(raw, int64(id)*p.page); err != nil {
		return pageAt{}, fmt.Errorf("boltstore: read page %d of %s: %w", id, p.path, err)
	}
	at := pageAt{
		id: id, flags: binary.NativeEndian.Uint16(raw[8:]), count: int(binary.NativeEndian.Uint16(raw[10:])),
		overflow: uint64(binary.NativeEndian.Uint32(raw[12:])), raw: raw,
	}
	if named := binary.NativeEndian.Uint64(raw); named != id {
		return at, p.damaged("page %d says that it is page %d", id, named)
	}
	if at.overflow >= p.meta.pages-id || at.overflow > mostBytes/uint64(p.page) {
		return at, p.damaged("page %d goes on for %d others", id, at.overflow)
	}
	return at, nil
}

// free returns the numbers of the free pages, nil if the file has no list of them.
func (p *pageFile) free() ([]uint64, error) {
	if p.meta.freelist == noFreelist {
		return nil, nil
	}
	at, err := p.read(p.meta.freelist)
	if err != nil {
		return nil, err
	}
	ids, n := at.raw[pageHeader:], uint64(at.count)
	if at.count == 0xFFFF {
		n, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if at.flags != freelistPage || n > uint64(len(ids)/8) {
		return nil, p.damaged("page %d isn't the list of free pages that it should be", at.id)
	}
	list := make([]uint64, n)
	last := uint64(1)
	for i := range list {
		list[i] = binary.NativeEndian.Uint64(ids[i*8:])
		if list[i] <= last || list[i] >= p.meta.pages {
			return nil, p.damaged("the list of free pages has %d after %d", list[i], last)
		}
		last = list[i]
	}
	return list, nil
}

// provePages checks the pages that bbolt reads when it opens a file, and the branches to the rows that a start reads.
// Without a list of free pages that is every page.
func provePages(path string, write bool) (err error) {
	p, done, err := openPages(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if _, err := p.read(p.meta.root); err != nil || !write {
		return err
	}
	if p.meta.freelist == noFreelist {
		return p.walk(func(error) bool { return false })
	}
	if _, err = p.free(); err != nil {
		return err
	}
	return p.proveStart()
}
