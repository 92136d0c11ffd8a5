package boltstore

import (
	"encoding/binary"
	"os"
)

// endCopy notes in a copy of the tree that has everything that no log belongs to it. The rows have the same
// size as before, and no page has a sum, so that they are written over in place.
func endCopy(f *os.File) error {
	p, err := newPageFile(f, f.Name())
	if err != nil {
		return err
	}
	root, err := p.read(p.meta.root)
	if err != nil {
		return err
	}
	head, at, err := p.valueAt(root, int64(root.id)*p.page, bucketMeta.String())
	if err != nil {
		return err
	}
	meta, begin, err := p.bucketPage(head, at)
	if err != nil {
		return err
	}
	for _, name := range metaLogs {
		old, at, err := p.valueAt(meta, begin, string(name))
		if err != nil {
			return err
		}
		value := summedValue(name, 0)
		if len(old) != len(value) {
			return p.damaged("%q in meta has %d bytes", name, len(old))
		}
		if _, err := f.WriteAt(value, at); err != nil {
			return err
		}
	}
	return nil
}

// bucketPage returns the first page of a bucket, given its row and the row's offset in the file, and the page's
// offset.
func (p *pageFile) bucketPage(row []byte, at int64) (pageAt, int64, error) {
	if len(row) < bucketHeader {
		return pageAt{}, 0, p.damaged("a bucket of %d bytes", len(row))
	}
	if id := binary.NativeEndian.Uint64(row); id != 0 {
		page, err := p.read(id)
		return page, int64(id) * p.page, err
	}
	page, err := p.inline(row)
	return page, at + bucketHeader, err
}

// inline returns the page that a small bucket has within its row.
func (p *pageFile) inline(row []byte) (pageAt, error) {
	raw := row[bucketHeader:]
	if len(raw) < pageHeader {
		return pageAt{}, p.damaged("a bucket without a page")
	}
	at := pageAt{flags: binary.NativeEndian.Uint16(raw[8:]), count: int(binary.NativeEndian.Uint16(raw[10:])), raw: raw}
	if at.flags != leafPage {
		return at, p.damaged("a bucket of kind %#x", at.flags)
	}
	return at, nil
}

// valueAt returns a key's value and its offset in the file, from a page that begins at the given byte.
func (p *pageFile) valueAt(at pageAt, begin int64, key string) ([]byte, int64, error) {
	for range mostLevels {
		all, err := elementsOf(at)
		if err != nil {
			return nil, 0, p.damaged("page %d: %v", at.id, err)
		}
		if at.flags != branchPage {
			for _, e := range all {
				if string(e.key) == key {
					return e.value, begin + int64(cap(at.raw)-cap(e.value)), nil // both end with the page's memory
				}
			}
			break
		}
		next := 0
		for next+1 < len(all) && string(all[next+1].key) <= key {
			next++
		}
		if len(all) == 0 {
			break
		}
		if at, err = p.read(all[next].page); err != nil {
			return nil, 0, err
		}
		begin = int64(at.id) * p.page
	}
	return nil, 0, p.damaged("%q isn't there", key)
}
