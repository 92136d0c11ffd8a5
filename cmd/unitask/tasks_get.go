package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/save"
	"unitask/internal/shown"
	"unitask/internal/snippet"
	"unitask/internal/task"
)

type tasksGetOptions struct {
	clientFlags
	id     string
	output string
	input  bool
	asJSON bool
}

func newTasksGetCmd(t *terminal) *cobra.Command {
	var o tasksGetOptions
	cmd := &cobra.Command{
		Use:   "get ID|latest",
		Short: "Show a task with the times of its states",
		Example: `  unitask tasks get task_06gztwr81bcb6csfsxswat9e1m
  unitask tasks get task_06gztwr81bcb6csfsxswat9e1m -o 'fox.*'
  unitask tasks get task_06gztwr81bcb6csfsxswat9e1m --input
  unitask tasks get latest -o 'fox.*'`,
		Args:              exactly(&o.id),
		ValidArgsFunction: completeTask(t, &o.clientFlags, task.States()...),
		RunE:              func(cmd *cobra.Command, _ []string) error { return tasksGetRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "save the result to `FILE`, DIR/, 'NAME.*' or - for stdout")
	cmd.Flags().BoolVar(&o.input, "input", false, "print its request, if its account keeps them, as the line of a batch; with --json, until when too")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("input", "output")
	return cmd
}

func tasksGetRun(ctx context.Context, t *terminal, o *tasksGetOptions) error {
	if err := save.Check(o.output, o.asJSON); err != nil {
		return err
	}
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	if o.id, err = taskID(ctx, c, o.id); err != nil {
		return err
	}
	if o.input {
		return showInput(ctx, t, c, o)
	}
	r, err := c.Get(ctx, o.id, client.GetOptions{})
	if err != nil {
		return err
	}
	var moves []api.Move
	if o.output == "" || o.asJSON {
		if moves, err = c.Timeline(ctx, o.id); err != nil {
			return err
		}
	}
	if o.output != "" {
		if !r.Task.State.Terminal() {
			return hint.With(errors.New(o.id+" is still "+string(r.Task.State)), "unitask tasks wait "+o.id+" -o "+snippet.Word(o.output))
		}
		if err := showResult(ctx, t, c, r.Task, resultOptions{output: o.output, asJSON: o.asJSON, moves: moves}); err != nil {
			return err
		}
		t.resultShown(o.id)
		return nil
	}
	if o.asJSON {
		return t.json(timed{r.Task, moves})
	}
	return showTask(t, r.Task, moves, time.Now())
}

// showInput prints the request of a task.
func showInput(ctx context.Context, t *terminal, c *client.Client, o *tasksGetOptions) error {
	kept, err := c.Input(ctx, o.id)
	switch {
	case err != nil:
		return err
	case o.asJSON:
		return t.json(kept)
	default:
		return t.json(api.CreateRequest{Capability: kept.Capability, Input: kept.Input, Parameters: kept.Parameters})
	}
}

// timed is a task with the times of its states.
type timed struct {
	api.Task
	Timeline []api.Move `json:"timeline,omitempty"`
}

// showTask prints a task for reading: the same text on a terminal and in a pipe.
func showTask(t *terminal, now api.Task, moves []api.Move, at time.Time) error {
	p := page{t: t}
	row := func(name, value string) {
		p.line("%s%s", t.style.faint.Render((name + "            ")[:12]), value)
	}
	row("id", t.style.bold.Render(printable(now.ID)))
	row("capability", printable(now.Capability))
	row("mode", string(now.Mode))
	state := t.style.state(now.State).Render(string(now.State))
	if now.Progress != nil && !now.State.Terminal() {
		state += "  " + percent(now.Progress)
	}
	row("state", state)
	if now.Error != nil {
		row("error", printable(now.Error.Message+" ("+string(now.Error.Code)+")"))
	}
	if now.Usage != nil {
		row("cost", "$"+now.Usage.Cost.Amount)
	}
	for _, name := range slices.Sorted(maps.Keys(now.Metadata)) {
		row("metadata", printable(name+"="+now.Metadata[name]))
	}
	p.line("\n%s", t.style.bold.Render("Timeline"))
	for i, m := range moves {
		p.line("  %-13s %s  %s", m.State, stamp(&m.At), lasted(moves, i, at))
	}
	if now.Output == nil || p.err != nil {
		return p.err
	}
	p.line("\n%s", t.style.bold.Render("Output"))
	defer t.noteCut(now)
	return errors.Join(p.err, printOutput(t, now))
}

// lasted is how long the i-th state lasted, or lasts; "" for a terminal one.
func lasted(moves []api.Move, i int, now time.Time) string {
	switch {
	case i+1 < len(moves):
		return shown.Duration(moves[i+1].At.Sub(moves[i].At.Time))
	case moves[i].State.Terminal():
		return ""
	default:
		return shown.Duration(max(now.Sub(moves[i].At.Time), 0)) + " so far"
	}
}
