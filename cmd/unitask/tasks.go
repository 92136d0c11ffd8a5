package main

import "github.com/spf13/cobra"

func newTasksCmd(t *terminal) *cobra.Command {
	return group("tasks", "Show, list, wait for, cancel, retry and resume tasks",
		newTasksGetCmd(t), newTasksWaitCmd(t), newTasksListCmd(t), newTasksCancelCmd(t),
		newTasksRetryCmd(t), newTasksResumeCmd(t))
}
