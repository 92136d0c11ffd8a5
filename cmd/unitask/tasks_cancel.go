package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/task"
)

type tasksCancelOptions struct {
	clientFlags
	id     string
	asJSON bool
}

func newTasksCancelCmd(t *terminal) *cobra.Command {
	var o tasksCancelOptions
	cmd := &cobra.Command{
		Use:   "cancel ID|latest",
		Short: "Cancel a task",
		Example: `  unitask tasks cancel task_06gztwr81bcb6csfsxswat9e1m
  unitask tasks cancel latest`,
		Args:              exactly(&o.id),
		ValidArgsFunction: completeTask(t, &o.clientFlags, unfinished...),
		RunE:              func(cmd *cobra.Command, _ []string) error { return tasksCancelRun(cmd.Context(), t, &o) },
	}
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func tasksCancelRun(ctx context.Context, t *terminal, o *tasksCancelOptions) error {
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	if o.id == latest {
		if o.id, err = goingOn(ctx, c); err != nil {
			return err
		}
		t.note("%s", t.errStyle.faint.Render(printable(o.id)))
	}
	now, err := c.Cancel(ctx, o.id)
	if err != nil {
		return err
	}
	if o.asJSON {
		return t.json(now)
	}
	switch now.State {
	case task.Canceled:
	case task.Succeeded, task.Failed:
		t.note("%s had ended already", o.id)
	default:
		t.note("asked; the task stops as soon as its work can be stopped")
	}
	_, err = fmt.Fprintln(t.out, t.safe(string(now.State)))
	return err
}

// goingOn returns the id of the newest task, unless it has ended: an older one isn't meant by its word.
func goingOn(ctx context.Context, c *client.Client) (string, error) {
	now, err := newestTask(ctx, c)
	if err == nil && now.State.Terminal() {
		err = hint.With(fmt.Errorf("the newest task, %s, has ended: it is %s", now.ID, now.State), "unitask tasks watch shows those that go on")
	}
	return now.ID, err
}
