package console

import (
	"cmp"
	"slices"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/hours"
	"unitask/internal/operator"
	"unitask/internal/store"
	"unitask/internal/task"
)

const (
	homeHours = 24
	// homeGroups is how many capabilities and suppliers have a row.
	homeGroups = 12
)

// The choices of an operator's home: its first ones are those without a choice.
var (
	homeSpans  = []string{"hours", "days"}
	homeSplits = []string{"outcome", "capability", "supplier"}
	homeModes  = []string{"all", "live", "test"}
)

// home is the data of an operator's first page.
type home struct {
	Span, Split, Mode string
	Choices           []view

	Operator operator.Report
	Nodes    int // more than one share the store
	Work     chart
	Errors   chart
	Times    chart // of a report by the hour
	Money    chart

	Open     []openState
	Oldest   time.Duration // in the queue
	Accounts []api.UsageRow
	Concerns []concern
	Supply   []api.SupplierState
	Version  string
}

// view is a group of links of which one holds.
type view struct {
	Title string
	Links []viewLink
}

type viewLink struct {
	Text, Query string
	Here        bool
}

// openState is how many tasks are in a state that isn't terminal.
type openState struct {
	State task.State
	Count int64
}

// handleFirst leads operators to the figures of all accounts, and members to their own.
func (c *Console) handleFirst(x exchange) error {
	if operates(x.visitor) {
		return c.handleHome(x)
	}
	return c.handleOverview(x)
}

func (c *Console) handleHome(x exchange) (err error) {
	var v home
	for _, one := range []struct {
		name string
		from []string
		into *string
	}{{"span", homeSpans, &v.Span}, {"split", homeSplits, &v.Split}, {"mode", homeModes, &v.Mode}} {
		if *one.into = cmp.Or(x.r.FormValue(one.name), one.from[0]); !slices.Contains(one.from, *one.into) {
			return fault.Invalid(one.name, "isn't one of those on the page")
		}
	}
	v.choose()
	mode := task.Mode(v.Mode)
	if v.Mode == homeModes[0] {
		mode = ""
	}
	if v.Span == homeSpans[0] {
		v.Operator, err = c.operator.ByHour(homeHours, mode)
	} else {
		v.Operator, err = c.operator.ByDay(x.r.Context(), overviewDays, mode)
	}
	if err != nil {
		return err
	}
	zone, _ := zoneOf(x.r)
	v.draw(zone)
	if err := c.addService(x, &v); err != nil {
		return err
	}
	if v.Accounts, err = c.operator.Spenders(x.r.Context(), overviewDays, mode); err != nil {
		return err
	}
	return c.show(x, page{Name: "home", Section: "home", Title: "All accounts", Data: v})
}

// addService adds how the service stands now, and its concerns.
func (c *Console) addService(x exchange, v *home) (err error) {
	ctx := x.r.Context()
	info, err := c.operator.Info(ctx)
	if err != nil {
		return err
	}
	v.Version, v.Nodes = info.Version, c.nodes()
	if v.Supply, err = c.operator.Suppliers(ctx); err != nil {
		return err
	}
	if v.Concerns, err = c.concerns(x, v.Supply); err != nil {
		return err
	}
	if engine, ok := c.operator.Tasks.(store.Gauger); ok {
		g, err := engine.Gauges(ctx)
		if err != nil {
			return err
		}
		for _, state := range task.States() {
			if !state.Terminal() {
				v.Open = append(v.Open, openState{state, g.ByState[state]})
			}
		}
		v.Oldest = g.Oldest.Truncate(time.Second)
	}
	return nil
}

// nodes returns how many nodes share the store.
func (c *Console) nodes() int {
	n := 0
	for _, of := range c.gateway.Fleet() {
		n += of
	}
	return max(n, 1)
}

// choose makes the links by which another view is chosen, each with the other choices as they are.
func (v *home) choose() {
	group := func(title string, texts, values []string, chosen string, query func(string) string) {
		one := view{Title: title}
		for i, value := range values {
			one.Links = append(one.Links, viewLink{texts[i], query(value), value == chosen})
		}
		v.Choices = append(v.Choices, one)
	}
	query := func(span, split, mode string) string { return "?span=" + span + "&split=" + split + "&mode=" + mode }
	group("Time", []string{"24 hours", "14 days"}, homeSpans, v.Span, func(s string) string { return query(s, v.Split, v.Mode) })
	group("Split", []string{"By outcome", "Capability", "Supplier"}, homeSplits, v.Split, func(s string) string { return query(v.Span, s, v.Mode) })
	group("Mode", []string{"All", "Live", "Test"}, homeModes, v.Mode, func(s string) string { return query(v.Span, v.Split, s) })
}

