// Package webhook holds the nouns of telling others of the ends of tasks: endpoints, events, deliveries with their
// attempts, when the next attempt comes, and signatures as of Standard Webhooks 1.0.
//
// The package is pure: it knows no clock, no network and no store. A secret is derived from the service's own, and shown
// by Reveal alone.
package webhook

import (
	"fmt"
	"strings"
	"time"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// MaxEndpoints is how many endpoints a scope may have. Listeners whose time is over don't count.
const MaxEndpoints = 16

// Endpoint is who is told of the ends of a scope's tasks.
type Endpoint struct {
	ID           string       `json:"id"` // whe_…
	Scope        task.Scope   `json:"scope"`
	KeyID        string       `json:"key_id,omitempty"` // the key that made it, "" for a person
	URL          string       `json:"url,omitempty"`    // "" for a listener, which fetches its deliveries
	Description  string       `json:"description,omitempty"`
	Capabilities []string     `json:"capabilities,omitempty"` // patterns as in account.Allows; empty: all
	States       []task.State `json:"states,omitempty"`       // terminal ones; empty: all
	Budgets      bool         `json:"budgets,omitempty"`      // it is told of budgets that are nearly spent, too
	Generation   int          `json:"generation"`             // of its secret, from 1
	Retiring     *time.Time   `json:"retiring,omitempty"`     // until then the secret before signs too
	Disabled     Disabled     `json:"disabled,omitempty"`
	Since        *time.Time   `json:"since,omitempty"` // when it was disabled, or opened again
	CreatedAt    time.Time    `json:"created_at"`
	ExpiresAt    *time.Time   `json:"expires_at,omitempty"` // of a listener, put off by each fetch
}

// Expired reports whether it is a listener that hasn't fetched for long.
func (e Endpoint) Expired(now time.Time) bool { return e.ExpiresAt != nil && e.ExpiresAt.Before(now) }

// Disabled is why an endpoint is told of no end; "" if it is told.
type Disabled string

// The reasons.
const (
	DisabledAsked    Disabled = "asked"    // by its account
	DisabledGone     Disabled = "gone"     // it answered 410
	DisabledFull     Disabled = "full"     // too many deliveries wait for it
	DisabledOperator Disabled = "operator" // by the operator, who alone enables it
)

// SetDisabled disables the endpoint for a reason, or opens it again for "". What the operator disabled keeps that reason
// until it is opened.
func (e *Endpoint) SetDisabled(why Disabled, now time.Time) {
	if e.Disabled != why && (e.Disabled != DisabledOperator || why == "") {
		e.Disabled, e.Since = why, &now
	}
}

// Event is the end of a task, or of a budget that is nearly spent; one of neither, whose State is "", is a test.
type Event struct {
	ID         string        `json:"id"` // the task's id and the number of its reopenings: task_X.0
	TaskID     string        `json:"task_id"`
	Capability string        `json:"capability"`
	State      task.State    `json:"state"`
	Code       fault.Code    `json:"code,omitempty"` // of a failure
	RequestID  string        `json:"request_id,omitempty"`
	Metadata   task.Metadata `json:"metadata,omitempty"`
	At         time.Time     `json:"at"`
	Budget     *Budget       `json:"budget,omitempty"` // instead of a task
}

// PrefixBudget begins the ids of events about budgets.
const PrefixBudget = "bud_"

// Budget is that of an account, or of a key of it, and how it stands in the period under way.
type Budget struct {
	Account string     `json:"account"`
	Key     string     `json:"key,omitempty"` // its id; "": all keys of the account together
	First   string     `json:"-"`             // the first of the keys that share it by rotations; "" for the account's
	Amount  task.Money `json:"amount"`
	Spent   task.Money `json:"spent"`   // the reserved amounts of open tasks included
	Percent int        `json:"percent"` // how much of it, rounded down
	Part    int        `json:"part"`    // of which an endpoint is told: one of BudgetParts
	Period  string     `json:"period"`  // "day" or "month"
	Ends    time.Time  `json:"ends"`    // when it starts anew
}

// BudgetParts returns the parts of a budget, in percent, of which endpoints are told.
func BudgetParts() []int { return []int{80, 100} }

// Mark names what an endpoint is told of once: a part of an amount in a period. A rotation leaves it as it is.
func (b Budget) Mark() string {
	return fmt.Sprintf("%s %s %s %s %s %d", b.Account, b.First, b.Period, b.Ends.UTC().Format(time.DateOnly), b.Amount, b.Part)
}

// ValidEvent reports whether id is that of a task's end or of a budget.
func ValidEvent(id string) bool {
	of, n, ok := strings.Cut(id, ".")
	return ok && (task.ValidID(task.PrefixTask, of) || task.ValidID(PrefixBudget, of)) && n != "" && len(n) <= 4 && strings.Trim(n, "0123456789") == ""
}

// DeliveryState is how far a delivery is.
type DeliveryState string

// The states.
const (
	Waiting   DeliveryState = "waiting"   // for its next attempt
	Delivered DeliveryState = "delivered" // an attempt was answered 2xx
	Failed    DeliveryState = "failed"    // given up
	Canceled  DeliveryState = "canceled"  // its endpoint tells of its capability no more
)

// DeliveryStates returns all of them.
func DeliveryStates() []DeliveryState { return []DeliveryState{Waiting, Delivered, Failed, Canceled} }

// Delivery is one event on its way to one endpoint.
type Delivery struct {
	Endpoint string        `json:"endpoint"`
	Event    Event         `json:"event"`
	State    DeliveryState `json:"state"`
	Attempts []Attempt     `json:"attempts,omitempty"`
	Before   int           `json:"before,omitempty"` // how many of Attempts were made before the last replay
	Next     time.Time     `json:"next,omitzero"`    // of a waiting one
}

// Tries returns how many attempts were made since the delivery was written, or replayed last.
func (d Delivery) Tries() int { return len(d.Attempts) - d.Before }

// Attempt is one request and its answer, without the body.
type Attempt struct {
	At     time.Time     `json:"at"`
	Took   time.Duration `json:"took"`
	Status int           `json:"status,omitempty"` // 0 without an answer
	Error  string        `json:"error,omitempty"`  // why there is none
}
