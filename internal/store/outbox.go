package store

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"unitask/internal/task"
	"unitask/internal/webhook"
)

// DeliveryLife is how long a delivery stays after its last attempt, or its task's end.
const DeliveryLife = 7 * 24 * time.Hour

// MaxWaiting is about how many deliveries may wait for an endpoint: a sweep disables one with more, so that a receiver that
// is dead doesn't fill the store. Those that wait stay; the ends from then on are told to it no more.
const MaxWaiting = 100_000

// openedGrace is how long an endpoint that was opened again may catch up before it is looked at, unless twice as many wait.
const openedGrace = time.Hour

// TooFull reports whether a sweep disables the endpoint, for which so many deliveries wait.
func (r SweepRequest) TooFull(e webhook.Endpoint, waiting int, now time.Time) bool {
	due := e.Since == nil || now.Sub(*e.Since) > openedGrace || waiting > 2*r.Waiting
	return r.Waiting > 0 && waiting > r.Waiting && e.Disabled == "" && due
}

// keptAttempts is how many attempts a delivery remembers: replays have no end.
const keptAttempts = 20

// Outgoing is a delivery as an engine keeps it.
type Outgoing struct {
	webhook.Delivery
	Epoch   int64     `json:"epoch,omitempty"`   // of its last claim
	Until   time.Time `json:"until,omitzero"`    // the end of that claim's lease; zero once it was ended
	EndedAt time.Time `json:"ended_at,omitzero"` // when it ceased to wait
}

// errEndpointIdentity refuses a change of who is told.
var errEndpointIdentity = errors.New("store: an endpoint's id and scope don't change")

// ChangeEndpoint applies a change of UpdateEndpoint.
func ChangeEndpoint(e *webhook.Endpoint, change func(*webhook.Endpoint) error) error {
	id, scope := e.ID, e.Scope
	if err := change(e); err != nil {
		return err
	}
	if e.ID != id || e.Scope != scope {
		return errEndpointIdentity
	}
	return nil
}

// MayAdd returns ErrMost if a scope with these endpoints may have no further one.
func MayAdd(endpoints []webhook.Endpoint, now time.Time) error {
	n := 0
	for _, e := range endpoints {
		if !e.Expired(now) {
			n++
		}
	}
	if n >= webhook.MaxEndpoints {
		return ErrMost
	}
	return nil
}

// EventOf returns the event of a task's end; false unless after is terminal and before isn't.
func EventOf(before, after *task.Task) (webhook.Event, bool) {
	if !after.State.Terminal() || before.State.Terminal() || after.FinishedAt == nil {
		return webhook.Event{}, false
	}
	event := webhook.Event{
		ID: after.ID + "." + strconv.Itoa(after.Reopenings), TaskID: after.ID, Capability: after.Capability, State: after.State,
		RequestID: after.RequestID, Metadata: after.Metadata, At: *after.FinishedAt,
	}
	if after.Failure != nil {
		event.Code = after.Failure.Code
	}
	return event, true
}

// Deliveries returns those of a task's end to the endpoints of its scope.
func Deliveries(before, after *task.Task, endpoints []webhook.Endpoint) (all []Outgoing) {
	if len(endpoints) == 0 {
		return nil
	}
	event, ended := EventOf(before, after)
	for _, e := range endpoints {
		if ended && Wants(e, event) {
			all = append(all, OutgoingOf(e.ID, event))
		}
	}
	return all
}

// OutgoingOf returns the new delivery of an event to an endpoint.
func OutgoingOf(endpoint string, event webhook.Event) Outgoing {
	return Outgoing{Delivery: webhook.Delivery{Endpoint: endpoint, Event: event, State: webhook.Waiting, Next: event.At}}
}

// Due returns when the delivery may be claimed: the end of its pause, or of its lease. Zero if it doesn't wait.
func (o Outgoing) Due() time.Time {
	switch {
	case o.State != webhook.Waiting:
		return time.Time{}
	case o.Until.After(o.Next):
		return o.Until
	default:
		return o.Next
	}
}

// Leased reports whether it is under a lease at the time.
func (o Outgoing) Leased(now time.Time) bool {
	return o.State == webhook.Waiting && now.Before(o.Until)
}

// Claim returns the delivery under a new lease.
func (o Outgoing) Claim(now time.Time, lease time.Duration) Outgoing {
	o.Epoch++
	o.Until = now.Add(lease)
	return o
}

// Ref names its last claim.
func (o Outgoing) Ref() DeliveryRef {
	return DeliveryRef{Endpoint: o.Endpoint, Event: o.Event.ID, Epoch: o.Epoch}
}

// End returns the delivery after an attempt under its last claim; ErrFenced under another one.
func (o Outgoing) End(ref DeliveryRef, out DeliveryOutcome, now time.Time) (Outgoing, error) {
	if o.State != webhook.Waiting || o.Epoch != ref.Epoch || o.Until.IsZero() {
		return o, ErrFenced
	}
	if !out.Attempt.At.IsZero() {
		o.Attempts = append(slices.Clone(o.Attempts), out.Attempt)
		forgotten := max(0, len(o.Attempts)-keptAttempts)
		o.Attempts, o.Before = o.Attempts[forgotten:], max(0, o.Before-forgotten)
	}
	o.State, o.Until = out.State, time.Time{}
	if o.State == webhook.Waiting {
		o.Next = now.Add(out.Pause)
	} else {
		o.Next, o.EndedAt = time.Time{}, now
	}
	return o, nil
}

// Replay returns the delivery due at once, with all of its tries again; a claim under way can't be ended any more.
func (o Outgoing) Replay(now time.Time) Outgoing {
	o.State, o.Next, o.Until, o.EndedAt = webhook.Waiting, now, time.Time{}, time.Time{}
	o.Before = len(o.Attempts)
	return o
}

// Expired reports whether it has been kept for long enough.
func (o Outgoing) Expired(now time.Time) bool { return o.KeptFrom().Add(DeliveryLife).Before(now) }

// KeptFrom returns from when its life is counted. One that waits for an endpoint that takes none stays no longer than
// others.
func (o Outgoing) KeptFrom() time.Time {
	if o.State == webhook.Waiting {
		return o.Next
	}
	return o.EndedAt
}

// Queue is the due deliveries of an endpoint, in their order.
type Queue[T any] struct {
	Account string
	Due     []T
}

// TakeTurns returns the deliveries of several endpoints' queues that a claim takes, one of each in turn, beginning with
// the queue that has waited for longest.
func TakeTurns[T any](c DeliveryClaim, queues []Queue[T], due func(T) time.Time) []T {
	queues = slices.DeleteFunc(slices.Clone(queues), func(q Queue[T]) bool { return len(q.Due) == 0 })
	slices.SortStableFunc(queues, func(a, b Queue[T]) int { return due(a.Due[0]).Compare(due(b.Due[0])) })
	held := maps.Clone(c.Held)
	var all []T
	for round := 0; len(all) < c.Limit; round++ {
		before := len(all)
		for _, q := range queues {
			switch {
			case round >= len(q.Due) || len(all) == c.Limit:
				continue
			case held == nil:
			case held[q.Account] >= accountShare*(c.Limit-len(all)):
				continue
			default:
				held[q.Account]++
			}
			all = append(all, q.Due[round])
		}
		if len(all) == before {
			break
		}
	}
	return all
}
