package api

import (
	"encoding/json"

	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// PathWebhooks is the collection of endpoints, which are told of the ends of tasks.
const PathWebhooks = Root + "/webhooks"

// ScopeWebhooks among a key's scopes opens its account's endpoints to it.
const ScopeWebhooks = "webhooks"

// EventWebhook is an event in the stream of a listener.
const EventWebhook = "webhook"

// Webhook is an endpoint. Secret is in the answers alone that make it or rotate its secret.
type Webhook struct {
	ID             string       `json:"id"`
	URL            string       `json:"url"` // "" of a listener, which fetches its deliveries
	Description    string       `json:"description"`
	Capabilities   []string     `json:"capabilities"` // patterns; empty: all
	States         []task.State `json:"states"`       // terminal ones; empty: all
	Budgets        bool         `json:"budgets"`      // it is told of budgets that are nearly spent, too
	Disabled       *string      `json:"disabled"`     // null, "asked", "gone", "full" or "operator"
	DisabledAt     *Timestamp   `json:"disabled_at"`  // from then on it was told of no end
	CreatedAt      Timestamp    `json:"created_at"`
	OldSecretUntil *Timestamp   `json:"old_secret_until"` // both secrets sign until then
	ExpiresAt      *Timestamp   `json:"expires_at"`       // of a listener
	Secret         string       `json:"secret,omitempty"`
	RequestID      string       `json:"request_id,omitempty"`
}

// WebhookCreate asks for an endpoint: the URL, or Listener, is required.
type WebhookCreate struct {
	URL          string       `json:"url,omitempty"`
	Listener     bool         `json:"listener,omitempty"`
	Description  string       `json:"description,omitempty"`
	Capabilities []string     `json:"capabilities,omitempty"`
	States       []task.State `json:"states,omitempty"`
	Budgets      bool         `json:"budgets,omitempty"`
}

// WebhookUpdate changes the named members.
type WebhookUpdate struct {
	URL          *string       `json:"url,omitempty"`
	Description  *string       `json:"description,omitempty"`
	Capabilities *[]string     `json:"capabilities,omitempty"`
	States       *[]task.State `json:"states,omitempty"`
	Budgets      *bool         `json:"budgets,omitempty"`
	Disabled     *bool         `json:"disabled,omitempty"`
}

// WebhookRotate asks for a new secret.
type WebhookRotate struct {
	KeepOldForSeconds *int64 `json:"keep_old_for_seconds,omitempty"` // nil: a day; 0: the old one signs no more
}

// WebhookList is a scope's endpoints, oldest first.
type WebhookList struct {
	Data      []Webhook `json:"data"`
	RequestID string    `json:"request_id"`
}

// Delivery is an event on its way to an endpoint.
type Delivery struct {
	ID         string            `json:"id"`      // of the event: the header webhook-id
	TaskID     string            `json:"task_id"` // "" of one about a budget, as the capability
	Type       string            `json:"type"`
	Capability string            `json:"capability"`
	State      string            `json:"state"` // "waiting", "delivered", "failed" or "canceled"
	CreatedAt  Timestamp         `json:"created_at"`
	NextAt     *Timestamp        `json:"next_attempt_at"` // of a waiting one
	Attempts   []DeliveryAttempt `json:"attempts"`
}

// DeliveryAttempt is one request to an endpoint, and its answer without the body.
type DeliveryAttempt struct {
	At      Timestamp `json:"at"`
	Seconds float64   `json:"duration_seconds"`
	Status  *int      `json:"status"` // null without an answer
	Error   *string   `json:"error"`  // why there is none
}

// DeliveryList is a page of deliveries, newest first; NextCursor is null at the end.
type DeliveryList struct {
	Data       []Delivery `json:"data"`
	NextCursor *string    `json:"next_cursor"`
	RequestID  string     `json:"request_id"`
}

// WebhookTest is the outcome of a trial of an endpoint.
type WebhookTest struct {
	Delivered bool            `json:"delivered"`
	Attempt   DeliveryAttempt `json:"attempt"`
	RequestID string          `json:"request_id"`
}

// WebhookEvent is an event as a listener gets it. Body is sent on byte for byte; Claim comes back with its outcome.
type WebhookEvent struct {
	ID    string          `json:"id"`
	Claim string          `json:"claim"`
	Body  json.RawMessage `json:"body"`
}

// DeliveryOutcome is the outcome of an attempt that a listener made.
type DeliveryOutcome struct {
	Claim   string  `json:"claim"`
	Seconds float64 `json:"duration_seconds,omitempty"`
	Status  int     `json:"status,omitempty"` // 0 without an answer
}

// Append appends the event's JSON to b, the body as it is.
func (e WebhookEvent) Append(b []byte) []byte {
	w := jsonwrite.Append(b)
	w.Begin('{')
	text(w, "id", e.ID)
	text(w, "claim", e.Claim)
	w.Name("body")
	w.JSON(e.Body)
	w.End('}')
	out, err := w.Bytes()
	if err != nil { // the body is JSON of ours
		panic(err)
	}
	return out
}
