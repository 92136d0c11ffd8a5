package pgstore_test

import (
	"context"
	"iter"
	"testing"

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
