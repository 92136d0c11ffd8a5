package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"unitask/internal/hint"
	"unitask/internal/simulate"
)

// fromStore reads when the live tasks of a data folder came, from the server that runs on it or, without
// one, from the store itself.
func (o *simulateOptions) fromStore(ctx context.Context, t *terminal) (all []simulate.Arrival, err error) {
	from := remoteFlags{operatorFlags: operatorFlags{dataDir: o.store}}
	err = from.with(ctx, t, func(op operatorAPI) error {
		var lines bytes.Buffer
		if err := op.Arrivals(ctx, &lines); err != nil {
			return err
		}
		all, err = simulate.ReadArrivals(&lines, o.pattern)
		return err
	})
	if err == nil && len(all) == 0 {
		err = hint.With(errors.New("no live task is kept in "+o.store), "without --from-store a pattern is made up")
	}
	return all, err
}

// printChanges prints the results of the what-if beside those without it.
func printChanges(t *terminal, was, is simulate.Report) {
	t.note("changed:")
	line := func(name, was, is string) {
		about := ""
		before, err := strconv.ParseFloat(was, 64)
		after, err2 := strconv.ParseFloat(is, 64)
		switch {
		case err != nil || err2 != nil:
		case before == after:
			about = " (the same)"
		case before != 0:
			about = fmt.Sprintf(" (%+.1f%%)", (after-before)/before*100)
		}
		t.note("  %-11s %s → %s%s", name, was, is, about)
	}
	number := func(name string, was, is int) { line(name, strconv.Itoa(was), strconv.Itoa(is)) }
	seconds := func(name string, was, is float64) {
		line(name, strconv.FormatFloat(was, 'f', 2, 64), strconv.FormatFloat(is, 'f', 2, 64))
	}
	line("cost, $", was.Cost, is.Cost)
	number("succeeded", was.Succeeded, is.Succeeded)
	number("refused", was.Tasks-was.Succeeded, is.Tasks-is.Succeeded)
	number("failovers", was.Failovers, is.Failovers)
	seconds("p50, s", was.Latency.P50, is.Latency.P50)
	seconds("p99, s", was.Latency.P99, is.Latency.P99)
}
