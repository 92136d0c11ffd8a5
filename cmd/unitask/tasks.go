package main

import (
	"context"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
)

func newTasksCmd(t *terminal) *cobra.Command {
	return group("tasks", "Show, list, watch, wait for, cancel, retry and resume tasks",
		newTasksGetCmd(t), newTasksListCmd(t), newTasksWatchCmd(t), newTasksWaitCmd(t), newTasksCancelCmd(t),
		newTasksRetryCmd(t), newTasksResumeCmd(t))
}

// taskID returns the id of the task that a person means: "latest" is the newest one.
func taskID(ctx context.Context, c *client.Client, id string) (string, error) {
	if id != latest {
		return id, nil
	}
	now, err := newestTask(ctx, c)
	return now.ID, err
}

func newestTask(ctx context.Context, c *client.Client) (api.Task, error) {
	page, err := c.List(ctx, client.ListOptions{Limit: 1})
	switch {
	case err != nil:
		return api.Task{}, err
	case len(page.Data) == 0:
		return api.Task{}, hint.With(fault.New(fault.NotFound, "there is no task yet"), `unitask run text.chat "Say hello" makes one`)
	}
	return page.Data[0], nil
}
