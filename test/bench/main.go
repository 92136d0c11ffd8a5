// Command bench measures unitask against a bare reverse proxy and against direct calls to the same mock
// upstream, all in one run, and prints ratios: the machine's own speed cancels out.
//
// Every server is a process of its own, on loopback, and fresh for each measurement. The figures of
// unitask are with everything on: authentication, limits, idempotency, routing, and two synced commits
// a task. Measurements alternate over rounds and the median of each figure counts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"
)

func main() {
	serveRole()
	var p plan
	flag.DurationVar(&p.duration, "d", 4*time.Second, "how long each measurement takes")
	flag.IntVar(&p.rounds, "rounds", 3, "how often each is repeated; the median counts")
	flag.IntVar(&p.stored, "stored", 1_000_000, "how many ended tasks the large store holds")
	flag.IntVar(&p.queued, "queued", 100_000, "how many tasks wait in the long queue")
	flag.IntVar(&p.aged, "aged", 3_000_000, "how many ended tasks the store that is swept held")
	flag.IntVar(&p.old, "old", 1_000_000, "how many of them are past their retention")
	flag.DurationVar(&p.reader, "reader", 20*time.Second, "how long the long reader of the file reads")
	only := flag.String("only", "", "measure only what this `expression` matches, such as sync64 or stored")
	short := flag.Bool("short", false, "take a quick look: one round of a second each, on smaller stores")
	profile := flag.String("profile", "", "write a CPU profile of the server that is measured into this `file`")
	flag.StringVar(&p.measured, "measured", "", "write the rows of nodes on PostgreSQL into this `file`, for unitask simulate capacity --calibrate")
	flag.Parse()
	if *short {
		p = plan{measured: p.measured, duration: time.Second, rounds: 1, stored: 100_000, queued: 20_000, aged: 150_000, old: 50_000, reader: 2 * time.Second}
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -only:", err)
		os.Exit(2)
	}
	p.only = chosen
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, p, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// plan says how long and how often to measure.
type plan struct {
	duration time.Duration
	rounds   int
	stored   int
	queued   int
	aged     int
	old      int
	reader   time.Duration
	only     *regexp.Regexp
	measured string // a file; "": none
}

// run starts the servers, measures in turn, and prints the table, as far as it came.
func run(ctx context.Context, p plan, profile string) error {
	b, err := newTestbed(ctx)
	if err != nil {
		return err
	}
	b.profile = profile
	defer b.close()
	if err := b.preload(ctx, p); err != nil {
		return fmt.Errorf("preload: %w", err)
	}
	found := samples{}
	err = p.takeAll(ctx, found, b)
	return errors.Join(found.print(os.Stdout, p), found.writeMeasured(p), err)
}

// takeAll measures until something fails.
func (p plan) takeAll(ctx context.Context, into samples, b *testbed) error {
	for range p.rounds {
		for _, m := range b.measurements() {
			if err := p.take(ctx, into, m, p.duration); err != nil {
				return err
			}
		}
	}
	return p.take(ctx, into, measurement{"reader", b.longReader}, p.reader)
}

// take measures once, if that is wanted.
func (p plan) take(ctx context.Context, into samples, m measurement, d time.Duration) error {
	if !p.only.MatchString(m.name) {
		return nil
	}
	f, err := m.measure(ctx, d)
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	for name, v := range f {
		into[m.name+" "+name] = append(into[m.name+" "+name], v)
	}
	return nil
}
