// Command bench measures unitask against a bare reverse proxy and against direct calls to the same mock
// upstream, all in one run, and prints ratios: the machine's own speed cancels out.
//
// Every server is a process of its own, on loopback, and fresh for each measurement. The figures of
// unitask are with everything on: authentication, limits, idempotency, routing, and two synced commits
// a task. Measurements alternate over rounds and the median of each figure counts.
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
	if len(os.Args) == 3 && (os.Args[1] == roleUpstream || os.Args[1] == roleProxy) {
		serve(os.Args[1], os.Args[2])
		return
	}
	var p plan
	flag.DurationVar(&p.duration, "d", 4*time.Second, "how long each measurement takes")
	flag.IntVar(&p.rounds, "rounds", 3, "how often each is repeated; the median counts")
	short := flag.Bool("short", false, "take a quick look: one round of a second each")
	flag.Parse()
	if *short {
		p.duration, p.rounds = time.Second, 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, p); err != nil {
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
	found := samples{}
	for range p.rounds {
		for _, m := range b.measurements() {
			f, err := m.measure(ctx, p.duration)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			found.add(m.name, f)
		}
	}
	return found.print(os.Stdout)
}
