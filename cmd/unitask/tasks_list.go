package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/shown"
	"unitask/internal/task"
)

type tasksListOptions struct {
	clientFlags
	state      string
	capability string
	key        string
	code       string
	since      string
	until      string
	metadata   metadataFlag
	limit      int
	asJSON     bool
}

func newTasksListCmd(t *terminal) *cobra.Command {
	var o tasksListOptions
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: tabled,
		Aliases:     []string{"ls"},
		Short:       "List the account's tasks, newest first",
		Example: `  unitask tasks list
  unitask tasks list --state failed --capability image.generate --limit 100
  unitask tasks list --metadata team=search --metadata user=u-1042
  unitask tasks list --since 24h --code PROVIDER_TIMEOUT
  unitask tasks list --since 2026-11-01 --until 2026-11-07 --key key_06gztwr81bcb6csfsxswat9e1m
  unitask tasks list --json | jq -r '.[].id'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return tasksListRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.state, "state", "", "only tasks in this `state`: "+strings.Join(stateNames(), ", "))
	cmd.Flags().StringVar(&o.capability, "capability", "", "only tasks of this `capability`")
	cmd.Flags().StringVar(&o.key, "key", "", "only tasks that this key created, by its `id`")
	cmd.Flags().StringVar(&o.code, "code", "", "only tasks that failed with this error `code`, such as PROVIDER_TIMEOUT")
	cmd.Flags().StringVar(&o.since, "since", "", "only tasks created from this `time` on: a day such as 2026-11-21, a time such as 2026-11-21T08:00:00Z, or how long ago, such as 24h or 7d")
	cmd.Flags().StringVar(&o.until, "until", "", "only tasks created before this `time`; a day is included whole")
	o.metadata.add(cmd, "only tasks that were given this `name=text`; may be given again")
	cmd.Flags().IntVar(&o.limit, "limit", 20, "at most this `many`")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(stateNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("code", cobra.FixedCompletions(codeNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("capability", completeRun(t, &o.clientFlags))
	return cmd
}

func codeNames() []string {
	var names []string
	for _, c := range fault.Codes() {
		names = append(names, string(c))
	}
	return names
}

func stateNames() []string {
	var names []string
	for _, s := range task.States() {
		names = append(names, string(s))
	}
	return names
}

func tasksListRun(ctx context.Context, t *terminal, o *tasksListOptions) error {
	if o.state != "" && !slices.Contains(stateNames(), o.state) {
		return &hint.UsageError{Message: fmt.Sprintf("no state is called %q; there are %s", o.state, strings.Join(stateNames(), ", "))}
	}
	if o.limit < 1 {
		return &hint.UsageError{Message: "--limit takes a number above zero"}
	}
	if err := o.metadata.read(); err != nil {
		return err
	}
	q, err := o.query(time.Now())
	if err != nil {
		return err
	}
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	all, err := collectTasks(ctx, c, q, o.limit)
	if err != nil {
		return err
	}
	if len(all) == 0 && o.capability != "" {
		if err := mustExist(ctx, c, o.capability); err != nil {
			return err
		}
	}
	if o.asJSON {
		return t.json(all)
	}
	if len(all) == 0 {
		t.note("no tasks")
	}
	if len(all) == 0 && t.format != formatCSV {
		return nil
	}
	return listTasks(t, all, time.Now())
}

// query returns the selection of the flags.
func (o *tasksListOptions) query(now time.Time) (q client.ListOptions, err error) {
	q = client.ListOptions{
		State: task.State(o.state), Capability: o.capability, Key: o.key, Code: fault.Code(strings.ToUpper(o.code)), Metadata: &o.metadata.pairs,
	}
	switch {
	case o.key != "" && !task.ValidID(task.PrefixKey, o.key):
		return q, &hint.UsageError{Message: "--key takes the id of a key, which begins with " + task.PrefixKey}
	case o.code != "" && !q.Code.Valid():
		return q, &hint.UsageError{Message: fmt.Sprintf("no error code is called %q; there are %s", o.code, strings.Join(codeNames(), ", "))}
	}
	if q.Since, err = parseMoment("--since", o.since, now, 0); err != nil {
		return q, err
	}
	q.Until, err = parseMoment("--until", o.until, now, 1)
	return q, err
}

// parseMoment reads a time, a day in UTC, or how long ago it was. A day is its beginning, or that of so many days later.
func parseMoment(flag, text string, now time.Time, later int) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, later), nil
	}
	ago, err := parseLife(flag, text)
	if err != nil {
		return time.Time{}, &hint.UsageError{Message: fmt.Sprintf(
			"%s takes a day such as 2026-11-21, a time such as 2026-11-21T08:00:00Z or a time ago such as 24h, not %q", flag, text)}
	}
	return now.Add(-ago), nil
}

// mustExist refuses the name of a capability that the key's directory and this program's own don't have. It is called
// if no task was found: there may be tasks of one that was taken out of the directory.
func mustExist(ctx context.Context, c *client.Client, name string) error {
	open, err := c.Capabilities(ctx)
	if err != nil {
		return err
	}
	directory, err := catalog.Default()
	if err != nil {
		return err
	}
	names := namesOf(directory)
	for _, one := range open {
		if !slices.Contains(names, string(one.Name)) {
			names = append(names, string(one.Name))
		}
	}
	if slices.Contains(names, name) {
		return nil
	}
	return absentCapability(name, names, "there is no capability")
}

// collectTasks follows the pages up to a limit: one may be short, or empty, before the end.
func collectTasks(ctx context.Context, c *client.Client, next client.ListOptions, limit int) ([]api.Task, error) {
	all := []api.Task{}
	for {
		next.Limit = min(limit-len(all), api.MaxListLimit)
		page, err := c.List(ctx, next)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.NextCursor == nil || len(all) >= limit || *page.NextCursor == next.Cursor {
			return all[:min(len(all), limit)], nil
		}
		next.Cursor = *page.NextCursor
	}
}

func listTasks(t *terminal, all []api.Task, now time.Time) error {
	b := table{
		header: []string{"ID", "CAPABILITY", "STATE", "CREATED", "TOOK", "COST"},
		spare:  []string{"TOOK", "CREATED", "COST"}, last: "CAPABILITY",
	}
	for _, one := range all {
		state := cell{human: string(one.State), plain: string(one.State), style: t.style.state(one.State)}
		if p := percent(one.Progress); p != "" && !one.State.Terminal() {
			state.human += " " + p
		}
		end := now
		if one.FinishedAt != nil {
			end = one.FinishedAt.Time
		}
		took := end.Sub(one.CreatedAt.Time)
		cost := cell{human: "–"}
		if one.Usage != nil {
			cost = cell{human: "$" + one.Usage.Cost.Amount, plain: one.Usage.Cost.Amount}
		}
		b.row(same(one.ID), same(one.Capability), state, when(&one.CreatedAt, now),
			cell{human: shown.Duration(max(took, 0)), plain: fmt.Sprintf("%.3f", max(took, 0).Seconds())}, cost)
	}
	return b.write(t)
}
