// Package routing turns the approved routes of a capability into an ordered choice for one request:
// the lowest estimated cost first, without those that are full, cooling down or can't honour the
// request. It explains every route it passes over.
//
// A Table is immutable, so that a reload swaps it whole; Health is what is learnt while running and
// outlives a swap. Neither submits anything.
package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// Route is one way to have a capability done: a supplier's model at a price.
type Route struct {
	Capability  catalog.Name
	Supplier    string
	Model       string
	Price       task.Price // what the supplier charges
	Approved    bool
	Mode        task.Mode // Live, or Test for the sandbox
	Cap         int       // attempts in flight on this route; 0: no limit
	SupplierCap int       // attempts in flight at this supplier over all its routes; 0: no limit
	Kind        supplier.Kind
	Adapter     supplier.Adapter
	ResultHosts []string // hosts the result files may come from without the address guard
}

// ID names the route among those of its capability.
func (r Route) ID() string { return r.Supplier + "/" + r.Model }

// Caps returns the in-flight limits an attempt on the route counts against.
func (r Route) Caps() []task.Cap {
	caps := []task.Cap{{Key: "supplier:" + r.Supplier, Limit: r.SupplierCap}}
	if r.Cap > 0 {
		caps = append(caps, task.Cap{Key: "route:" + string(r.Capability) + ":" + r.ID(), Limit: r.Cap})
	}
	return caps
}

type tableKey struct {
	mode task.Mode
	name catalog.Name
}

// Table holds the routes. It is immutable and safe for concurrent use.
type Table struct {
	all      []Route
	approved map[tableKey][]Route
	prices   map[catalog.Name]task.Price
}

// NewTable returns a Table of the routes; prices overrides the list price of a capability for live
// keys. It fails on a route twice for one capability and on a route without an adapter.
func NewTable(routes []Route, prices map[catalog.Name]task.Price) (*Table, error) {
	t := &Table{all: slices.Clone(routes), approved: map[tableKey][]Route{}, prices: prices}
	seen := map[string]bool{}
	for _, r := range routes {
		id := string(r.Mode) + " " + string(r.Capability) + " " + r.ID()
		if seen[id] {
			return nil, fmt.Errorf("routing: route %s stands twice under %s", r.ID(), r.Capability)
		}
		seen[id] = true
		if r.Adapter == nil || (r.Mode != task.Live && r.Mode != task.Test) {
			return nil, fmt.Errorf("routing: route %s of %s has no adapter or no mode", r.ID(), r.Capability)
		}
		if r.Approved {
			k := tableKey{r.Mode, r.Capability}
			t.approved[k] = append(t.approved[k], r)
		}
	}
	return t, nil
}

// Serves reports whether an approved route of the mode serves the capability.
func (t *Table) Serves(mode task.Mode, name catalog.Name) bool {
	return len(t.approved[tableKey{mode, name}]) > 0
}

// Places returns the limits of the routes that take work of the capability now. open is false while
// every route that could do it asked for a pause; where all of them are tripped there is nothing to
// wait for: open, and no places.
func (t *Table) Places(mode task.Mode, name catalog.Name, h *Health) (places [][]task.Cap, open bool) {
	cooling := false
	for _, r := range t.approved[tableKey{mode, name}] {
		switch _, code := h.Paused(r.ID()); code {
		case "":
			places = append(places, r.Caps())
		case fault.CapacityExhausted:
			cooling = true
		}
	}
	return places, len(places) > 0 || !cooling
}

// Find returns the route an attempt was begun on, approved or not: work in flight is finished even
// when its route is no longer taken.
func (t *Table) Find(mode task.Mode, name catalog.Name, supplierName, model string) (Route, bool) {
	for _, r := range t.all {
		if r.Mode == mode && r.Capability == name && r.Supplier == supplierName && r.Model == model {
			return r, true
		}
	}
	return Route{}, false
}

// Suppliers returns the distinct names of suppliers and models, for operators and leak checks.
func (t *Table) Suppliers() []string {
	var names []string
	for _, r := range t.all {
		names = append(names, r.Supplier, r.Model)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ListPrice returns what a caller of the mode pays for work of the given size: the operator's price
// for the capability, else that of the approved route which is cheapest for it. Test keys are free.
func (t *Table) ListPrice(mode task.Mode, name catalog.Name, size task.Usage) task.Price {
	var best task.Price
	routes := t.approved[tableKey{mode, name}]
	for i, r := range routes {
		if i == 0 || r.Price.Cost(size) < best.Cost(size) {
			best = r.Price
		}
	}
	if mode == task.Test {
		return task.Price{Unit: best.Unit}
	}
	if p, ok := t.prices[name]; ok {
		return p
	}
	return best
}

// Want is one request looking for a route.
type Want struct {
	Mode    task.Mode
	Request supplier.Request // Model is filled in for each route
	Size    task.Usage       // the estimate to compare prices by
	Tried   []string         // ids of routes that had their turn
	Resting []string         // ids of routes that refused it for want of room a moment ago
}

// Choice is a route worth trying, with the reason it stands where it stands.
type Choice struct {
	Route  Route
	Cost   task.Money // estimated for this request
	Reason string
}

// Plan returns the choice as the store records it.
func (c Choice) Plan(passed []task.Passed) task.Plan {
	return task.Plan{
		Supplier: c.Route.Supplier, Model: c.Route.Model, Caps: c.Route.Caps(), Reason: c.Reason, Passed: passed,
	}
}

// Choose returns the routes worth trying, cheapest first (ties by name), and those passed over with
// the reasons. h may be nil.
func (t *Table) Choose(w Want, h *Health) ([]Choice, []task.Passed) {
	var choices []Choice
	var passed []task.Passed
	for _, r := range t.approved[tableKey{w.Mode, catalog.Name(w.Request.Capability)}] {
		if reason, code := refuse(r, w, h); reason != "" {
			passed = append(passed, task.Passed{Supplier: r.Supplier, Model: r.Model, Reason: reason, Code: code})
			continue
		}
		cost := r.Price.Cost(w.Size)
		choices = append(choices, Choice{Route: r, Cost: cost, Reason: "estimated " + cost.String() + " USD"})
	}
	slices.SortStableFunc(choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), strings.Compare(a.Route.ID(), b.Route.ID()))
	})
	return choices, passed
}

func refuse(r Route, w Want, h *Health) (reason string, code fault.Code) {
	if slices.Contains(w.Tried, r.ID()) {
		return "tried", "" // its own code stands on its attempt
	}
	if slices.Contains(w.Resting, r.ID()) {
		return "refused for want of room", fault.CapacityExhausted
	}
	req := w.Request
	req.Model = r.Model
	if why := supplier.Refuses(r.Kind, r.Adapter, req); why != "" {
		return "can't honour the request: " + why, fault.InvalidRequest
	}
	return h.Paused(r.ID())
}
