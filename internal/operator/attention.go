package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/store"
)

// Concern is something that an operator should look at.
type Concern struct {
	Kind  ConcernKind
	Name  string // of a supplier, an account or a key
	ID    string // of an account or a key
	About string // in words
	Grave bool   // requests fail by it, or will; else it is a warning
}

// ConcernKind is the subject of a Concern.
type ConcernKind string

// The kinds of concerns.
const (
	ConcernRefused ConcernKind = "refused" // a supplier refuses the service's key, balance or permission
	ConcernTripped ConcernKind = "tripped" // routes of a supplier are left alone
	ConcernFailing ConcernKind = "failing" // most attempts at a supplier fail
	ConcernFull    ConcernKind = "full"    // a supplier has no room
	ConcernPaused  ConcernKind = "paused"  // an operator has paused a supplier
	ConcernAccount ConcernKind = "account" // an account has spent most of its budget
	ConcernKey     ConcernKind = "key"     // a key has
	ConcernService ConcernKind = "service" // the store, the disk or the queue
)

const (
	// longWait is how long the oldest task may wait in the queue before it is a concern.
	longWait = 5 * time.Minute
	// fewAttempts is how many attempts at a supplier tell how it does; fewer tell of chance.
	fewAttempts = 5
)

// Concerns returns all that needs an operator's attention, the gravest first.
func (o *Operator) Concerns(ctx context.Context, states []api.SupplierState) ([]Concern, error) {
	var all []Concern
	for i := range states {
		all = append(all, concernsOf(&states[i])...)
	}
	failing, err := o.failing(states)
	if err != nil {
		return nil, err
	}
	all = append(all, failing...)
	spent, err := o.budgetConcerns(ctx)
	if err != nil {
		return nil, err
	}
	all = append(all, spent...)
	service, err := o.serviceConcerns(ctx)
	all = append(service, all...)
	slices.SortStableFunc(all, func(a, b Concern) int { return cmp.Compare(weight(a), weight(b)) })
	return all, err
}

func weight(c Concern) int {
	if c.Grave {
		return 0
	}
	return 1
}

// concernsOf returns those of one supplier: one for each kind, however many routes it concerns.
func concernsOf(s *api.SupplierState) (all []Concern) {
	if why := s.Refuses(); why != "" {
		all = append(all, Concern{Kind: ConcernRefused, Name: s.Name, About: why, Grave: true})
	}
	if s.Paused != nil {
		about := "since " + s.Paused.Since.UTC().Format("2 Jan 15:04 UTC")
		if s.Paused.By != "" {
			about += ", by " + s.Paused.By
		}
		return append(all, Concern{Kind: ConcernPaused, Name: s.Name, About: about})
	}
	var tripped, full []api.RouteState
	approved := 0
	for _, r := range s.Routes {
		if !r.Approved {
			continue
		}
		approved++
		switch {
		case r.NeedsOperator || r.State == api.RouteOpen && r.Reason == "":
		case strings.HasPrefix(r.Reason, fullReason):
			full = append(full, r)
		default:
			tripped = append(tripped, r)
		}
	}
	if len(tripped) > 0 {
		about := fmt.Sprintf("%d of %d routes left alone: %s (%s, %s)", len(tripped), approved, tripped[0].Reason, tripped[0].Capability, tripped[0].Model)
		all = append(all, Concern{Kind: ConcernTripped, Name: s.Name, About: about, Grave: len(tripped) == approved && !slices.ContainsFunc(tripped, forSomeAlone)})
	}
	switch {
	case s.Limit > 0 && s.InFlight >= s.Limit:
		all = append(all, Concern{Kind: ConcernFull, Name: s.Name, About: fmt.Sprintf("%d of %d attempts in flight", s.InFlight, s.Limit)})
	case len(full) > 0:
		all = append(all, Concern{Kind: ConcernFull, Name: s.Name, About: fmt.Sprintf("%s (%s)", full[0].Reason, full[0].Model)})
	}
	return all
}

// failing returns the suppliers of which half of the attempts failed or more, in this node's hour under way, with the one
// before while there are few. A breaker's pause is short: with little traffic it is seldom open when somebody looks. One
// that is paused or refuses the service is a concern already, and the sandbox fails as it is asked to.
func (o *Operator) failing(states []api.SupplierState) (all []Concern, err error) {
	if o.Hours == nil {
		return nil, nil
	}
	report, err := o.ByHour(2, "")
	if err != nil {
		return nil, err
	}
	for i := range states {
		s := &states[i]
		at := slices.IndexFunc(report.Suppliers, func(g Group) bool { return g.Name == s.Name })
		if at < 0 || s.Sandbox() || s.Paused != nil || s.Refuses() != "" {
			continue
		}
		sums, since := &report.Suppliers[at].Slots[1], report.Slots[1].Start
		if sums.Attempts.Attempts() < fewAttempts {
			sums, since = &report.Suppliers[at].Total, report.Slots[0].Start
		}
		n := sums.Attempts.Attempts()
		if part, _ := sums.AttemptErrorRate(); n < fewAttempts || part < 0.5 {
			continue
		}
		failed := n - sums.Attempts.Succeeded
		all = append(all, Concern{
			Kind: ConcernFailing, Name: s.Name, Grave: failed == n,
			About: fmt.Sprintf("%d of %d attempts failed since %s", failed, n, since.Format("15:04 UTC")),
		})
	}
	return all, nil
}

// forSomeAlone reports whether a route goes on for most accounts.
func forSomeAlone(r api.RouteState) bool {
	before, after, _ := strings.Cut(forSome, "%d")
	return strings.Contains(r.Reason, before) && strings.HasSuffix(r.Reason, after)
}

// fullReason begins the reasons of routes that have had their minute's work.
const fullReason = "full"

// serviceConcerns returns those of the service itself.
func (o *Operator) serviceConcerns(ctx context.Context) (all []Concern, err error) {
	service := func(about string, grave bool) {
		all = append(all, Concern{Kind: ConcernService, About: about, Grave: grave})
	}
	if o.ReadyFunc != nil {
		if err := o.ReadyFunc(ctx); err != nil {
			service("New tasks are refused: "+readiness(err), true)
		}
	}
	engine, ok := o.Tasks.(store.Gauger)
	if !ok {
		return all, nil
	}
	g, err := engine.Gauges(ctx)
	if err != nil {
		return all, err
	}
	if g.Lost > 0 {
		service(fmt.Sprintf("%d acknowledged writes were gone when the database came back", g.Lost), true)
	}
	if g.Quarantined > 0 {
		service(fmt.Sprintf("%d rows of the database can't be read and were set aside; unitask store check says which", g.Quarantined), true)
	}
	if g.Oldest >= longWait {
		service(fmt.Sprintf("A task has waited in the queue for %s", g.Oldest.Truncate(time.Second)), false)
	}
	return all, nil
}

// readiness writes why the service isn't ready, without the store's own words.
func readiness(err error) string {
	if errors.Is(err, store.ErrFull) {
		return "there is no room left on the disk or in the database's file"
	}
	return fault.From(err).Message
}
