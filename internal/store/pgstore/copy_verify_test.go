package pgstore_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// spoiledSource is changed while it is read, or lacks a task.
type spoiledSource struct {
	store.Source
	reads   int
	changed bool
	lacks   int // the number of a task that the first read doesn't have

	contents *store.Contents // nil: the source's own
}

func (s *spoiledSource) Contents(ctx context.Context) (store.Contents, error) {
	if s.contents != nil {
		return *s.contents, nil
	}
	return s.Source.Contents(ctx)
}

func (s *spoiledSource) Identity(ctx context.Context) (string, error) {
	id, err := s.Source.Identity(ctx)
	if s.changed && s.reads > 0 {
		id += " later"
	}
	return id, err
}

func (s *spoiledSource) Tasks(ctx context.Context, after string) iter.Seq2[task.Task, error] {
	s.reads++
	if s.reads > 1 || s.lacks == 0 {
		return s.Source.Tasks(ctx, after)
	}
	return func(yield func(task.Task, error) bool) {
		n := 0
		for one, err := range s.Source.Tasks(ctx, after) {
			if n++; n != s.lacks && !yield(one, err) {
				return
			}
		}
	}
}

// TestCopyIsVerified: a copy with one other task, without one, and of a source that was changed isn't opened for work.
func TestCopyIsVerified(t *testing.T) {
	for name, c := range map[string]struct {
		source spoiledSource
		spoil  func(*task.Task)
		want   error
	}{
		"another task":  {spoil: func(one *task.Task) { one.Cost++ }, want: store.ErrDiffers},
		"another state": {spoil: func(one *task.Task) { one.State = task.Failed }, want: store.ErrDiffers},
		"a task less":   {source: spoiledSource{lacks: 7}, want: store.ErrDiffers},
		"changed":       {source: spoiledSource{changed: true}, want: store.ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
				fillTasks(t, from, clock, 10)
				source := c.source
				source.Source = mustSource(t, from)
				into := mustTarget(t, source.Source, to)
				defer mustClose(t, into)
				_, err := store.Copy(t.Context(), &source, &cutTarget{Target: into, commits: 100, spoil: c.spoil}, func(store.Phase, int64) {})
				wantErr(t, "Copy", err, c.want)
				if _, err := to.engine(); err == nil {
					t.Error("the copy can be opened")
				}
			})
		})
	}
}

// TestCopyNamesOrphans: a source with a record whose account is lost isn't copied, and it is named, also by a target
// that is given it all the same.
func TestCopyNamesOrphans(t *testing.T) {
	of := account.Account{ID: "acct_1", Name: "one"}
	for want, c := range map[string]store.Contents{
		"acct_2, of the key key_2":  {Keys: []account.Key{{ID: "key_1", Account: "acct_1"}, {ID: "key_2", Account: "acct_2", Hash: task.Hash{1}}}},
		"acct_2, of a link for ann": {Links: []account.Link{{Account: "acct_2", Member: "ann"}}},
		"acct_2, of a session of ben": {Sessions: []account.Session{
			{Account: "acct_1", Member: "ann"}, {Account: "acct_2", Member: "ben", Hash: task.Hash{1}},
		}},
	} {
		c.Accounts = []account.Account{of}
		eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
			fillTasks(t, from, clock, 1)
			source := &spoiledSource{Source: mustSource(t, from), contents: &c}
			into := mustTarget(t, source, to)
			defer mustClose(t, into)
			_, err := store.Copy(t.Context(), source, into, func(store.Phase, int64) {})
			if wantErr(t, "Copy", err, store.ErrNoAccount); !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("Copy: %v, want %q", err, want)
			}
			if _, ok := to.(keptSchema); !ok {
				return
			}
			if err := into.PutContents(t.Context(), c); !strings.Contains(fmt.Sprint(err), "(acct_2) is not present") {
				t.Errorf("PutContents: %v", err)
			}
		})
	}
}
