package store

import (
	"context"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// TopicDeliveries is woken when a delivery becomes due at once.
const TopicDeliveries = "deliveries"

// Webhooks keeps endpoints, and the outbox: one delivery for each end of a task and each endpoint that wants it,
// written in the commit that ends the task.
type Webhooks interface {
	PutEndpoint(ctx context.Context, e webhook.Endpoint) error
	GetEndpoint(ctx context.Context, s task.Scope, id string) (webhook.Endpoint, error)
	ListEndpoints(ctx context.Context, s task.Scope) ([]webhook.Endpoint, error)
	UpdateEndpoint(ctx context.Context, id string, change func(*webhook.Endpoint) error) (webhook.Endpoint, error)
	DeleteEndpoint(ctx context.Context, id string) error
	ClaimDeliveries(ctx context.Context, c DeliveryClaim) ([]Claimed, error)
	EndDelivery(ctx context.Context, ref DeliveryRef, o DeliveryOutcome) error
	ListDeliveries(ctx context.Context, q DeliveryQuery) (DeliveryPage, error)
	Replay(ctx context.Context, s task.Scope, endpoint, event string) error
}

// Wants reports whether an endpoint is to be told of an event.
func Wants(e webhook.Endpoint, ev webhook.Event) bool {
	return e.Disabled == "" && account.Allows(e.Capabilities, ev.Capability) && (len(e.States) == 0 || slices.Contains(e.States, ev.State))
}

// DeliveryClaim asks for due deliveries.
type DeliveryClaim struct {
	Node        string
	Lease       time.Duration
	Limit, Each int
	Endpoint    string
	Skip        []string
}

// DeliveryRef names a claim.
type DeliveryRef struct {
	Endpoint, Event string
	Epoch           int64
}

// Claimed is a delivery under a lease.
type Claimed struct {
	Ref      DeliveryRef
	Delivery webhook.Delivery
	Endpoint webhook.Endpoint
}

// DeliveryOutcome is the outcome of an attempt.
type DeliveryOutcome struct {
	Attempt webhook.Attempt
	State   webhook.DeliveryState
	Pause   time.Duration
}

// DeliveryQuery selects deliveries.
type DeliveryQuery struct {
	Scope    task.Scope
	Endpoint string
	State    webhook.DeliveryState
	Limit    int
	Cursor   string
}

// DeliveryPage is a page.
type DeliveryPage struct {
	Deliveries []webhook.Delivery
	Next       string
}
