package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/task"
)

func newWebhooksCmd(t *terminal) *cobra.Command {
	return group("webhooks", "Have the ends of tasks sent to an address of yours",
		newWebhooksCreateCmd(t), newWebhooksListCmd(t), newWebhooksGetCmd(t), newWebhooksUpdateCmd(t), newWebhooksRotateCmd(t),
		newWebhooksTestCmd(t), newWebhooksDeleteCmd(t), newWebhooksDeliveriesCmd(t), newWebhooksReplayCmd(t), newWebhooksListenCmd(t))
}

// webhookExample is an id in examples.
const webhookExample = "whe_06gztwr81bcb6csfsxswat9e1m"

// webhookFlags are those of a command on one webhook.
type webhookFlags struct {
	clientFlags
	id     string
	asJSON bool
}

// newWebhookCmd returns a command on one webhook, whose id is its argument.
func newWebhookCmd(use, short, example string, o *webhookFlags, run func(context.Context) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: exactly(&o.id),
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context()) },
	}
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

// onWebhook makes a call and shows its answer.
func onWebhook[T any](ctx context.Context, t *terminal, o *webhookFlags, call func(*client.Client) (T, error), show func(T) error) error {
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	got, err := call(c)
	if err != nil {
		return err
	}
	if o.asJSON {
		return t.json(got)
	}
	return show(got)
}

// filterFlags choose the ends that a webhook is told of.
type filterFlags struct {
	capabilities []string
	states       []string
}

func (f *filterFlags) addFilters(cmd *cobra.Command, all string) {
	cmd.Flags().StringSliceVar(&f.capabilities, "capability", nil, "only tasks of these capabilities, as `pattern` such as image.*; may be repeated"+all)
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "only these `ends`: succeeded, failed, canceled; may be repeated"+all)
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(endNames, cobra.ShellCompDirectiveNoFileComp))
}

// addBudgets adds --budgets.
func addBudgets(cmd *cobra.Command, of *bool, more string) {
	cmd.Flags().BoolVar(of, "budgets", false, "tell it of budgets that are spent to 80 % and to 100 %, too"+more)
}

var endNames = []string{string(task.Succeeded), string(task.Failed), string(task.Canceled)}

// ends returns the states of --state; "*" stands for all.
func (f *filterFlags) ends() ([]task.State, error) {
	out := []task.State{}
	for _, s := range f.states {
		if s == "*" {
			return []task.State{}, nil
		}
		if !slices.Contains(endNames, s) {
			return nil, &hint.UsageError{Message: fmt.Sprintf("--state is one of %s, not %q", strings.Join(endNames, ", "), s)}
		}
		out = append(out, task.State(s))
	}
	return out, nil
}

func newWebhooksListCmd(t *terminal) *cobra.Command {
	var o webhookFlags
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: tabled, Aliases: []string{"ls"}, Short: "List the account's webhooks, oldest first", Args: cobra.NoArgs,
		Example: "  unitask webhooks list\n  unitask webhooks list --json | jq -r '.[].id'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onWebhook(cmd.Context(), t, &o, func(c *client.Client) ([]api.Webhook, error) { return c.Webhooks(cmd.Context()) },
				func(all []api.Webhook) error { return listWebhooks(t, all, time.Now()) })
		},
	}
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func listWebhooks(t *terminal, all []api.Webhook, now time.Time) error {
	if len(all) == 0 {
		t.note("no webhooks")
	}
	if len(all) == 0 && t.format != formatCSV {
		return nil
	}
	b := table{header: []string{"ID", "URL", "TELLS OF", "STATE", "CREATED"}, spare: []string{"CREATED", "TELLS OF"}}
	for _, w := range all {
		b.row(same(w.ID), same(cmp.Or(w.URL, "(listener)")), same(tellsOf(w)), webhookState(t, w), when(&w.CreatedAt, now))
	}
	return b.write(t)
}

// tellsOf says of which ends a webhook is told, and whether of budgets: "failed ends of image.*, budgets".
func tellsOf(w api.Webhook) string {
	names := make([]string, len(w.States))
	for i, s := range w.States {
		names[i] = string(s)
	}
	ends := cmp.Or(strings.Join(names, ","), "all") + " ends"
	if len(w.Capabilities) > 0 && !slices.Contains(w.Capabilities, "*") {
		ends += " of " + strings.Join(w.Capabilities, ",")
	}
	if w.Budgets {
		ends += ", budgets"
	}
	return ends
}

func webhookState(t *terminal, w api.Webhook) cell {
	if w.Disabled == nil {
		return cell{human: "open", plain: "open", style: t.style.good}
	}
	text := "disabled"
	if *w.Disabled != "asked" {
		text = *w.Disabled // gone, or full
	}
	return cell{human: text, plain: text, style: t.style.bad}
}

// showWebhook prints a webhook's members.
func (t *terminal) showWebhook(w api.Webhook) error {
	_, err := fmt.Fprintf(t.out, "id           %s\nurl          %s\ndescription  %s\ntells of     %s\nstate        %s\ncreated      %s\n",
		t.safe(w.ID), t.safe(cmp.Or(w.URL, "(listener)")), t.safe(w.Description), t.safe(tellsOf(w)), webhookState(t, w).plain,
		w.CreatedAt.UTC().Format(time.RFC3339))
	if err == nil && w.OldSecretUntil != nil {
		_, err = fmt.Fprintf(t.out, "old secret   signs too until %s\n", w.OldSecretUntil.UTC().Format(time.RFC3339))
	}
	return err
}

func newWebhooksGetCmd(t *terminal) *cobra.Command {
	var o webhookFlags
	return newWebhookCmd("get ID", "Show a webhook", "  unitask webhooks get "+webhookExample, &o, func(ctx context.Context) error {
		return onWebhook(ctx, t, &o, func(c *client.Client) (api.Webhook, error) { return c.Webhook(ctx, o.id) }, t.showWebhook)
	})
}

func newWebhooksDeleteCmd(t *terminal) *cobra.Command {
	var o clientFlags
	var id string
	cmd := &cobra.Command{
		Use: "delete ID", Aliases: []string{"rm"}, Short: "Delete a webhook, with what waits for it", Args: exactly(&id),
		Example: "  unitask webhooks delete " + webhookExample,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.connect(cmd.Context(), t, nil)
			if err != nil {
				return err
			}
			return c.DeleteWebhook(cmd.Context(), id)
		},
	}
	o.add(cmd)
	return cmd
}

func newWebhooksTestCmd(t *terminal) *cobra.Command {
	var o webhookFlags
	return newWebhookCmd("test ID", "Send a test event to a webhook, once, and show the answer",
		"  unitask webhooks test "+webhookExample, &o, func(ctx context.Context) error {
			return onWebhook(ctx, t, &o, func(c *client.Client) (api.WebhookTest, error) { return c.TestWebhook(ctx, o.id) },
				func(got api.WebhookTest) error {
					if _, err := fmt.Fprintln(t.out, t.safe(answered(got.Attempt))); err != nil || got.Delivered {
						return err
					}
					return hint.With(errUndelivered, "a 2xx is needed; a redirect isn't followed")
				})
		})
}
