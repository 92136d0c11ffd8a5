package boltstore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"unitask/internal/store/boltstore/idem"
)

// readAtStart are the buckets that a start goes through. Of the others it looks for the last row at most.
var readAtStart = []bucket{
	bucketMeta, bucketOpen, bucketIdemLog, bucketIdemRuns, bucketQuarantine, bucketEndpoints, bucketWaiting,
}

// proveStart follows the branches to the rows that a start reads. bbolt would loop endlessly if a page leads back to
// itself.
func (p *pageFile) proveStart() error {
	w := &walker{pageFile: p, seen: make([]uint64, p.meta.pages/64+1)}
	return w.branchesTo(p.meta.root, 0, func(row element) error {
		if row.flags&bucketElement == 0 || len(row.value) < bucketHeader {
			return nil // whoever opens it will see
		}
		root := binary.NativeEndian.Uint64(row.value)
		whole := slices.ContainsFunc(readAtStart, func(b bucket) bool { return b.String() == string(row.key) })
		switch {
		case root == 0: // its page is within its row
			return nil
		case whole:
			return w.branchesTo(root, 0, nil)
		default:
			return w.lastBranches(root)
		}
	})
}

// aheadBytes is as much of a run as has its filter.
const aheadBytes = pageHeader + elementSize + 8 + idem.BeforePairs

// readAhead reads the beginning of a long row in one piece. A start looks at the filters of all runs, and in the map
// it would wait for the disk at each of their pages.
func (w *walker) readAhead(at pageAt) error {
	if at.overflow == 0 {
		return nil
	}
	size := min(int64(at.overflow+1)*w.page, aheadBytes)
	if _, err := w.ReadAt(make([]byte, size), int64(at.id)*w.page); err != nil {
		return fmt.Errorf("boltstore: read page %d of %s: %w", at.id, w.path, err)
	}
	return nil
}

// branchesTo follows all branches below a page, and calls visit, unless it is nil, with the rows of its leaves.
func (w *walker) branchesTo(id uint64, level int, visit func(element) error) error {
	all, leaf, err := w.branchesAt(id, level, visit != nil)
	if err != nil {
		return err
	}
	for _, e := range all {
		if leaf {
			err = visit(e)
		} else {
			err = w.branchesTo(e.page, level+1, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lastBranches follows the last branch of each page.
func (w *walker) lastBranches(id uint64) error {
	for level := 0; ; level++ {
		all, leaf, err := w.branchesAt(id, level, false)
		if err != nil || leaf {
			return err
		}
		id = all[len(all)-1].page
	}
}

// branchesAt returns the children of a page, and the rows of a leaf if they are wanted. Each page is led to once.
func (w *walker) branchesAt(id uint64, level int, rows bool) (all []element, leaf bool, err error) {
	at, err := w.head(id)
	switch {
	case err != nil:
		return nil, false, err
	case w.mark(id), level > mostLevels:
		return nil, false, w.damaged("page %d is named twice", id)
	case at.flags == leafPage && !rows:
		return nil, true, w.readAhead(at)
	case at.flags != branchPage && at.flags != leafPage:
		return nil, false, w.damaged("page %d is of kind %#x", id, at.flags)
	}
	if at.overflow > 0 {
		if at, err = w.read(id); err != nil {
			return nil, false, err
		}
	}
	if all, err = elementsOf(at); err == nil && len(all) == 0 && at.flags == branchPage {
		err = errNoElements
	}
	if err != nil {
		return nil, false, w.damaged("page %d: %v", id, err)
	}
	return all, at.flags == leafPage, nil
}
