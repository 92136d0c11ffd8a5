package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// TopicDeliveries is woken when a delivery becomes due at once.
const TopicDeliveries = "deliveries"

// TopicsOfDelivery returns what is woken when a delivery to the endpoint becomes due at once: TopicDeliveries, and a topic of
// the endpoint's own.
func TopicsOfDelivery(endpoint string) []string {
	return []string{TopicDeliveries, TopicDeliveriesTo(endpoint)}
}

// TopicDeliveriesTo is woken when a delivery to the endpoint becomes due at once.
func TopicDeliveriesTo(endpoint string) string { return TopicDeliveries + " " + endpoint }

// Webhooks keeps endpoints, and the outbox: one delivery for each end of a task and each endpoint that wants it,
// written in the commit that ends the task. An endpoint that was recorded before the task ended misses no end.
type Webhooks interface {
	// PutEndpoint records an endpoint; ErrExists when its id is taken, ErrNotFound for an unknown account, ErrMost when the
	// scope has webhook.MaxEndpoints that haven't expired.
	PutEndpoint(ctx context.Context, e webhook.Endpoint) error
	// GetEndpoint returns an endpoint of the scope, or ErrNotFound.
	GetEndpoint(ctx context.Context, s task.Scope, id string) (webhook.Endpoint, error)
	// ListEndpoints returns the endpoints of a scope, or of all for the zero Scope, by their ids: the oldest first.
	ListEndpoints(ctx context.Context, s task.Scope) ([]webhook.Endpoint, error)
	// UpdateEndpoint changes one endpoint in one commit; change may run more than once and must not change id or scope;
	// its error ends the update. ErrNotFound for an unknown id. Deliveries to one that is disabled wait until it is enabled.
	UpdateEndpoint(ctx context.Context, id string, change func(*webhook.Endpoint) error) (webhook.Endpoint, error)
	// DeleteEndpoint removes an endpoint; its deliveries are claimed and shown no more. ErrNotFound for an unknown id.
	DeleteEndpoint(ctx context.Context, id string) error
	// Tell records the delivery of a notice to its endpoint, in one commit with a mark by which a notice of the same mark is
	// passed over from then on; so is one to an endpoint that is disabled. ErrNotFound for an unknown endpoint.
	Tell(ctx context.Context, n Notice) error
	// ClaimDeliveries leases due deliveries, those of an endpoint in the order in which they became due, the endpoints
	// taking turns. A lease that runs out makes its delivery due again.
	ClaimDeliveries(ctx context.Context, c DeliveryClaim) ([]Claimed, error)
	// EndDelivery records an attempt and its outcome under a claim; ErrFenced if that isn't the delivery's last one, or has
	// been ended.
	EndDelivery(ctx context.Context, ref DeliveryRef, o DeliveryOutcome) error
	// ListDeliveries returns a page of an endpoint's deliveries, the newest task first. Next is "" at the end. A page of one
	// state may have fewer than its size, or none, although there are more: it looks at a bounded number of deliveries.
	ListDeliveries(ctx context.Context, q DeliveryQuery) (DeliveryPage, error)
	// Replay makes a delivery due at once, whatever its state; its attempts stay, and it is
	// tried as often as a new one. ErrNotFound for an unknown one.
	Replay(ctx context.Context, s task.Scope, endpoint, event string) error
}

// Notice is an event that is no task's end, for an endpoint.
type Notice struct {
	Endpoint string
	Event    webhook.Event // the engine's clock says when
	Mark     string
	Lasts    time.Duration // how long the mark is of interest, from now
}

// Told returns the counter that is 1 once the endpoint was told.
func (n Notice) Told() Counter {
	return Counter{Scope: n.Endpoint + " " + n.Mark, Kind: task.HoldTold}
}

// OutgoingAt returns its delivery.
func (n Notice) OutgoingAt(now time.Time) Outgoing {
	n.Event.At = now.UTC()
	return OutgoingOf(n.Endpoint, n.Event)
}

// DeliveryClaim asks for due deliveries.
type DeliveryClaim struct {
	Node     string        // for people: nothing depends on it
	Lease    time.Duration // from now
	Limit    int           // the most to return
	Each     int           // the most of one endpoint that are leased at once, on all nodes
	Endpoint string        // of this one alone; "": of all that have an address
	Skip     []string      // endpoints that are passed over
	// Held is how many deliveries of each account are under way on the node, which has Limit free places; nil: accounts
	// aren't counted. An account gets no place while it holds accountShare times as many as are free, so that another
	// account always finds some.
	Held map[string]int
}

// accountShare bounds the places of an account: with 48, one alone gets 32, and another still finds 11.
const accountShare = 2

// Wants reports whether an endpoint is to be told of an event.
func Wants(e webhook.Endpoint, ev webhook.Event) bool {
	return e.Disabled == "" && account.Allows(e.Capabilities, ev.Capability) && (len(e.States) == 0 || slices.Contains(e.States, ev.State))
}

// Takes reports whether deliveries to the endpoint may be claimed.
func (c DeliveryClaim) Takes(e webhook.Endpoint) bool {
	if e.Disabled != "" || slices.Contains(c.Skip, e.ID) {
		return false
	}
	return c.Endpoint == e.ID || (c.Endpoint == "" && e.URL != "")
}

// DeliveryRef names a claim: each of a delivery has a higher epoch than the one before.
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

// DeliveryOutcome is the outcome of an attempt; one without a time wasn't made.
type DeliveryOutcome struct {
	Attempt webhook.Attempt
	State   webhook.DeliveryState
	Pause   time.Duration // before the next attempt, if the state is Waiting
}

// DeliveryQuery selects deliveries of an endpoint. Limit is as for ListQuery; Cursor is the event after which to go on.
type DeliveryQuery struct {
	Scope    task.Scope
	Endpoint string
	State    webhook.DeliveryState // "": all
	Limit    int
	Cursor   string
	Look     int // at so many deliveries at most, if they are of one state; 0: deliveryLook
}

// deliveryLook is how many deliveries a page of one state looks at: some milliseconds' work.
const deliveryLook = 2000

// Looks returns how many deliveries a page may look at; false: at as many as it takes.
func (q DeliveryQuery) Looks() (n int, bounded bool) {
	return cmp.Or(q.Look, deliveryLook), q.State != ""
}

// PageSize returns how many deliveries a page may hold.
func (q DeliveryQuery) PageSize() int { return ListQuery{Limit: q.Limit}.PageSize() }

// DeliveryPage is a part of a listing; Next is "" at the end and nowhere else.
type DeliveryPage struct {
	Deliveries []webhook.Delivery
	Next       string
}
