package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/save"
	"unitask/internal/submit"
)

const tasksResumeLong = `Finish what "unitask run" began on this machine and couldn't end: because it was interrupted or killed,
its wait timed out or the connection was lost.

Each request is in this machine's journal from before it was sent, so the same task is found, or made if
it never was. Without ids all of them are finished; each result is printed or saved as run was told to,
or as -o says now. Entries of a live run, of another service and of failed tasks are left alone.

--list shows what there is and asks no service. --forget ID gives up an entry, such as one whose result can't be
put where run was told to; the task itself stays as it is.`

// resumed is how many tasks are finished at once.
const resumed = 8

type tasksResumeOptions struct {
	clientFlags
	waitFlags
	ids          []string
	show, forget bool
}

func newTasksResumeCmd(t *terminal) *cobra.Command {
	var o tasksResumeOptions
	cmd := &cobra.Command{
		Use:   "resume [ID...]",
		Short: "Finish what run began on this machine: the same tasks, under the same keys",
		Long:  tasksResumeLong,
		Example: `  unitask tasks resume
  unitask tasks resume task_06gztwr81bcb6csfsxswat9e1m -o fox.png
  unitask tasks resume --timeout 90s --json
  unitask tasks resume --list`,
		ValidArgsFunction: completeEntries(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ids = args
			return tasksResumeRun(cmd.Context(), t, &o)
		},
	}
	cmd.Flags().BoolVar(&o.show, "list", false, "show what there is to finish, and finish nothing")
	cmd.Flags().BoolVar(&o.forget, "forget", false, "remove the named entries from this machine's journal; their tasks stay")
	cmd.MarkFlagsMutuallyExclusive("list", "forget")
	o.waitFlags.add(cmd)
	o.clientFlags.add(cmd)
	return cmd
}

func tasksResumeRun(ctx context.Context, t *terminal, o *tasksResumeOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.forget && len(o.ids) == 0 {
		return &hint.UsageError{Message: "--forget takes the ids of what is to be forgotten", Hint: "unitask tasks resume --list"}
	}
	j := journal.Open(journal.StateDir())
	if gone, err := j.Sweep(time.Now()); err != nil {
		return err
	} else if gone > 0 {
		t.note("forgotten: %d submissions that are older than the service keeps their keys", gone)
	}
	ids, err := o.choose(j)
	switch {
	case err != nil:
		return err
	case o.forget:
		return o.drop(t, j, ids)
	}
	if err := t.noteBatches(j); err != nil {
		return err
	}
	switch {
	case o.show:
		return o.list(t, j, ids)
	case len(ids) == 0:
		t.note("nothing to resume")
		return nil
	}
	if o.output != "" && len(ids) > 1 && !save.IsFolder(o.output) {
		return &hint.UsageError{Message: fmt.Sprintf("-o %s has room for one task, and there are %d: name one, or give a folder as DIR/", o.output, len(ids))}
	}
	r := resumption{o: o, t: t, progress: startProgress(t, "resume")}
	stop := sync.OnceFunc(r.progress.stop)
	defer stop()
	if r.service, err = o.reach(ctx, t, r.progress.retry); err != nil {
		return err
	}
	return r.run(ctx, ids, stop)
}

// noteBatches names the commands that go on with interrupted batches.
func (t *terminal) noteBatches(j *journal.Journal) error {
	all, err := j.Batches()
	for _, b := range all {
		t.note("%d of %d are done of a batch; the same command does the rest: %s", b.Done, b.All, printable(b.Command))
	}
	return err
}

// choose returns the entries that were asked for: all, or those with the ids, which may be those of tasks.
func (o *tasksResumeOptions) choose(j *journal.Journal) ([]string, error) {
	if len(o.ids) == 0 {
		return j.List()
	}
	var chosen []string
	for _, name := range o.ids {
		id, err := submit.Find(j, name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, id)
	}
	return slices.Compact(slices.Sorted(slices.Values(chosen))), nil
}

// resumption finishes several entries at once; their results come one after another.
type resumption struct {
	o        *tasksResumeOptions
	t        *terminal
	service  *submit.Service
	progress *progress
	all      int

	mu     sync.Mutex
	done   int
	others map[string]int // how many entries another service has, by the flags that reach it
}

func (r *resumption) run(ctx context.Context, ids []string, stop func()) error {
	r.all, r.others = len(ids), map[string]int{}
	errs := parallel(resumed, ids, func(id string) error {
		err := r.one(ctx, id)
		r.ended(err)
		return err
	})
	stop()
	for _, flags := range slices.Sorted(maps.Keys(r.others)) {
		r.t.note("%d more for another service: unitask tasks resume%s", r.others[flags], flags)
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return several(errs)
}

// one finishes an entry, or says why not.
func (r *resumption) one(ctx context.Context, id string) error {
	e, err := r.service.Journal.Take(id)
	_, damaged := errors.AsType[*journal.DamagedError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it has ended meanwhile
		return nil
	case errors.Is(err, journal.ErrBusy), errors.Is(err, journal.ErrUnsent):
		r.t.above(func() { r.t.note("%s: %v", id, err) })
		return nil
	case damaged:
		return hint.With(fmt.Errorf("%s: %w", id, err), "unitask tasks list shows what the service has; then unitask tasks resume --forget "+id)
	case err != nil:
		return err
	}
	if ours, err := r.takes(ctx, e); !ours {
		return errors.Join(err, e.Close())
	}
	return r.finish(ctx, e)
}

// takes says whether an entry is for this command; an error says why one that was asked for isn't.
func (r *resumption) takes(ctx context.Context, e *journal.Entry) (bool, error) {
	named := len(r.o.ids) > 0
	if e.Failed && !named {
		r.t.above(func() {
			r.t.note("%s failed; unitask tasks retry %s%s tries it again", e.Name(), e.Name(), r.o.words())
		})
		return false, nil
	}
	err := r.service.Owns(ctx, e)
	if other, ok := errors.AsType[*submit.OtherServiceError](err); ok && !named {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.others[other.Flags]++
		return false, nil
	}
	return err == nil, err
}

func (r *resumption) finish(ctx context.Context, e *journal.Entry) error {
	wait, cancel := r.o.wait(ctx)
	defer cancel()
	s := r.service.Take(e, r.show)
	done, err := s.Resume(wait)
	r.t.above(func() {
		if err == nil && r.all > 1 {
			r.t.note("%s %s %s", done.State, done.ID, done.Capability)
		}
		if err == nil {
			err = showResult(ctx, r.t, r.service.Client, done, r.o.resultFor(e))
		}
		err = s.Settle(err)
	})
	return err
}

// show shows a single task's states; several are counted.
func (r *resumption) show(now api.Task) {
	if r.all == 1 {
		r.progress.show(now)
	}
}

// ended counts an entry. An error of one among several is said at once.
func (r *resumption) ended(err error) {
	if err != nil && r.all > 1 {
		r.t.above(func() { r.t.report("unitask tasks resume", err) })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done++; r.all > 1 {
		r.progress.count(r.done, r.all)
	}
}
