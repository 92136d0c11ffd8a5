package main

import "github.com/spf13/cobra"

func newTasksCmd(t *terminal) *cobra.Command {
	return group("tasks", "Show, list, watch, wait for, cancel, retry and resume tasks",
		newTasksGetCmd(t), newTasksListCmd(t), newTasksWatchCmd(t), newTasksWaitCmd(t), newTasksCancelCmd(t),
		newTasksRetryCmd(t), newTasksResumeCmd(t))
}
