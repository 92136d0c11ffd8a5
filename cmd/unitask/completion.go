package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/journal"
	"unitask/internal/task"
)

// A shell waits for completions: they take this long at most, and are empty after an error.
const completionTime = 2 * time.Second

// completed is how many tasks are offered.
const completed = 50

// ask connects for a completion and asks the service; false if it doesn't answer in time.
func ask(cmd *cobra.Command, t *terminal, flags *clientFlags, question func(context.Context, *client.Client) error) bool {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	if flags.keyFile == "-" {
		return false // stdin is the shell's
	}
	silent := &terminal{in: t.in, out: t.out, err: t.err} // a passphrase isn't asked for while a shell completes
	c, err := flags.connect(ctx, silent, func(client.Retry) {})
	return err == nil && question(ctx, c) == nil
}

// completeRun completes capabilities, then the names of their fields.
func completeRun(t *terminal, flags *clientFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if head, name, ok := unfinishedFile(toComplete); ok && len(args) > 0 {
			return completeFile(head, name)
		}
		var all []api.Capability
		asked := ask(cmd, t, flags, func(ctx context.Context, c *client.Client) (err error) {
			all, err = c.Capabilities(ctx)
			return err
		})
		if !asked {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completions(all, args, toComplete)
	}
}

// completeName completes a capability as the only argument.
func completeName(t *terminal, flags *clientFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeRun(t, flags)(cmd, nil, toComplete)
	}
}

func completions(all []api.Capability, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, one := range all {
		if len(args) == 0 {
			out = append(out, cobra.CompletionWithDesc(string(one.Name), brief(one.Title)))
			continue
		}
		if string(one.Name) != args[0] {
			continue
		}
		fields, err := catalog.FieldsOf(one.InputSchema, one.ParametersSchema)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, f := range fields {
			if values := slices.Concat(f.Enum, f.Examples); len(values) > 0 && strings.HasPrefix(toComplete, f.Name+"=") {
				for _, v := range values {
					out = append(out, f.Name+"="+v)
				}
				return out, cobra.ShellCompDirectiveNoFileComp
			}
			out = append(out, cobra.CompletionWithDesc(f.Name+"=", brief(f.Description)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeTask completes the id of one of the account's tasks in some states, newest first; before them the word for
// the newest of all, if it is in one of these.
func completeTask(t *terminal, flags *clientFlags, states ...task.State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all := newestTasks(cmd, t, flags)
		found := taskCompletions(all, nil, states)
		if len(all) > 0 && slices.Contains(states, all[0].State) {
			found = slices.Insert(found, 0, cobra.CompletionWithDesc(latest, "the newest task"))
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeTasks completes the ids of the account's tasks in some states, newest first, but for those that are given.
func completeTasks(t *terminal, flags *clientFlags, states ...task.State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found := taskCompletions(newestTasks(cmd, t, flags), args, states)
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// newestTasks returns those that are offered, if the service answers in time.
func newestTasks(cmd *cobra.Command, t *terminal, flags *clientFlags) []api.Task {
	var page api.TaskList
	ask(cmd, t, flags, func(ctx context.Context, c *client.Client) (err error) {
		page, err = c.List(ctx, client.ListOptions{Limit: completed})
		return err
	})
	return page.Data
}

func taskCompletions(all []api.Task, given []string, states []task.State) (found []cobra.Completion) {
	for _, one := range all {
		if slices.Contains(states, one.State) && !slices.Contains(given, one.ID) {
			found = append(found, cobra.CompletionWithDesc(one.ID, one.Capability+", "+string(one.State)))
		}
	}
	return found
}

// completeEntries completes the journal's entries, newest first, except the given ones; it sends no request. Of those
// that failed a command takes one.
func completeEntries(failedOnly bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if failedOnly && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		j := journal.Open(journal.StateDir())
		ids, err := j.List()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		slices.Reverse(ids)
		var found []cobra.Completion
		for _, id := range ids[:min(completed, len(ids))] {
			if e, err := j.Peek(id); err == nil && (e.Failed || !failedOnly) && !slices.Contains(args, e.Name()) {
				found = append(found, cobra.CompletionWithDesc(e.Name(), "started "+age(time.Now().Add(-e.Age), time.Now())+" for "+e.BaseURL))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeProfiles completes the names of profiles.
func completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := client.LoadProfiles(client.ConfigDir())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, name := range slices.Sorted(maps.Keys(all.Profiles)) {
		found = append(found, cobra.CompletionWithDesc(name, all.Profiles[name].BaseURL))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