// Hourly reports whether the page is of hours.
func (v home) Hourly() bool { return v.Span == homeSpans[0] }

// Missing reports whether the page is of hours before this node began to count.
func (v home) Missing() bool {
	return v.Hourly() && len(v.Operator.Slots) > 0 && v.Operator.Since.After(v.Operator.Slots[0].Start)
}

// OpenTasks is how many tasks aren't terminal.
func (v home) OpenTasks() (n int64) {
	for _, s := range v.Open {
		n += s.Count
	}
	return n
}

// percent writes a part of a whole, "–" without one.
func percent(part float64, known bool) string {
	if !known {
		return "–"
	}
	return decimal(part*100) + " %"
}

// quantile writes a part of the times in order; "–" without any.
func quantile(t *hours.Times, p float64) string {
	d, ok := t.Quantile(p)
	if !ok {
		return "–"
	}
	return lasted(d)
}

// figureRow is a row of a table of figures, as text.
type figureRow struct {
	Name                              string
	Ended, Errors, P50, P95, P99      string
	Charged, Cost, Margin             string
	OK, Failed, Rejected, UnknownOnes string
	Share                             int64
}

// rowsOf writes groups; ended says how many tasks or attempts of one have ended, by which their shares compare.
func rowsOf(groups []operator.Group, attempts bool) (rows []figureRow, most int64, left int) {
	for i := range groups {
		if i == homeGroups {
			return rows, most, len(groups) - homeGroups
		}
		t := &groups[i].Total
		s, part, known := &t.Tasks, 0.0, false
		n := s.Ended()
		if part, known = t.ErrorRate(); attempts {
			s, n = &t.Attempts, t.Attempts.Attempts()
			part, known = t.AttemptErrorRate()
		}
		most = max(most, n)
		rows = append(rows, figureRow{
			Name: groups[i].Name, Ended: count(n), Errors: percent(part, known), Share: n,
			P50: quantile(&s.Times, 0.5), P95: quantile(&s.Times, 0.95), P99: quantile(&s.Times, 0.99),
			Charged: moneyOf(t.Tasks.Cost), Cost: costOf(&t.Attempts), Margin: moneyOf(t.Margin()),
			OK: count(s.Succeeded), Failed: count(s.Failed), Rejected: count(s.Rejected), UnknownOnes: count(s.Unknown),
		})
	}
	return rows, most, 0
}

// figureTable is rows of figures with the longest share.
type figureTable struct {
	Rows []figureRow
	Most int64
	Left int // that have no row
}

// Capabilities is the table by capability.
func (v home) Capabilities() figureTable { return tableOf(rowsOf(v.Operator.Capabilities, false)) }

// Suppliers is the table by supplier.
func (v home) Suppliers() figureTable { return tableOf(rowsOf(v.Operator.Suppliers, true)) }

func tableOf(rows []figureRow, most int64, left int) figureTable {
	return figureTable{rows, most, left}
}

// Totals is the sums of the page, as text.
func (v home) Totals() figureRow {
	all, _, _ := rowsOf([]operator.Group{{Total: v.Operator.Total}}, false)
	all[0].OK, all[0].Failed = count(v.Operator.Total.Tasks.Succeeded), count(v.Operator.Total.Tasks.Failed)
	all[0].UnknownOnes = count(v.Operator.Total.Tasks.Canceled)
	return all[0]
}

// costOf writes suppliers' charges, which may be more than those that are known.
func costOf(s *hours.Sums) string {
	if s.CostUnknown > 0 {
		return moneyOf(s.Cost) + " or more"
	}
	return moneyOf(s.Cost)
}

// moneyOf writes an amount, which may be below zero.
func moneyOf(m task.Money) string {
	if m < 0 {
		return "−" + money((-m).String())
	}
	return money(m.String())
}
