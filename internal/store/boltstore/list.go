package boltstore

import (
	"bytes"
	"context"
	"iter"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// listWindow bounds the rows that a page of a listing looks at.
const listWindow = 1000

// ListTasks implements store.Store. A page looks at listWindow rows at most.
func (db *DB) ListTasks(ctx context.Context, q store.ListQuery) (page store.Page, err error) {
	low, high, ok := listRange(q)
	if !ok {
		return store.Page{}, store.ErrNotFound
	}
	var bad asides
	for {
		err = db.view(ctx, func(r *reader) (err error) {
			page, err = listPage(r, q, low, high)
			return err
		})
		if err == nil {
			return page, nil
		}
		if err = bad.goOn(ctx, db, err); err != nil { // else the page is read without that row
			return store.Page{}, err
		}
	}
}

var lastRow = rowID(bytes.Repeat([]byte{0xff}, rowSize)) // no task has it

// listRange returns the rows that the dates and the cursor leave: low ≤ row < high. false: the cursor is no task's id.
func listRange(q store.ListQuery) (low, high rowID, ok bool) {
	high = lastRow
	from, to := q.Range()
	if from != "" {
		low, _ = parseID(from)
	}
	if to != "" {
		high, _ = parseID(to)
	}
	if q.Cursor == "" {
		return low, high, true
	}
	at, ok := parseID(q.Cursor)
	if !ok {
		return low, high, false
	}
	if !q.OldestFirst {
		return low, minRow(high, at), true
	}
	if after := at.next(); bytes.Compare(after[:], low[:]) > 0 {
		low = after
	}
	return low, high, true
}

func minRow(a, b rowID) rowID {
	if bytes.Compare(a[:], b[:]) < 0 {
		return a
	}
	return b
}

// listPage returns the page of matching tasks with low ≤ row < high.
func listPage(r *reader, q store.ListQuery, low, high rowID) (store.Page, error) {
	if bytes.Compare(low[:], high[:]) >= 0 {
		return store.Page{}, nil
	}
	l := lister{reader: r, q: q, pairs: q.Pairs(), code: q.CodePair(), kept: q.KeptMark()}
	var err error
	if q.Everywhere {
		_, err = l.everywhere(low, high)
	} else {
		_, err = l.ofScope(low, high)
	}
	return l.page, err
}

// lister gathers a page.
type lister struct {
	*reader
	q          store.ListQuery
	pairs      [][]byte // of the query: a record without them isn't decoded
	code, kept []byte
	page       store.Page
}

// rows yields the rows of a bucket between two keys in the order of the list.
func (l *lister) rows(b bucket, low, high []byte) iter.Seq2[[]byte, []byte] {
	return l.scan(b, low, high, !l.q.OldestFirst)
}

// everywhere looks at the tasks of all scopes, and reports whether there are more than fit on the page.
func (l *lister) everywhere(low, high rowID) (full bool, err error) {
	looked, last := 0, rowID{}
	for k, record := range l.rows(bucketTasks, low[:], high[:]) {
		if looked++; looked > listWindow {
			l.page.Next = pastLast(last, rowID(k)).String()
			return false, nil
		}
		last = rowID(k)
		if full, err := l.add(last, record); full || err != nil {
			return full, err
		}
	}
	return false, nil
}

// ofScope looks at the tasks of one scope, as everywhere does.
func (l *lister) ofScope(low, high rowID) (full bool, err error) {
	from, to := scopeRowOf(l.q.Scope, low), scopeRowOf(l.q.Scope, high)
	looked, last := 0, rowID{}
	var some []rowID // whose records are read together
	for k, capability := range l.rows(bucketByScope, from[:], to[:]) {
		if looked++; looked > listWindow {
			l.page.Next = pastLast(last, rowID(k[len(digest{}):])).String() // last may be a task outside the key's scopes
			break
		}
		last = rowID(k[len(digest{}):])
		if c := string(capability); (l.q.Capability != "" && l.q.Capability != c) || !account.Allows(l.q.Scopes, c) {
			continue
		}
		if some = append(some, last); len(some) <= max(l.q.PageSize(), looked/2) {
			continue
		}
		if full, err := l.addSome(some); full || err != nil {
			return full, err
		}
		some = some[:0]
	}
	return l.addSome(some)
}

// pastLast returns a cursor between the last row that was looked at and the next one: half way, between tasks.
func pastLast(last, next rowID) rowID {
	if bytes.Compare(last[:], next[:]) > 0 {
		return between(next, last)
	}
	if mid := between(last, next); mid != next {
		return mid
	}
	return last
}

func (l *lister) addSome(rows []rowID) (full bool, err error) {
	for i, record := range l.getSome(bucketTasks, rows) {
		if record == nil {
			continue // removed since its row was read
		}
		if full, err := l.add(rows[i], record); full || err != nil {
			return full, err
		}
	}
	return false, nil
}

// add appends a task to the page if the query selects it, and reports whether it doesn't fit any more.
func (l *lister) add(row rowID, record []byte) (full bool, err error) {
	state, _, err := recordHead(record)
	if err != nil {
		return false, unreadable(bucketTasks, row[:], record, err)
	}
	if l.q.State != "" && l.q.State != state || !l.mayHave(state, record) {
		return false, nil
	}
	t, err := decodeTask(record)
	if err != nil {
		return false, unreadable(bucketTasks, row[:], record, err)
	}
	if !l.q.Selects(&t) {
		return false, nil
	}
	if n := len(l.page.Tasks); n == l.q.PageSize() {
		l.page.Next = l.page.Tasks[n-1].ID
		return true, nil
	}
	l.page.Tasks = append(l.page.Tasks, t)
	return false, nil
}

// mayHave reports whether the record contains all that a selected one does, in whichever member.
func (l *lister) mayHave(state task.State, record []byte) bool {
	if !l.q.MayFail(state) || !bytes.Contains(record, l.code) || !bytes.Contains(record, l.kept) {
		return false
	}
	head := record[:min(len(record), headSize+sumSize+task.MetadataEnd)]
	for _, pair := range l.pairs {
		if !bytes.Contains(head, pair) {
			return false
		}
	}
	return true
}
