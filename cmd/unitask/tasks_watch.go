package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/submit"
	"unitask/internal/task"
)

// watched is how many tasks are followed at once: each is read every few seconds, and a key's reads
// are limited.
const watched = 50

const tasksWatchLong = `Print a line for each change of tasks until all of them have ended: of those with the ids, else of the
account's newest unfinished ones, at most 50. A pipe gets time, id, capability, state and progress between tabs.

How a task ended makes no difference to the exit code; "unitask tasks wait" says that.`

type tasksWatchOptions struct {
	clientFlags
	ids    []string
	asJSON bool
}

func newTasksWatchCmd(t *terminal) *cobra.Command {
	var o tasksWatchOptions
	cmd := &cobra.Command{
		Use:   "watch [ID...]",
		Short: "Print each change of tasks until they have ended",
		Long:  tasksWatchLong,
		Example: `  unitask tasks watch
  unitask tasks watch task_06gztwr81bcb6csfsxswat9e1m --json`,
		ValidArgsFunction: completeTasks(t, &o.clientFlags, unfinished...),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ids = args
			return tasksWatchRun(cmd.Context(), t, &o)
		},
	}
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

// unfinished are the states that a task leaves again.
var unfinished = slices.DeleteFunc(task.States(), task.State.Terminal)

func tasksWatchRun(ctx context.Context, t *terminal, o *tasksWatchOptions) error {
	if len(o.ids) > watched {
		return &hint.UsageError{Message: fmt.Sprintf("%d tasks are too many to watch at once; %d are the most", len(o.ids), watched)}
	}
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	ids := o.ids
	if len(ids) == 0 {
		if ids, err = newestIn(ctx, c, watched+1, unfinished); err != nil {
			return err
		}
	}
	if len(ids) > watched {
		t.note("more than %[1]d tasks are unfinished; these are the newest %[1]d", watched)
		ids = ids[:watched]
	}
	if len(ids) == 0 {
		t.note("nothing to watch")
		return nil
	}
	w := watch{t: t, client: c, asJSON: o.asJSON, alone: len(ids) == 1}
	errs := parallel(watched, ids, func(id string) error { return w.one(ctx, id) })
	switch {
	case ctx.Err() != nil:
		return hint.With(&submit.LeftRunningError{TaskID: "what is unfinished", Cause: context.Cause(ctx)}, "unitask tasks list"+o.words())
	case w.alone:
		return errs[0]
	}
	return several(errs)
}

// newestIn returns the ids of the newest tasks in some states, up to a limit.
func newestIn(ctx context.Context, c *client.Client, limit int, states []task.State) ([]string, error) {
	var ids []string
	for _, s := range states {
		found, err := collectTasks(ctx, c, client.ListOptions{State: s}, limit)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			ids = append(ids, one.ID)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	ids = slices.Compact(ids) // a task may change its state between two lists
	return ids[:min(limit, len(ids))], nil
}

// watch prints the changes of several tasks, one after another.
type watch struct {
	t      *terminal
	client *client.Client
	asJSON bool
	alone  bool
	mu     sync.Mutex
}

// one follows a task. An error of one of several is reported at once.
func (w *watch) one(ctx context.Context, id string) error {
	var written error
	_, err := w.client.Follow(ctx, id, func(now api.Task) {
		w.mu.Lock()
		defer w.mu.Unlock()
		written = errors.Join(written, w.print(now))
	})
	err = errors.Join(err, written)
	if err != nil && ctx.Err() == nil && !w.alone {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.t.report("unitask tasks watch", err)
	}
	return err
}

func (w *watch) print(now api.Task) error {
	if w.asJSON {
		return w.t.json(now)
	}
	progress := ""
	if now.Progress != nil && !now.State.Terminal() {
		progress = percent(now.Progress)
	}
	line := fmt.Sprintf("%s\t%s\t%s\t%s\t%s", stamp(&now.UpdatedAt), oneLine(now.ID), oneLine(now.Capability), oneLine(string(now.State)), progress)
	if w.t.outTTY {
		s := w.t.style
		line = fmt.Sprintf("%s  %s  %s  %s %s", s.faint.Render(now.UpdatedAt.Local().Format(time.TimeOnly)), s.bold.Render(oneLine(now.ID)),
			oneLine(now.Capability), s.state(now.State).Render(oneLine(string(now.State))), progress)
	}
	_, err := fmt.Fprintln(w.t.out, line)
	return err
}
