package notify

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// The bounds of a node's sending.
const (
	places    = 48               // deliveries on their way at once, to endpoints that answered quickly the last time
	slowPlace = 16               // and to those that didn't, so that they hold up each other alone
	slowPause = 5 * time.Second  // of a delivery for which there is none of these
	each      = 8                // to one endpoint at once, over all nodes
	perSecond = 100              // attempts to one endpoint
	lease     = 30 * time.Second // of a delivery: longer than an attempt and the waits before it
	poll      = time.Second      // between two looks for deliveries whose pause is over
	patience  = 200 * time.Millisecond
)

// Observer receives the outcomes that an operator counts. It must be quick.
type Observer interface {
	// WebhookAttempt is an attempt whose outcome was recorded: delivered, waiting for the next attempt, or failed for good.
	WebhookAttempt(outcome webhook.DeliveryState, took time.Duration)
}

// SenderConfig configures a Sender. Store, Secret, Node and Dial are required.
type SenderConfig struct {
	Store    Store
	Secret   []byte // the service's, see webhook.DeriveSecret
	Node     string
	Dial     DialFunc
	HTTP     bool // addresses may be http, also those that were recorded when they might
	Version  string
	Now      func() time.Time // nil: time.Now
	Logger   *slog.Logger     // nil: discarded
	Observer Observer         // nil: no observer
	// Budgets returns those that are nearly spent, Percent being how much; nil: no endpoint is told of any.
	Budgets func(context.Context) ([]webhook.Budget, error)
}

// Sender sends the deliveries that are due. It begins with Start; Shutdown ends it for good.
type Sender struct {
	SenderConfig

	post   *poster
	pace   pace
	freed  chan struct{} // a place is free again
	fast   chan struct{} // the places for quick endpoints
	cancel context.CancelFunc
	abort  context.CancelFunc
	loop   sync.WaitGroup
	work   sync.WaitGroup
}

// NewSender returns a Sender that is idle until its Start.
func NewSender(c SenderConfig) *Sender {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observer == nil {
		c.Observer = noopObserver{}
	}
	return &Sender{
		SenderConfig: c, post: newPoster(c.Dial, c.Version, c.HTTP), pace: pace{of: map[string]*measure{}, held: map[string]int{}, slow: map[string]int{}},
		freed: make(chan struct{}, 1), fast: make(chan struct{}, places),
	}
}

type noopObserver struct{}

func (noopObserver) WebhookAttempt(webhook.DeliveryState, time.Duration) {}

// Start begins to send.
func (s *Sender) Start() {
	claims, cancel := context.WithCancel(context.Background())
	attempts, abort := context.WithCancel(context.Background())
	s.cancel, s.abort = cancel, abort
	s.loop.Go(func() { s.run(claims, attempts) })
	if s.Budgets != nil {
		s.loop.Go(func() { s.watchBudgets(claims) })
	}
}

// Shutdown takes no new delivery and waits for the attempts under way until ctx ends; those cut off then are made again.
func (s *Sender) Shutdown(ctx context.Context) {
	if s.cancel == nil {
		return
	}
	s.cancel()
	stop := context.AfterFunc(ctx, s.abort)
	defer stop()
	s.loop.Wait()
	s.work.Wait()
	s.abort()
	s.post.close()
}

// run claims what is due whenever something may be, until ctx ends.
func (s *Sender) run(ctx, attempts context.Context) {
	bell, stop := s.Store.Wake(store.TopicDeliveries)
	defer stop()
	tick := time.NewTimer(poll)
	defer tick.Stop()
	for ctx.Err() == nil {
		got, err := s.claim(ctx, attempts)
		if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
			s.Logger.ErrorContext(ctx, "deliveries can't be claimed", slog.Any("error", err))
		}
		if got && err == nil && len(s.fast) < places {
			continue
		}
		tick.Reset(poll)
		select {
		case <-ctx.Done():
		case <-bell:
		case <-s.freed:
		case <-tick.C:
		}
	}
}

// claim takes as many due deliveries as there are free places and reports whether there was one.
func (s *Sender) claim(ctx, attempts context.Context) (bool, error) {
	room := places - len(s.fast)
	if room == 0 {
		return false, nil
	}
	claimed, err := s.Store.ClaimDeliveries(ctx, store.DeliveryClaim{
		Node: s.Node, Lease: lease, Limit: room, Each: each, Held: s.pace.holders(), Skip: s.pace.skip(),
	})
	for _, c := range claimed {
		s.begin(attempts, c)
	}
	return len(claimed) > 0, err
}

// begin delivers from a place of the endpoint's kind. There always is one for each that is quick: only this goroutine takes
// them. A delivery for which there is none of the slow ones is given back.
func (s *Sender) begin(ctx context.Context, c store.Claimed) {
	slow, owner := s.pace.isSlow(c.Endpoint.ID), c.Endpoint.Scope.Account
	switch {
	case !slow:
		s.fast <- struct{}{}
		s.pace.hold(owner, 1)
	case !s.pace.takeSlow(owner):
		s.work.Go(func() { // where that fails it comes back when its lease is over
			_ = s.Store.EndDelivery(ctx, c.Ref, store.DeliveryOutcome{State: webhook.Waiting, Pause: slowPause})
		})
		return
	}
	s.work.Go(func() {
		s.deliver(ctx, c)
		if slow {
			s.pace.leaveSlow(owner)
		} else {
			s.pace.hold(owner, -1) // before others are told that there is room
			<-s.fast
		}
		s.tellFreed()
	})
}

