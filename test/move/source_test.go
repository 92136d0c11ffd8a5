package move_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// older is a store with many ended tasks before its own: copies of one of them, spread over some weeks.
type older struct {
	store.Source
	template task.Task
	tasks    int
	change   func(i int, t *task.Task) // of one of them; nil: they are alike
}

// olderSpan is how far back the first of them was made.
const olderSpan = 20 * 24 * time.Hour

// Contents implements store.Source.
func (o *older) Contents(ctx context.Context) (store.Contents, error) {
	c, err := o.Source.Contents(ctx)
	c.Since = o.template.CreatedAt.Add(-olderSpan)
	return c, err
}

// Tasks implements store.Source, for a reader that begins with the first.
func (o *older) Tasks(ctx context.Context, after string) iter.Seq2[task.Task, error] {
	return func(yield func(task.Task, error) bool) {
		for i := range o.tasks {
			if !yield(o.made(i), nil) {
				return
			}
		}
		for one, err := range o.Source.Tasks(ctx, after) {
			if !yield(one, err) {
				return
			}
		}
	}
}

// made returns one of the older tasks.
func (o *older) made(i int) task.Task {
	t := o.template
	shift := -olderSpan + time.Duration(i)*(olderSpan/time.Duration(o.tasks+1))
	t.CreatedAt, t.UpdatedAt, t.DeadlineAt = t.CreatedAt.Add(shift), t.UpdatedAt.Add(shift), t.DeadlineAt.Add(shift)
	t.FinishedAt = new(t.FinishedAt.Add(shift))
	t.ID = task.NewID(task.PrefixTask, t.CreatedAt)
	t.IdempotencyHash = sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	t.Timeline = slices.Clone(t.Timeline)
	for i := range t.Timeline {
		t.Timeline[i].At = t.Timeline[i].At.Add(shift)
	}
	t.Attempts = slices.Clone(t.Attempts)
	for i := range t.Attempts {
		t.Attempts[i].SubmitKey = task.SubmitKey(t.ID, t.Attempts[i].N)
	}
	if o.change != nil {
		o.change(i, &t)
	}
	return t
}

// mustGrow makes a data folder with all that another one has, and so many older tasks.
func mustGrow(t *testing.T, from, to string, tasks int) {
	t.Helper()
	source, err := boltstore.OpenOffline(filepath.Join(from, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }() // only read
	target, err := boltstore.OpenTarget(filepath.Join(to, databaseName), store.CopyOf{From: "the test"})
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, &older{Source: source, tasks: tasks, template: mustTemplate(t, source)}, target)
}

// mustPut makes the target a store with all that the grown one has.
func mustPut(t *testing.T, grown *older, target store.Target) {
	t.Helper()
	contents, err := grown.Contents(t.Context())
	if err == nil {
		err = target.PutContents(t.Context(), contents)
	}
	var group []task.Task
	for one, nextErr := range grown.Tasks(t.Context(), "") {
		if err != nil || nextErr != nil {
			t.Fatal(err, nextErr)
		}
		if group = append(group, one); len(group) == groupTasks {
			err, group = target.PutTasks(t.Context(), group), group[:0]
		}
	}
	for _, end := range []func() error{
		func() error { return err },
		func() error { return target.PutTasks(t.Context(), group) },
		func() error { return target.Finish(t.Context()) },
		func() error { return target.Release(t.Context(), nil) },
		target.Close,
	} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// groupTasks is how many tasks a commit makes.
const groupTasks = 4000

// mustTemplate returns a task that has succeeded.
func mustTemplate(t *testing.T, source store.Source) task.Task {
	t.Helper()
	for one, err := range source.Tasks(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if one.State == task.Succeeded {
			return one
		}
	}
	t.Fatal("no task has succeeded")
	return task.Task{}
}
