package routing

import (
	"slices"
	"strconv"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// Want is one request looking for a route.
type Want struct {
	Mode       task.Mode
	Account    string           // whose request it is
	Capability catalog.Name     // whose routes are asked; Request has its base
	Request    supplier.Request // Model is filled in for each route
	Size       task.Usage       // the estimate to compare prices by
	Tried      []string         // ids of routes that had their turn
	Resting    []string         // ids of routes that refused it for want of room a moment ago
}

// Choice is a route worth trying, with the reason for its rank.
type Choice struct {
	Route  *Route     // of its table
	Cost   task.Money // estimated for this request, by which routes are compared
	Most   task.Money // that the supplier may charge for it
	Reason string
	grant  Grant
}

// Full is the reason for passing over a route whose limit of attempts in flight is reached.
const Full = "full"

// mostPassed bounds how many routes that were passed over a plan names.
const mostPassed = 32

// Plan returns the choice as the store records it.
func (c Choice) Plan(passed []task.Passed) task.Plan {
	if more := len(passed) - mostPassed; more > 0 {
		passed = append(slices.Clone(passed[:mostPassed]), task.Passed{Reason: strconv.Itoa(more) + " more routes were passed over"})
	}
	return task.Plan{
		Supplier: c.Route.Supplier, Model: c.Route.Model, Caps: c.Route.Caps(), Reason: c.Reason, Passed: passed, Estimate: c.Most,
	}
}

// Full returns the choice as passed over by the store, which found its limit reached.
func (c Choice) Full() task.Passed {
	return task.Passed{Supplier: c.Route.Supplier, Model: c.Route.Model, Reason: Full, Code: fault.CapacityExhausted}
}

// Plans returns the choices as the store tries them: each but the first only if those before it are full.
func Plans(choices []Choice, passed []task.Passed) []task.Plan {
	plans := make([]task.Plan, 0, len(choices))
	for i, c := range choices {
		if i > 0 {
			passed = append(slices.Clip(passed), choices[i-1].Full())
		}
		plans = append(plans, c.Plan(passed))
	}
	return plans
}

// Choose returns the routes worth trying, cheapest first (ties by name), up to the first that can't be full, and
// those before it that were passed over, with the reasons. The choices' grants from h, which may be nil, are to be
// given back by Keep.
func (t *Table) Choose(w Want, h *Health) ([]Choice, []task.Passed) {
	var choices []Choice
	var passed []task.Passed
	routes := t.approved[tableKey{w.Mode, w.Capability}]
	var few [8]ranked
	for order := rank(routes, w.Size, few[:0]); len(order) > 0; {
		var next ranked
		next, order = order.pop()
		r := routes[next.at]
		c, reason, code := consider(r, w, h)
		if reason != "" {
			passed = append(passed, task.Passed{Supplier: r.Supplier, Model: r.Model, Reason: reason, Code: code})
			continue
		}
		c.Cost, c.Most = next.cost, r.most(w.Size)
		c.Reason = "estimated " + next.cost.String() + " USD" + c.Reason
		choices = append(choices, c)
		if r.Cap <= 0 && r.SupplierCap <= 0 {
			break
		}
	}
	return choices, passed
}

// mostAsked bounds the routes that are asked for the fields they can't honour.
const mostAsked = 32

// Unhonoured returns the fields of the request for which routes can't honour it, as its caller names them, sorted.
func (t *Table) Unhonoured(w Want) []string {
	routes := t.approved[tableKey{w.Mode, w.Capability}]
	var fields []string
	for _, r := range routes[:min(len(routes), mostAsked)] {
		req := w.Request
		req.Model = r.Model
		fields = append(fields, supplier.Unhonoured(r.Kind, r.Adapter, req)...)
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// unfit returns why a route isn't for the request, however the route stands; "" if it is.
func unfit(r *Route, w Want) (reason string, code fault.Code) {
	if slices.Contains(w.Tried, r.id) {
		return "tried", "" // its own code stands on its attempt
	}
	if slices.Contains(w.Resting, r.id) {
		return "refused for want of room", fault.CapacityExhausted
	}
	req := w.Request
	req.Model = r.Model
	if why := supplier.Refuses(r.Kind, r.Adapter, req); why != "" {
		return "can't honour the request: " + why, fault.InvalidRequest
	}
	return "", ""
}

// consider takes a turn on the route, or returns the reason for its refusal.
func consider(r *Route, w Want, h *Health) (c Choice, reason string, code fault.Code) {
	if reason, code := unfit(r, w); reason != "" {
		return c, reason, code
	}
	size := r.whole(w.Size)
	grant, probed, reason, code := h.take(r, w.Account, size.InputTokens+size.OutputTokens)
	if reason != "" {
		return c, reason, code
	}
	c = Choice{Route: r, grant: grant}
	if probed != "" {
		c.Reason = "; the probe after " + probed
	}
	return c, "", ""
}

// ranked is a route and the request's estimated cost there.
type ranked struct {
	cost task.Money
	at   int // in the list, which is sorted by id
}

func (a ranked) before(b ranked) bool { return a.cost < b.cost || (a.cost == b.cost && a.at < b.at) }

// ranking is a heap: most requests take the first route, so that thousands needn't be sorted.
type ranking []ranked

func rank(routes []*Route, size task.Usage, in []ranked) ranking {
	order := ranking(slices.Grow(in, len(routes)))
	for i, r := range routes {
		order = append(order, ranked{r.cost(size), i})
	}
	for i := len(order)/2 - 1; i >= 0; i-- {
		order.sink(i)
	}
	return order
}

func (o ranking) pop() (ranked, ranking) {
	first, last := o[0], len(o)-1
	o[0] = o[last]
	o = o[:last]
	o.sink(0)
	return first, o
}

func (o ranking) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(o); child++ {
			if o[child].before(o[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		o[i], o[least] = o[least], o[i]
		i = least
	}
}
