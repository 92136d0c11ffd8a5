package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/submit"
	"unitask/internal/task"
)

const tasksRetryLong = `Submit the request of a failed task again, under its own key: the same task goes on.

That works for failures that another try may mend (a timeout, a full service), at most five times for a
task, and where this machine's journal has the request: "unitask run" leaves it there after such a
failure. The service itself keeps no request of a task that has ended.`

type tasksRetryOptions struct {
	clientFlags
	waitFlags
	id string
}

func newTasksRetryCmd(t *terminal) *cobra.Command {
	var o tasksRetryOptions
	cmd := &cobra.Command{
		Use:   "retry ID|latest",
		Short: "Try a failed task of this machine again, under its own key",
		Long:  tasksRetryLong,
		Example: `  unitask tasks retry task_06gztwr81bcb6csfsxswat9e1m
  unitask tasks retry task_06gztwr81bcb6csfsxswat9e1m -o fox.png --timeout 5m
  unitask tasks retry latest`,
		Args:              exactly(&o.id),
		ValidArgsFunction: completeEntries(true),
		RunE:              func(cmd *cobra.Command, _ []string) error { return tasksRetryRun(cmd.Context(), t, &o) },
	}
	o.waitFlags.add(cmd)
	o.clientFlags.add(cmd)
	return cmd
}

func tasksRetryRun(ctx context.Context, t *terminal, o *tasksRetryOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	p := startProgress(t, o.id)
	stop := sync.OnceFunc(p.stop)
	defer stop()
	c, err := o.reach(ctx, t, p.retry)
	if err != nil {
		return err
	}
	if o.id, err = taskID(ctx, c.Client, o.id); err != nil {
		return err
	}
	e, err := takeEntry(c.Journal, o.id)
	if _, absent := errors.AsType[*submit.NotJournaledError](err); absent {
		return o.unknown(ctx, c)
	}
	if err != nil {
		return err
	}
	if err := c.Owns(ctx, e); err != nil {
		return errors.Join(err, e.Close())
	}
	s := c.Take(e, p.show)
	done, err := o.finish(ctx, s)
	stop()
	if err == nil {
		err = showResult(ctx, t, c.Client, done, o.resultFor(e))
	}
	return s.Settle(err)
}

// takeEntry locks the entry that a person means.
func takeEntry(j *journal.Journal, name string) (*journal.Entry, error) {
	id, err := submit.Find(j, name)
	if err != nil {
		return nil, err
	}
	e, err := j.Take(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

func (o *tasksRetryOptions) finish(ctx context.Context, s *submit.Submission) (api.Task, error) {
	ctx, cancel := o.wait(ctx)
	defer cancel()
	return s.Retry(ctx)
}

// unknown is the error for a task that isn't in the journal, with the next step.
func (o *tasksRetryOptions) unknown(ctx context.Context, c *submit.Service) error {
	r, err := c.Get(ctx, o.id, client.GetOptions{})
	if err != nil {
		return err
	}
	f := r.Task.Fault()
	switch {
	case !r.Task.State.Terminal():
		return hint.With(fmt.Errorf("%s is %s: there is nothing to try again", o.id, r.Task.State), "unitask tasks wait "+o.id+o.words())
	case r.Task.State == task.Failed && f != nil && f.Retryable():
		return hint.With(
			fmt.Errorf("this machine's journal doesn't hold the request of %s, and the service keeps none of a task that has ended", o.id),
			"the same unitask run command makes a new task; with the first one's --idempotency-key it goes on with this one")

	case r.Task.State == task.Failed:
		return hint.With(fmt.Errorf("another try can't mend it: %w", submit.Ended(r.Task)), "unitask tasks get "+o.id+o.words())
	default:
		return hint.With(fmt.Errorf("%s is %s: there is nothing to try again", o.id, r.Task.State), "unitask tasks get "+o.id+o.words())
	}
}
