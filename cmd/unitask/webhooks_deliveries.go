package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/shown"
)

func newWebhooksDeliveriesCmd(t *terminal) *cobra.Command {
	var o webhookFlags
	var state string
	var limit int
	cmd := newWebhookCmd("deliveries ID", "List what was sent to a webhook, newest first",
		"  unitask webhooks deliveries "+webhookExample+"\n  unitask webhooks deliveries "+webhookExample+" --state failed --json", &o,
		func(ctx context.Context) error {
			if limit < 1 {
				return &hint.UsageError{Message: "--limit takes a number above zero"}
			}
			return onWebhook(ctx, t, &o, func(c *client.Client) ([]api.Delivery, error) {
				return collectDeliveries(ctx, c, o.id, client.DeliveryOptions{State: state}, limit)
			}, func(all []api.Delivery) error { return listDeliveries(t, all, time.Now()) })
		})
	cmd.Annotations = tabled
	cmd.Flags().StringVar(&state, "state", "", "only deliveries in this `state`: waiting, delivered, failed, canceled")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this `many`")
	return cmd
}

// collectDeliveries follows the pages up to a limit.
func collectDeliveries(ctx context.Context, c *client.Client, id string, next client.DeliveryOptions, limit int) ([]api.Delivery, error) {
	all := []api.Delivery{}
	for {
		next.Limit = min(limit-len(all), api.MaxListLimit)
		page, err := c.Deliveries(ctx, id, next)
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

func listDeliveries(t *terminal, all []api.Delivery, now time.Time) error {
	if len(all) == 0 {
		t.note("no deliveries")
	}
	if len(all) == 0 && t.format != formatCSV {
		return nil
	}
	b := table{header: []string{"ID", "TYPE", "STATE", "ATTEMPTS", "LAST ANSWER", "CREATED"}, spare: []string{"CREATED", "TYPE"}}
	for _, d := range all {
		last := ""
		if n := len(d.Attempts); n > 0 {
			last = answered(d.Attempts[n-1])
		}
		b.row(same(d.ID), same(d.Type), same(d.State), same(strconv.Itoa(len(d.Attempts))), same(last), when(&d.CreatedAt, now))
	}
	return b.write(t)
}

// answered says how an attempt ended: "204 after 31ms".
func answered(a api.DeliveryAttempt) string {
	took := shown.Duration(time.Duration(a.Seconds * float64(time.Second)))
	if a.Status != nil {
		return fmt.Sprintf("%d after %s", *a.Status, took)
	}
	if a.Error != nil {
		return *a.Error
	}
	return "no answer"
}

func newWebhooksReplayCmd(t *terminal) *cobra.Command {
	var o clientFlags
	var id, event string
	cmd := &cobra.Command{
		Use: "replay ID EVENT", Short: "Send an event to a webhook again, at once", Args: exactly(&id, &event),
		Long:    "Send an event of the last seven days to a webhook again, at once. \"unitask webhooks deliveries\" lists their ids.",
		Example: "  unitask webhooks replay " + webhookExample + " task_06gztwr81bcb6csfsxswat9e1m.0",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.connect(cmd.Context(), t, nil)
			if err != nil {
				return err
			}
			return c.ReplayDelivery(cmd.Context(), id, event)
		},
	}
	o.add(cmd)
	return cmd
}
