package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// walk follows the tree from its root and visits every page once: each must fit the page that leads to it, with its
// keys in order and within their bounds, and belong to one place. Damage is given to visit, and the walk goes on
// beside it while that returns true; else it is the error that walk returns.
func (p *pageFile) walk(visit func(error) bool) error {
	w := &walker{pageFile: p, visit: visit, seen: make([]uint64, p.meta.pages/64+1)}
	free, err := p.free()
	if err := w.note(err); err != nil {
		return err
	}
	for _, id := range free {
		w.mark(id)
	}
	if p.meta.freelist != noFreelist {
		if at, err := p.read(p.meta.freelist); err == nil {
			if _, err := w.claim(at); err != nil {
				return err
			}
		}
	}
	if err := w.follow(p.meta.root, nil, nil, 0); err != nil {
		return err
	}
	return w.lost()
}

// lost reports unreachable pages that aren't in the list of free pages.
func (w *walker) lost() error {
	if w.meta.freelist == noFreelist {
		return nil
	}
	for id := uint64(2); id < w.meta.pages; id++ {
		if !w.mark(id) {
			if err := w.note(w.damaged("page %d is in no place and isn't free", id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostLevels is deeper than any tree that fits on a disk.
const mostLevels = 64

type walker struct {
	*pageFile
	visit func(error) bool
	seen  []uint64 // a bit a page
}

func (w *walker) note(err error) error {
	if err == nil || w.visit(err) {
		return nil
	}
	return err
}

func (w *walker) mark(id uint64) (again bool) {
	again = w.seen[id/64]&(1<<(id%64)) != 0
	w.seen[id/64] |= 1 << (id % 64)
	return again
}

// claim notes that the page and its overflow belong to one place. false: they belong to another one too.
func (w *walker) claim(at pageAt) (bool, error) {
	for id := at.id; id <= at.id+at.overflow; id++ {
		if w.mark(id) {
			return false, w.note(w.damaged("page %d is named twice, or is in the list of free pages", id))
		}
	}
	return true, nil
}

// follow visits a page and its children. Its keys are at least low and less than high; nil is no bound.
func (w *walker) follow(id uint64, low, high []byte, level int) error {
	at, err := w.read(id)
	if err == nil && at.flags != branchPage && at.flags != leafPage {
		err = w.damaged("page %d is of kind %#x", id, at.flags)
	}
	if err == nil && level > mostLevels {
		err = w.damaged("page %d leads back to itself", id)
	}
	if err != nil {
		return w.note(err)
	}
	if ok, err := w.claim(at); !ok || err != nil {
		return err
	}
	return w.elements(at, low, high, level)
}

// elements visits the elements of a page, or of a bucket that has its page within its row.
func (w *walker) elements(at pageAt, low, high []byte, level int) error {
	all, err := elementsOf(at)
	if err == nil && at.flags == branchPage && len(all) == 0 {
		err = errNoElements
	}
	if err != nil {
		return w.note(w.damaged("page %d: %v", at.id, err))
	}
	for i, e := range all {
		switch {
		case i > 0 && bytes.Compare(all[i-1].key, e.key) >= 0:
			err = w.note(w.damaged("page %d: its keys aren't in order", at.id))
		case i == 0 && at.flags == branchPage: // bbolt may leave its first key behind
		case bytes.Compare(e.key, low) < 0 || (high != nil && bytes.Compare(e.key, high) >= 0):
			err = w.note(w.damaged("page %d: a key isn't among those that lead to it", at.id))
		}
		if err != nil {
			return err
		}
		if err := w.element(at, all, i, low, high, level); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) element(at pageAt, all []element, i int, low, high []byte, level int) error {
	e := all[i]
	if at.flags == branchPage {
		from, to := e.key, high
		if i == 0 {
			from = low
		}
		if i+1 < len(all) {
			to = all[i+1].key
		}
		return w.follow(e.page, from, to, level+1)
	}
	if e.flags&bucketElement == 0 {
		return nil
	}
	if len(e.value) < bucketHeader {
		return w.note(w.damaged("page %d: a bucket of %d bytes", at.id, len(e.value)))
	}
	if root := binary.NativeEndian.Uint64(e.value); root != 0 {
		return w.follow(root, nil, nil, level+1)
	}
	within, err := w.inline(e.value)
	if err != nil {
		return w.note(err)
	}
	within.id = at.id
	return w.elements(within, nil, nil, level+1)
}

// bucketHeader is the size of a bucket's root and sequence, which begin its row.
const bucketHeader = 16

// element is a row of a leaf, or a branch's way to another page.
type element struct {
	flags      uint32
	page       uint64
	key, value []byte
}

var (
	errElement = errors.New("an element lies beyond its end")
	errCount   = errors.New("it has no room for its elements")

	errNoElements = errors.New("it has no elements")
)

// elementsOf returns a page's elements. The elements share its memory.
func elementsOf(at pageAt) ([]element, error) {
	if pageHeader+at.count*elementSize > len(at.raw) {
		return nil, errCount
	}
	word := binary.NativeEndian.Uint32
	all := make([]element, at.count)
	for i := range all {
		begin := pageHeader + i*elementSize
		head := at.raw[begin:]
		var e element
		var pos, key, value uint64
		if at.flags == branchPage {
			pos, key = uint64(word(head)), uint64(word(head[4:]))
			e.page = binary.NativeEndian.Uint64(head[8:])
		} else {
			e.flags = word(head)
			pos, key, value = uint64(word(head[4:])), uint64(word(head[8:])), uint64(word(head[12:]))
		}
		from := uint64(begin) + pos
		if from+key+value > uint64(len(at.raw)) || from < uint64(pageHeader+at.count*elementSize) {
			return nil, errElement
		}
		e.key, e.value = at.raw[from:from+key], at.raw[from+key:from+key+value]
		all[i] = e
	}
	return all, nil
}

// valid returns the faults of the file's pages, at most so many.
func valid(path string, most int) (found []string, err error) {
	p, done, err := openPages(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	err = p.walk(func(damage error) bool {
		if d, ok := errors.AsType[*DamagedError](damage); ok {
			found = append(found, d.Problem)
		} else {
			found = append(found, damage.Error())
		}
		return len(found) < most
	})
	if len(found) > 0 {
		err = nil
	}
	return slices.Clip(found), err
}

// allValid returns the first damage of the file's pages as a *DamagedError.
func allValid(path string) error {
	damage, err := valid(path, 1)
	if err == nil && len(damage) > 0 {
		err = &DamagedError{Path: path, Problem: damage[0]}
	}
	return err
}
