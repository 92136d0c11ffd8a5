package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// samples are the rounds of each figure, by measurement and figure: "sync64 rate".
type samples map[string][]float64

// median returns the median of the rounds; false without a measurement.
func (s samples) median(name string) (float64, bool) {
	all := slices.Sorted(slices.Values(s[name]))
	if len(all) == 0 {
		return 0, false
	}
	return all[len(all)/2], true
}

// row is one line of the table: a figure, alone or beside a base.
type row struct {
	name   string
	figure string
	unit   unit
	base   string  // figure that this one is divided by or, for a latency, that is subtracted from it
	part   float64 // of the base that counts; 0: all of it
	beside string  // how the table calls the base
	added  bool    // taken from, not divided by
	goal   goal    // of the comparison, or of the figure without a base
}

// goal is a target; its zero value is no goal.
type goal struct {
	must, moonshot float64
	atMost         bool
}

// unit is how a figure in base units is written.
type unit struct {
	suffix   string
	factor   float64
	decimals int
}

var (
	perSecond  = unit{"/s", 1, 0}
	micros     = unit{" µs", 1e6, 0}
	fineMicros = unit{" µs", 1e6, 2}
	millis     = unit{" ms", 1e3, 2}
	megabytes  = unit{" MB", 1 / (1024. * 1024), 1}
	times      = unit{"", 1, 2}
)

func (u unit) write(v float64) string { return fmt.Sprintf("%.*f%s", u.decimals, v*u.factor, u.suffix) }

// print writes the rows whose figures were measured.
func (s samples) print(w io.Writer, p plan) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "measurement\tfigure\tcompared\tmust\tmoonshot\t")
	for _, r := range slices.Concat(rates, latencies, p.storage(), p.sweeps(), databases, fleetRows(), p.millions()) {
		v, ok := s.median(r.figure)
		if !ok {
			continue
		}
		judged, unit, compared := v, r.unit, ""
		if base, ok := s.median(r.base); ok {
			judged, unit, compared = r.compare(v, base*cmp.Or(r.part, 1))
		} else if r.base != "" {
			r.goal = goal{} // its base wasn't measured in this run
		}
		_, _ = fmt.Fprintln(out, strings.Join([]string{r.name, r.unit.write(v), compared, r.goal.write(unit), r.goal.judge(judged)}, "\t"))
	}
	return out.Flush()
}

func (r row) compare(v, base float64) (judged float64, u unit, text string) {
	if r.added {
		return v - base, r.unit, r.unit.write(v-base) + " over " + r.beside
	}
	return v / base, times, times.write(v/base) + " × " + r.beside
}

// write gives two cells.
func (g goal) write(u unit) string {
	if g == (goal{}) {
		return "\t"
	}
	sign := "≥ "
	if g.atMost {
		sign = "≤ "
	}
	return sign + u.write(g.must) + "\t" + sign + u.write(g.moonshot)
}

func (g goal) judge(v float64) string {
	reached := func(limit float64) bool { return v >= limit != g.atMost || v == limit }
	switch {
	case g == (goal{}):
		return ""
	case reached(g.moonshot):
		return "moonshot"
	case reached(g.must):
		return "met"
	default:
		return "missed"
	}
}
