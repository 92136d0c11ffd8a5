package console

import (
	"strconv"
	"time"

	"unitask/internal/hours"
	"unitask/internal/operator"
)

// slotsOf names the hours of a report by the clocks of a zone, or its days, which are those of UTC.
func slotsOf(r *operator.Report, hourly bool, zone *time.Location) (slots []slot) {
	for _, s := range r.Slots {
		one := slot{Name: s.Start.Format(time.DateOnly), Short: s.Start.Format("2 Jan"), Unknown: !s.Counted}
		if hourly {
			at := s.Start.In(zone)
			one.Name, one.Short = at.Format("2 Jan 15:04 MST"), at.Format("15:04")
		}
		slots = append(slots, one)
	}
	return slots
}

// draw makes the charts of the report.
func (v *home) draw(zone *time.Location) {
	of, by := "Day", " by day, in UTC"
	if v.Hourly() {
		of, by = "Hour", " by hour, in "+zone.String()
	}
	r, slots := &v.Operator, slotsOf(&v.Operator, v.Hourly(), zone)
	v.Work = v.workChart(of, by, slots)
	v.Errors = newChart("Failed of those that succeeded or failed,"+by, of, slots, []series{{"Tasks", "l1"}, {"Attempts", "l2"}})
	v.Errors.steps(slots, each(r, func(f *operator.Figures) []float64 {
		return []float64{known(f.ErrorRate()), known(f.AttemptErrorRate())}
	}), 0.01, func(part float64) string { return percent(part, true) })
	if v.Hourly() {
		v.Times = newChart("Time of tasks that succeeded,"+by, of, slots, []series{{"p50", "l1"}, {"p95", "l2"}, {"p99", "l3"}})
		v.Times.steps(slots, each(r, func(f *operator.Figures) []float64 {
			return []float64{took(&f.Tasks.Times, 0.5), took(&f.Tasks.Times, 0.95), took(&f.Tasks.Times, 0.99)}
		}), float64(time.Millisecond), func(d float64) string { return lasted(time.Duration(d)) })
	}
	v.Money = newChart("Charged to accounts, and by suppliers,"+by, of, slots, []series{{"Charged to accounts", "l1"}, {"By suppliers", "l2"}})
	v.Money.steps(slots, each(r, func(f *operator.Figures) []float64 { return []float64{float64(f.Tasks.Cost), float64(f.Attempts.Cost)} }), leastMoney, dollars)
	v.Money.Columns = []string{"Margin"}
	for i := range r.Slots {
		margin := moneyOf(r.Slots[i].Margin())
		if slots[i].Unknown {
			margin = notCounted
		}
		v.Money.Rows[i].Values = append(v.Money.Rows[i].Values, margin)
	}
}

// workChart is the tasks by outcome or capability, or the attempts by supplier.
func (v *home) workChart(of, by string, slots []slot) chart {
	r := &v.Operator
	switch v.Split {
	case "capability":
		return splitChart("Tasks that ended,"+by+" and capability", of, slots, r.Capabilities, (*hours.Sums).Ended, tasksOf)
	case "supplier":
		return splitChart("Attempts that ended,"+by+" and supplier", of, slots, r.Suppliers, (*hours.Sums).Attempts, attemptsOf)
	default:
		c := newChart("Tasks that ended,"+by, of, slots, outcomes)
		c.stack(slots, each(r, func(f *operator.Figures) []float64 {
			return []float64{float64(f.Tasks.Succeeded), float64(f.Tasks.Failed), float64(f.Tasks.Canceled)}
		}), 1, whole)
		return c
	}
}

func tasksOf(f *operator.Figures) *hours.Sums { return &f.Tasks }

func attemptsOf(f *operator.Figures) *hours.Sums { return &f.Attempts }

// splitChart stacks the largest groups, and the others together.
func splitChart(
	title, of string, slots []slot, groups []operator.Group, number func(*hours.Sums) int64, sums func(*operator.Figures) *hours.Sums,
) chart {
	var all []series
	for i, g := range groups[:min(len(groups), mostSeries)] {
		all = append(all, series{g.Name, "p" + strconv.Itoa(i+1)})
	}
	if len(groups) > mostSeries {
		all = append(all, series{"Others", "p" + strconv.Itoa(mostSeries+1)})
	}
	values := make([][]float64, len(slots))
	for i := range values {
		values[i] = make([]float64, len(all))
		for n := range groups {
			values[i][min(n, mostSeries)] += float64(number(sums(&groups[n].Slots[i])))
		}
	}
	c := newChart(title, of, slots, all)
	c.stack(slots, values, 1, whole)
	return c
}

// each returns the values of each slot.
func each(r *operator.Report, values func(*operator.Figures) []float64) [][]float64 {
	all := make([][]float64, 0, len(r.Slots))
	for i := range r.Slots {
		all = append(all, values(&r.Slots[i].Figures))
	}
	return all
}

// known returns a value that may be unknown as steps takes it.
func known(v float64, ok bool) float64 {
	if !ok {
		return -1
	}
	return v
}

func took(t *hours.Times, p float64) float64 {
	d, ok := t.Quantile(p)
	return known(float64(d), ok)
}

// decimal writes a number with one decimal if it is small.
func decimal(v float64) string {
	if v > 0 && v < 10 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
