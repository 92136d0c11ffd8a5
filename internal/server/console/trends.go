package console

import (
	"slices"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
)

// trend is the last 24 hours of one supplier at this node.
type trend struct {
	figureRow
	Spark chart // attempts by outcome, without its axis and table
}

// trendView is the data of the page of one supplier.
type trendView struct {
	Supplier api.SupplierState
	trend
	Times, Money chart
	Since        time.Time // when this node began to count
	Missing      bool      // a part of the hours is before that
	Nodes        int
}

var attemptOutcomes = []series{{"Succeeded", "s1"}, {"Failed", "s2"}, {"Refused", "s3"}, {"Unknown", "p5"}}

// trendOf draws the attempts of a supplier in a report by the hour; ok is false without any.
func trendOf(r *operator.Report, slots []slot, name string, zone *time.Location) (t trend, own []operator.Figures, ok bool) {
	own = make([]operator.Figures, len(slots))
	i := slices.IndexFunc(r.Suppliers, func(g operator.Group) bool { return g.Name == name })
	group := operator.Group{Name: name}
	if i >= 0 {
		group, own = r.Suppliers[i], r.Suppliers[i].Slots
	}
	rows, _, _ := rowsOf([]operator.Group{group}, true)
	t = trend{rows[0], newChart("Attempts at "+name+" that ended, by hour, in "+zone.String(), "Hour", slots, attemptOutcomes)}
	t.Spark.stack(slots, valuesOf(own, func(f *operator.Figures) []float64 {
		a := &f.Attempts
		return []float64{float64(a.Succeeded), float64(a.Failed), float64(a.Rejected), float64(a.Unknown)}
	}), 1, whole)
	return t, own, i >= 0
}

func valuesOf(all []operator.Figures, values func(*operator.Figures) []float64) (out [][]float64) {
	for i := range all {
		out = append(out, values(&all[i]))
	}
	return out
}

// trends are those of the suppliers that had attempts in the last 24 hours, by name.
func (c *Console) trends(zone *time.Location) (map[string]*trend, error) {
	r, err := c.operator.ByHour(homeHours, "")
	if err != nil {
		return nil, err
	}
	slots, all := slotsOf(&r, true, zone), map[string]*trend{}
	for _, g := range r.Suppliers {
		if t, _, ok := trendOf(&r, slots, g.Name, zone); ok {
			all[g.Name] = &t
		}
	}
	return all, nil
}

// handleSupplier shows the last 24 hours of a supplier.
func (c *Console) handleSupplier(x exchange) error {
	name := x.r.PathValue("supplier")
	states, err := c.operator.Suppliers(x.r.Context())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(states, func(s api.SupplierState) bool { return s.Name == name && len(s.Routes) > 0 })
	if i < 0 {
		return fault.New(fault.NotFound, "there is no such supplier with routes")
	}
	r, err := c.operator.ByHour(homeHours, "")
	if err != nil {
		return err
	}
	zone, _ := zoneOf(x.r)
	slots := slotsOf(&r, true, zone)
	v := trendView{Supplier: states[i], Since: r.Since, Missing: r.Since.After(r.Slots[0].Start), Nodes: c.nodes()}
	var own []operator.Figures
	v.trend, own, _ = trendOf(&r, slots, name, zone)
	v.Times = newChart("Time of attempts at "+name+" that succeeded, by hour, in "+zone.String(), "Hour", slots, []series{{"p50", "l1"}, {"p95", "l2"}})
	v.Times.steps(slots, valuesOf(own, func(f *operator.Figures) []float64 {
		return []float64{took(&f.Attempts.Times, 0.5), took(&f.Attempts.Times, 0.95)}
	}), float64(time.Millisecond), func(d float64) string { return lasted(time.Duration(d)) })
	v.Money = newChart("Charged by "+name+", by hour, in "+zone.String(), "Hour", slots, []series{{"Charged", "s1"}})
	v.Money.stack(slots, valuesOf(own, func(f *operator.Figures) []float64 { return []float64{float64(f.Attempts.Cost)} }), leastMoney, dollars)
	return c.show(x, page{Name: "supplier", Section: "suppliers", Title: name, Data: v})
}
