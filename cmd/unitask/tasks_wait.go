package main

import (
	"context"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/save"
	"unitask/internal/submit"
)

// waitFlags say how long to wait for a task and how to use its result.
type waitFlags struct {
	output  string
	timeout time.Duration
	asJSON  bool
}

func (f *waitFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "save the result to `FILE`, DIR/, 'NAME.*' (the extension follows the content) or - for stdout")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "stop waiting after this `time`, such as 90s; the task goes on (exit code 7)")
	addJSON(cmd, &f.asJSON)
}

// check returns the error of the flags before a request is sent.
func (f *waitFlags) check() error {
	if f.timeout < 0 {
		return &hint.UsageError{Message: "--timeout takes a time above zero, such as 90s"}
	}
	return save.Check(f.output, f.asJSON)
}

// result is the use of a task's result.
func (f *waitFlags) result() resultOptions {
	return resultOptions{output: f.output, asJSON: f.asJSON}
}

// resultFor is result for an entry of the journal: by default, as run was told.
func (f *waitFlags) resultFor(e *journal.Entry) resultOptions {
	out := f.result()
	if f.output == "" {
		out.asJSON = f.asJSON || e.JSON
		if e.Output != "-" || !out.asJSON {
			out.output = e.Output
		}
	}
	return out
}

// wait ends ctx with submit.ErrTimeout after --timeout, if one is set.
func (f *waitFlags) wait(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, f.timeout, submit.ErrTimeout)
}

type tasksWaitOptions struct {
	clientFlags
	waitFlags
	id string
}

func newTasksWaitCmd(t *terminal) *cobra.Command {
	var o tasksWaitOptions
	cmd := &cobra.Command{
		Use:   "wait ID|latest",
		Short: "Wait for a task to end, then print or save its result as run does",
		Example: `  unitask tasks wait task_06gztwr81bcb6csfsxswat9e1m -o 'waves.*'
  unitask tasks wait task_06gztwr81bcb6csfsxswat9e1m --timeout 90s
  unitask tasks wait latest`,
		Args:              exactly(&o.id),
		ValidArgsFunction: completeTask(t, &o.clientFlags, unfinished...),
		RunE:              func(cmd *cobra.Command, _ []string) error { return tasksWaitRun(cmd.Context(), t, &o) },
	}
	o.waitFlags.add(cmd)
	o.clientFlags.add(cmd)
	return cmd
}

func tasksWaitRun(ctx context.Context, t *terminal, o *tasksWaitOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	p := startProgress(t, o.id)
	stop := sync.OnceFunc(p.stop)
	defer stop()
	c, err := o.connect(ctx, t, p.retry)
	if err != nil {
		return err
	}
	if o.id, err = taskID(ctx, c, o.id); err != nil {
		return err
	}
	done, err := o.follow(ctx, c, p)
	stop()
	if err != nil {
		return err
	}
	if err := showResult(ctx, t, c, done, o.result()); err != nil {
		return err
	}
	t.resultShown(o.id)
	return nil
}

// follow reads the task to its end, or as long as the person wants.
func (o *tasksWaitOptions) follow(ctx context.Context, c *client.Client, p *progress) (api.Task, error) {
	ctx, cancel := o.wait(ctx)
	defer cancel()
	last, err := c.Follow(ctx, o.id, p.show)
	if err != nil && ctx.Err() != nil {
		return last, &submit.LeftRunningError{TaskID: o.id, Cause: context.Cause(ctx)}
	}
	return last, err
}
