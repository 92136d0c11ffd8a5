// Command bench measures unitask against a bare reverse proxy and against direct calls to the same mock
// upstream, all in one run, and prints ratios: the machine's own speed cancels out.
//
// Every server is a process of its own, on loopback. The figures of unitask are with everything on:
// authentication, limits, idempotency, routing, and two synced commits a task.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	if len(os.Args) == 3 {
		serve(os.Args[1], os.Args[2])
		return
	}
	duration := flag.Duration("d", 5*time.Second, "how long each measurement takes")
	rounds := flag.Int("rounds", 3, "how often each is repeated; the median counts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, plan{*duration, *rounds}); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// plan says how long and how often to measure.
type plan struct {
	duration time.Duration
	rounds   int
}

// run starts the servers, measures in turn, and prints the table.
func run(ctx context.Context, p plan) error {
	b, err := newBed(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	var t table
	for range p.rounds {
		for _, one := range b.measurements() {
			f, err := one.measure(ctx, p.duration)
			if err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			t.add(one.name, f)
		}
	}
	t.print(os.Stdout)
	return nil
}
