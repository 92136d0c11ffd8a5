package main

import (
	"context"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
)

type tasksWaitOptions struct {
	clientFlags
	id      string
	output  string
	timeout time.Duration
	asJSON  bool
}

func newTasksWaitCmd(t *terminal) *cobra.Command {
	var o tasksWaitOptions
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait for a task to end, then print or save its result as run does",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = args[0]
			return tasksWaitRun(cmd.Context(), t, &o)
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "save the result to `FILE`, DIR/, 'NAME.*' or - for stdout")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "stop waiting after this `time`, such as 90s; the task goes on (exit code 7)")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func tasksWaitRun(ctx context.Context, t *terminal, o *tasksWaitOptions) error {
	if o.timeout < 0 {
		return &usageError{message: "--timeout takes a time above zero, such as 90s"}
	}
	if err := checkOutput(o.output, o.asJSON); err != nil {
		return err
	}
	p := startProgress(t, o.id)
	stop := sync.OnceFunc(p.stop)
	defer stop()
	c, err := o.connect(ctx, t, p.retry)
	if err != nil {
		return err
	}
	done, err := o.wait(ctx, c, p)
	stop()
	if err != nil {
		return err
	}
	return showResult(ctx, t, c, done, resultOptions{output: o.output, asJSON: o.asJSON})
}

// wait follows the task to its end, or as long as the person wants.
func (o *tasksWaitOptions) wait(ctx context.Context, c *client.Client, p *progress) (api.Task, error) {
	ctx, cancel := withTimeout(ctx, o.timeout)
	defer cancel()
	last, err := c.Follow(ctx, o.id, p.show)
	if err != nil && ctx.Err() != nil {
		return last, &leftRunning{id: o.id, cause: context.Cause(ctx)}
	}
	return last, err
}
