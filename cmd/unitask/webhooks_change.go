package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
)

// errUndelivered is a test event that wasn't taken.
var errUndelivered = errors.New("the address didn't take the test event")

// showWebhookSecret shows the secret that was just made.
func (t *terminal) showWebhookSecret(w api.Webhook) error {
	t.note("webhook %s", printable(w.ID))
	if _, err := fmt.Fprintln(t.out, t.safe(w.Secret)); err != nil {
		return err
	}
	if t.outTTY {
		t.note("It isn't shown again. The receiver verifies with it: docs/webhooks.md")
	}
	return nil
}

type webhooksCreateOptions struct {
	webhookFlags
	filterFlags
	request api.WebhookCreate
}

func newWebhooksCreateCmd(t *terminal) *cobra.Command {
	var o webhooksCreateOptions
	cmd := &cobra.Command{
		Use:   "create URL",
		Short: "Make a webhook and show its secret, this once",
		Long: `Make a webhook and show its secret, this once.

Each end of a task of this account and mode is sent to the URL, signed as Standard Webhooks 1.0 says, until it answers
2xx: at least once, for three days.`,
		Example: `  unitask webhooks create https://shop.example/hooks/unitask
  unitask webhooks create https://shop.example/hooks --capability 'image.*' --state failed --json | jq -r .secret`,
		Args: exactly(&o.request.URL),
		RunE: func(cmd *cobra.Command, _ []string) error { return webhooksCreateRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.request.Description, "description", "", "what it is for")
	addBudgets(cmd, &o.request.Budgets, "")
	o.addFilters(cmd, "")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func webhooksCreateRun(ctx context.Context, t *terminal, o *webhooksCreateOptions) (err error) {
	if o.request.States, err = o.ends(); err != nil {
		return err
	}
	o.request.Capabilities = o.capabilities
	return onWebhook(ctx, t, &o.webhookFlags, func(c *client.Client) (api.Webhook, error) { return c.CreateWebhook(ctx, o.request) }, t.showWebhookSecret)
}

type webhooksUpdateOptions struct {
	webhookFlags
	filterFlags
	request api.WebhookUpdate
	url     string
	about   string
	disable bool
	enable  bool
	budgets bool
}

func newWebhooksUpdateCmd(t *terminal) *cobra.Command {
	var o webhooksUpdateOptions
	cmd := &cobra.Command{
		Use:   "update ID",
		Short: "Change a webhook, from now on",
		Long:  "Change a webhook, from now on. What no flag names stays as it is, the secret too.",
		Example: `  unitask webhooks update ` + webhookExample + ` --state failed
  unitask webhooks update ` + webhookExample + ` --enable`,
		Args: exactly(&o.id),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			ctx := cmd.Context()
			return onWebhook(ctx, t, &o.webhookFlags, func(c *client.Client) (api.Webhook, error) {
				return c.UpdateWebhook(ctx, o.id, o.request)
			}, t.showWebhook)
		},
	}
	cmd.Flags().StringVar(&o.url, "url", "", "another `address`")
	cmd.Flags().StringVar(&o.about, "description", "", "what it is for")
	cmd.Flags().BoolVar(&o.disable, "disable", false, "tell it of no end from now on")
	cmd.Flags().BoolVar(&o.enable, "enable", false, "tell it of ends again, also after it answered 410")
	addBudgets(cmd, &o.budgets, "; not any more: --budgets=false")
	cmd.MarkFlagsMutuallyExclusive("disable", "enable")
	o.addFilters(cmd, `; "*" for all`)
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

// check turns the flags that were given into the request.
func (o *webhooksUpdateOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if given("url") {
		o.request.URL = &o.url
	}
	if given("description") {
		o.request.Description = &o.about
	}
	if given("budgets") {
		o.request.Budgets = &o.budgets
	}
	if given("capability") {
		o.request.Capabilities = &o.capabilities
	}
	if given("state") {
		states, err := o.ends()
		if err != nil {
			return err
		}
		o.request.States = &states
	}
	if o.disable || o.enable {
		o.request.Disabled = &o.disable
	}
	if o.request == (api.WebhookUpdate{}) {
		return &hint.UsageError{Message: "nothing to change: say what by a flag"}
	}
	return nil
}

func newWebhooksRotateCmd(t *terminal) *cobra.Command {
	var o webhookFlags
	var overlap string
	var now bool
	cmd := newWebhookCmd("rotate ID", "Give a webhook a new secret and show it, this once",
		"  unitask webhooks rotate "+webhookExample+" --overlap 1h", &o, func(ctx context.Context) error {
			var req api.WebhookRotate
			switch {
			case now:
				req.KeepOldForSeconds = new(int64(0))
			case overlap != "":
				life, err := parseLife("--overlap", overlap)
				if err != nil {
					return err
				}
				req.KeepOldForSeconds = new(int64(life / time.Second))
			}
			err := onWebhook(ctx, t, &o, func(c *client.Client) (api.Webhook, error) { return c.RotateWebhook(ctx, o.id, req) }, t.showWebhookSecret)
			if e, ok := errors.AsType[*client.Error](err); ok && e.Status == http.StatusConflict {
				return hint.With(err, "wait until then; or --now ends the old secrets at once")
			}
			return err
		})
	cmd.Long = `Give a webhook a new secret and show it, this once.

Until the overlap is over each request is signed by the old one too. Until then another rotation needs --now.`
	cmd.Flags().StringVar(&overlap, "overlap", "", "how long the old secret signs too, a `time` such as 1h; without, a day")
	cmd.Flags().BoolVar(&now, "now", false, "no old secret signs from now on, as after a leak")
	cmd.MarkFlagsMutuallyExclusive("overlap", "now")
	return cmd
}
