// Package routing turns the approved routes of a capability into an ordered choice for one request:
// the lowest estimated cost first, without those that are full, cooling down or can't honour the
// request. It explains every route it passes over.
//
// A Table is immutable, so that a reload swaps it whole; Health is learnt while running and outlives a swap. The
// package submits no work.
package routing

import (
	"fmt"
	"maps"
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
	Price       task.Price // the supplier's price
	Approved    bool
	Mode        task.Mode // Live, or Test for the sandbox
	Cap         int       // attempts in flight on this route; 0: no limit
	SupplierCap int       // attempts in flight at this supplier over all its routes; 0: no limit
	Rate        Rate      // of this route
	// SupplierRate is over all routes of the supplier.
	SupplierRate Rate
	Template     int // tokens that the model's template adds to a request, at most
	Kind         supplier.Kind
	Adapter      supplier.Adapter
	Voices       []string // that the directory offers
	ResultHosts  []string // hosts the result files may come from without the address guard

	id   string     // ID, once it is in a table
	caps []task.Cap // Caps, once it is in a table
}

// ID names the route among those of its capability.
func (r Route) ID() string {
	if r.id != "" {
		return r.id
	}
	return r.Supplier + "/" + r.Model
}

// Caps returns the in-flight limits an attempt on the route counts against. They are not to be changed.
func (r Route) Caps() []task.Cap {
	if r.caps != nil {
		return r.caps
	}
	caps := []task.Cap{{Key: "supplier:" + r.Supplier, Limit: r.SupplierCap}}
	if r.Cap > 0 {
		caps = append(caps, task.Cap{Key: "route:" + string(r.Capability) + ":" + r.ID(), Limit: r.Cap})
	}
	return caps
}

// DefaultTemplate is Route.Template by default. It is above what the templates of most models add: 31 tokens are
// measured for 8 characters by Ollama, and others without a system text of their own add up to about 70. The marks of
// each message or text are fewer than the bytes of JSON around it, which an estimate counts.
const DefaultTemplate = 128

// whole is the size of a request at the route, with the tokens of its template.
func (r *Route) whole(size task.Usage) task.Usage {
	size.InputTokens += int64(r.Template)
	return size
}

// cost is the supplier's estimated charge for a request whose tokens are of no kind with a price of its own.
func (r *Route) cost(size task.Usage) task.Money { return r.Price.Cost(r.whole(size)) }

// most is the most that the supplier may charge for it.
func (r *Route) most(size task.Usage) task.Money { return r.Price.Most(r.whole(size)) }

// rated reports whether the route has so much a minute.
func (r *Route) rated() bool { return r.Rate != Rate{} || r.SupplierRate != Rate{} }

type limit struct {
	key  windowKey
	rate Rate
}

// limited returns the limits that the route's work in a minute counts against.
func (r *Route) limited() [2]limit {
	return [2]limit{
		{windowKey{supplier: r.Supplier}, r.SupplierRate},
		{windowKey{r.Supplier, r.Model, string(r.Capability)}, r.Rate},
	}
}

type tableKey struct {
	mode task.Mode
	name catalog.Name
}

type routeKey struct {
	tableKey
	supplier, model string
}

// Table holds the routes. It is immutable and safe for concurrent use.
type Table struct {
	all      []*Route
	approved map[tableKey][]*Route // by id
	found    map[routeKey]*Route
	prices   map[catalog.Name]task.Price
}

// NewTable returns a Table of the routes; prices overrides the list price of a capability for live
// keys. It fails on a route twice for one capability and on a route without an adapter.
func NewTable(routes []Route, prices map[catalog.Name]task.Price) (*Table, error) {
	t := &Table{approved: map[tableKey][]*Route{}, found: map[routeKey]*Route{}, prices: prices}
	for _, r := range routes {
		if !t.add(&r) {
			return nil, fmt.Errorf("routing: route %s stands twice under %s", r.ID(), r.Capability)
		}
		if r.Adapter == nil || (r.Mode != task.Live && r.Mode != task.Test) {
			return nil, fmt.Errorf("routing: route %s of %s has no adapter or no mode", r.ID(), r.Capability)
		}
		if r.Approved {
			k := tableKey{r.Mode, r.Capability}
			t.approved[k] = append(t.approved[k], &r)
		}
	}
	for _, list := range t.approved {
		slices.SortFunc(list, func(a, b *Route) int { return strings.Compare(a.id, b.id) })
	}
	return t, nil
}