// tellFreed has the next claim come at once.
func (s *Sender) tellFreed() {
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// deliver makes one attempt and records its outcome.
func (s *Sender) deliver(ctx context.Context, c store.Claimed) {
	if !tells(c) {
		s.record(ctx, c, store.DeliveryOutcome{State: webhook.Canceled})
		return
	}
	if !sleep(ctx, s.pace.turn(c.Endpoint.ID, s.Now())) {
		return
	}
	header, body := http.Header{}, c.Delivery.Event.Body()
	at := s.Now()
	webhook.Sign(header, c.Delivery.Event.ID, at, body, Secrets(s.Secret, c.Endpoint, at)...)
	got := s.post.post(ctx, c.Endpoint.URL, header, body)
	took := s.Now().Sub(at)
	if got.status == 0 && ctx.Err() != nil {
		return // cut off by the end of this process: it comes back
	}
	s.pace.note(c.Endpoint, took)
	outcome := judge(c.Delivery.Tries(), got, rand.Float64())
	outcome.Attempt = webhook.Attempt{At: at.UTC(), Took: took, Status: got.status, Error: got.problem}
	s.record(ctx, c, outcome)
}

// tells reports whether the endpoint still tells of the event's capability, or of budgets: it may have been given to a key
// of fewer.
func tells(c store.Claimed) bool {
	if c.Delivery.Event.Budget != nil {
		return c.Endpoint.Budgets
	}
	return account.Allows(c.Endpoint.Capabilities, c.Delivery.Event.Capability)
}

// judge decides an attempt's outcome, after the given number of earlier ones since the delivery was written or replayed.
func judge(before int, got answer, jitter float64) store.DeliveryOutcome {
	if got.delivered() {
		return store.DeliveryOutcome{State: webhook.Delivered}
	}
	pause, again := webhook.Pause(before+1, jitter, got.retryAfter)
	if !again || got.status == http.StatusGone {
		return store.DeliveryOutcome{State: webhook.Failed}
	}
	return store.DeliveryOutcome{State: webhook.Waiting, Pause: pause}
}

// record stores an outcome. One that can't be stored within the lease, or before ctx ends, is forgotten: the delivery
// comes back.
func (s *Sender) record(ctx context.Context, c store.Claimed, o store.DeliveryOutcome) {
	ctx, cancel := context.WithTimeout(ctx, lease/2)
	defer cancel()
	attrs := []any{
		slog.String("endpoint_id", c.Endpoint.ID), slog.String("webhook_id", c.Delivery.Event.ID),
		slog.Int("status", o.Attempt.Status), slog.Int("attempt", len(c.Delivery.Attempts)+1),
	}
	err := s.Store.EndDelivery(ctx, c.Ref, o)
	for err != nil && !settled(err) && sleep(ctx, patience) {
		err = s.Store.EndDelivery(ctx, c.Ref, o)
	}
	switch {
	case errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrNotFound):
		return
	case err != nil:
		s.Logger.ErrorContext(ctx, "a delivery's outcome can't be stored", append(attrs, slog.Any("error", err))...)
		return
	}
	s.Observer.WebhookAttempt(o.State, o.Attempt.Took)
	if o.Attempt.Status == http.StatusGone {
		s.disable(ctx, c.Endpoint)
	}
	if o.State == webhook.Failed {
		s.Logger.WarnContext(ctx, "a delivery failed for good", attrs...)
	}
}

// settled reports whether the same call again would end in the same way.
func settled(err error) bool {
	return errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrClosed)
}

// disable ends the deliveries to an endpoint that answered that it is gone.
func (s *Sender) disable(ctx context.Context, gone webhook.Endpoint) {
	id := gone.ID
	_, err := s.Store.UpdateEndpoint(ctx, id, func(e *webhook.Endpoint) error {
		if e.Disabled == "" && e.URL == gone.URL {
			e.SetDisabled(webhook.DisabledGone, s.Now().UTC())
		}
		return nil
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.Logger.ErrorContext(ctx, "an endpoint that is gone can't be disabled", slog.String("endpoint_id", id), slog.Any("error", err))
		return
	}
	s.Logger.InfoContext(ctx, "an endpoint answered that it is gone and is disabled", slog.String("endpoint_id", id))
}

// Secrets returns the secrets that sign for an endpoint at a time: two while it rotates.
func Secrets(service []byte, e webhook.Endpoint, now time.Time) []webhook.Secret {
	all := []webhook.Secret{webhook.DeriveSecret(service, e.ID, e.Generation)}
	if e.Retiring != nil && now.Before(*e.Retiring) && e.Generation > 1 {
		all = append(all, webhook.DeriveSecret(service, e.ID, e.Generation-1))
	}
	return all
}

// sleep waits and reports whether it wasn't cut short.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// PrefixEndpoint begins an endpoint's id.
const PrefixEndpoint = "whe_"

// newEndpointID returns a fresh id of an endpoint.
func newEndpointID(now time.Time) string { return task.NewID(PrefixEndpoint, now) }
