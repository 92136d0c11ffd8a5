package main

import "github.com/spf13/cobra"

func newTasksCmd(t *terminal) *cobra.Command {
	return group("tasks", "Show, wait for, list and cancel tasks",
		newTasksGetCmd(t), newTasksWaitCmd(t), newTasksListCmd(t), newTasksCancelCmd(t))
}
