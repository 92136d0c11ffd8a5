package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// table gathers the rounds of each measurement in the order they were first made.
type table struct {
	names  []string
	rounds map[string][]figures
}

func (t *table) add(name string, f figures) {
	if t.rounds == nil {
		t.rounds = map[string][]figures{}
	}
	if t.rounds[name] == nil {
		t.names = append(t.names, name)
	}
	t.rounds[name] = append(t.rounds[name], f)
}

// median returns the median of each figure over the rounds.
func (t *table) median(name string) figures {
	rounds := t.rounds[name]
	mid := func(value func(figures) float64) float64 {
		var all []float64
		for _, f := range rounds {
			all = append(all, value(f))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return figures{
		perSecond: mid(func(f figures) float64 { return f.perSecond }),
		p50:       time.Duration(mid(func(f figures) float64 { return float64(f.p50) })),
		p99:       time.Duration(mid(func(f figures) float64 { return float64(f.p99) })),
	}
}

// print writes rates as multiples of the reverse proxy's and latencies as what they add to a direct
// call's.
func (t *table) print(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	base, direct := t.median(proxy64), t.median("direct, 500/s")
	_, _ = fmt.Fprintln(out, "measurement\t/s\t÷ reverse proxy\tp50 added\tp99 added")
	for _, name := range t.names {
		f := t.median(name)
		if f.perSecond > 0 {
			_, _ = fmt.Fprintf(out, "%s\t%.0f\t%.2f\t\t\n", name, f.perSecond, f.perSecond/base.perSecond)
			continue
		}
		_, _ = fmt.Fprintf(out, "%s\t\t\t%s\t%s\n", name, (f.p50 - direct.p50).Round(10*time.Microsecond), (f.p99 - direct.p99).Round(10*time.Microsecond))
	}
	_ = out.Flush()
}
