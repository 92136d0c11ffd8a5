package notify

import (
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// webhookOf returns an endpoint as its account reads it.
func webhookOf(e webhook.Endpoint, now time.Time) api.Webhook {
	out := api.Webhook{
		ID: e.ID, URL: e.URL, Description: e.Description, Capabilities: append([]string{}, e.Capabilities...),
		States: append([]task.State{}, e.States...), Budgets: e.Budgets, CreatedAt: api.Timestamp{Time: e.CreatedAt},
	}
	if e.Disabled != "" {
		out.Disabled, out.DisabledAt = new(string(e.Disabled)), api.TimestampOf(e.Since)
	}
	if e.Retiring != nil && now.Before(*e.Retiring) {
		out.OldSecretUntil = api.TimestampOf(e.Retiring)
	}
	if e.ExpiresAt != nil {
		out.ExpiresAt = api.TimestampOf(e.ExpiresAt)
	}
	return out
}

func deliveryOf(d webhook.Delivery) api.Delivery {
	out := api.Delivery{
		ID: d.Event.ID, TaskID: d.Event.TaskID, Type: d.Event.Type(), Capability: d.Event.Capability,
		State: string(d.State), CreatedAt: api.Timestamp{Time: d.Event.At}, Attempts: make([]api.DeliveryAttempt, 0, len(d.Attempts)),
	}
	if d.State == webhook.Waiting {
		out.NextAt = api.TimestampOf(&d.Next)
	}
	for _, a := range d.Attempts {
		out.Attempts = append(out.Attempts, attemptOf(a))
	}
	return out
}

func attemptOf(a webhook.Attempt) api.DeliveryAttempt {
	out := api.DeliveryAttempt{At: api.Timestamp{Time: a.At}, Seconds: float64(a.Took.Milliseconds()) / 1000}
	if a.Status != 0 {
		out.Status = new(a.Status)
	}
	if a.Error != "" {
		out.Error = new(a.Error)
	}
	return out
}