// add makes the route known to Find; false if it is already.
func (t *Table) add(r *Route) bool {
	k := routeKey{tableKey{r.Mode, r.Capability}, r.Supplier, r.Model}
	if _, twice := t.found[k]; twice {
		return false
	}
	if r.id == "" {
		r.id, r.caps = r.ID(), r.Caps()
	}
	t.found[k] = r
	t.all = append(t.all, r)
	return true
}

// Serves reports whether an approved route of the mode serves the capability.
func (t *Table) Serves(mode task.Mode, name catalog.Name) bool {
	return len(t.approved[tableKey{mode, name}]) > 0
}

// Places returns the limits of the routes that take work of the capability now. open is false while every route that
// could do it asked for a pause, has had its minute's work or is being probed; if all of them are tripped, waiting is
// useless: open, and no places.
func (t *Table) Places(mode task.Mode, name catalog.Name, h *Health) (places [][]task.Cap, open bool) {
	waits := false
	for _, r := range t.approved[tableKey{mode, name}] {
		switch reason, code := h.refusal(r); {
		case reason == "":
			places = append(places, r.caps)
		case code == fault.CapacityExhausted, reason == Probing:
			waits = true
		}
	}
	return places, len(places) > 0 || !waits
}

// Find returns the route an attempt was started on, approved or not: work in flight is finished even
// when its route is no longer taken. nil: there is none.
func (t *Table) Find(mode task.Mode, name catalog.Name, supplierName, model string) *Route {
	return t.found[routeKey{tableKey{mode, name}, supplierName, model}]
}

// Adapter returns the adapter of a supplier's routes, an approved one's if there is one; nil without a route.
func (t *Table) Adapter(supplierName string) supplier.Adapter {
	var found supplier.Adapter
	for _, r := range t.all {
		switch {
		case r.Supplier != supplierName:
		case t.takes(r):
			return r.Adapter
		case found == nil:
			found = r.Adapter
		}
	}
	return found
}

// takes reports whether the route of the table takes new work.
func (t *Table) takes(r *Route) bool {
	return slices.Contains(t.approved[tableKey{r.Mode, r.Capability}], r)
}

// WithRetired returns t with those routes of another table that it lacks, for Find alone.
func (t *Table) WithRetired(old *Table) *Table {
	with := &Table{all: slices.Clone(t.all), approved: t.approved, found: maps.Clone(t.found), prices: t.prices}
	for _, r := range old.all {
		with.add(r)
	}
	return with
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

// Bound returns the size of a request at the approved route whose template is the largest: whichever does the work, no
// more is measured.
func (t *Table) Bound(mode task.Mode, name catalog.Name, size task.Usage) task.Usage {
	most := size
	for _, r := range t.approved[tableKey{mode, name}] {
		if whole := r.whole(size); whole.InputTokens > most.InputTokens {
			most = whole
		}
	}
	return most
}

// Dearest returns the most that an attempt at work of the given size may cost at a supplier.
func (t *Table) Dearest(mode task.Mode, name catalog.Name, size task.Usage) task.Money {
	var most task.Money
	for _, r := range t.approved[tableKey{mode, name}] {
		most = max(most, r.most(size))
	}
	return most
}

// Voices returns the voices that routes of the capability offer, sorted.
func (t *Table) Voices(mode task.Mode, name catalog.Name) []string {
	var all []string
	for _, r := range t.approved[tableKey{mode, name}] {
		all = append(all, r.Voices...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ListPrice returns the price for a caller of the mode and work of the given size: the operator's price for the
// capability, else that of the approved route which is cheapest for it. Test keys are free.
func (t *Table) ListPrice(mode task.Mode, name catalog.Name, size task.Usage) task.Price {
	if p, ok := t.prices[name]; ok && mode == task.Live {
		return p
	}
	var best task.Price
	var least task.Money
	for i, r := range t.approved[tableKey{mode, name}] {
		if cost := r.cost(size); i == 0 || cost < least {
			best, least = r.Price, cost
		}
	}
	if mode == task.Test {
		return task.Price{Unit: best.Unit}
	}
	return best
}
