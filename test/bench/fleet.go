package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"unitask/internal/task"
)

// fleetOf is how many nodes and callers are measured.
type fleetOf struct{ nodes, callers int }

var fleets = []fleetOf{
	{1, 1}, {1, 16}, {1, 64}, {1, 128}, {1, 256}, {2, 64}, {2, 128}, {2, 256}, {3, 64}, {3, 128}, {3, 256},
}

func (f fleetOf) name() string { return fmt.Sprintf("pg%dc%d", f.nodes, f.callers) }

// fleet is nodes on one database.
type fleet struct {
	testbed  *testbed
	database *database
	nodes    []*node
}

// newFleet starts nodes on a database.
func (b *testbed) newFleet(ctx context.Context, d *database, store string, nodes int) (*fleet, error) {
	f := &fleet{testbed: b, database: d}
	for range nodes {
		n, err := b.newKeylessNode(ctx, nodeOptions{mode: task.Live, store: store})
		if n != nil {
			f.nodes = append(f.nodes, n)
		}
		if err == nil && len(f.nodes) == 1 {
			n.key, err = n.newKey(ctx)
		}
		if err != nil {
			f.remove()
			return nil, err
		}
		n.key = f.nodes[0].key
	}
	return f, nil
}

// remove kills the nodes and removes their folders.
func (f *fleet) remove() {
	for _, n := range f.nodes {
		if n.process != nil {
			n.remove()
		}
	}
}

// chats are synchronous tasks on each of the nodes.
func (f *fleet) chats() []target {
	var all []target
	for _, n := range f.nodes {
		all = append(all, n.tasks("text.chat", hello, "", http.StatusOK))
	}
	return all
}

// onFleet measures nodes on one database that so many callers keep busy.
func (b *testbed) onFleet(of fleetOf) func(context.Context, time.Duration) (figures, error) {
	return b.onDatabase(nil, func(ctx context.Context, d *database, name string, t time.Duration) (figures, error) {
		f, err := b.newFleet(ctx, d, d.url(name), of.nodes)
		if err != nil {
			return nil, err
		}
		defer f.remove()
		if _, err := saturate(ctx, of.callers, fleetWarmUp(t), f.chats()...); err != nil {
			return nil, err
		}
		return f.nodes[0].profiled(ctx, t, func() (figures, error) { return f.saturated(ctx, of.callers, t) })
	})
}

// fleetPaced is how many requests a second the measurements of a fleet's latency send.
const fleetPaced = 200

// fleetSteady measures a node's latency at a fixed rate.
func (b *testbed) fleetSteady() func(context.Context, time.Duration) (figures, error) {
	return b.onDatabase(nil, func(ctx context.Context, d *database, name string, t time.Duration) (figures, error) {
		f, err := b.newFleet(ctx, d, d.url(name), 1)
		if err != nil {
			return nil, err
		}
		defer f.remove()
		return b.steady(f.chats()[0], fleetPaced)(ctx, t)
	})
}

// fleetWarmUp also opens the nodes' connections, on each of which statements are prepared.
func fleetWarmUp(d time.Duration) time.Duration { return min(d/2, 2*time.Second) }

// saturated measures what callers have of the fleet and what it costs.
func (f *fleet) saturated(ctx context.Context, callers int, t time.Duration) (figures, error) {
	before, err := f.counts(ctx)
	if err != nil {
		return nil, err
	}
	done, err := saturate(ctx, callers, t, f.chats()...)
	if err != nil {
		return nil, err
	}
	after, err := f.counts(ctx)
	if err != nil {
		return nil, err
	}
	tasks := float64(done.answers)
	found := figures{
		rate: tasks / done.took.Seconds(), p50: quantile(done.each, 0.50), p99: quantile(done.each, 0.99),
		cpu: (after.nodes - before.nodes).Seconds() / tasks, databaseCPU: (after.database - before.database).Seconds() / tasks,
		loadCPU: (after.load - before.load).Seconds() / tasks, logUse: (after.synced - before.synced) / done.took.Seconds(),
		group: (after.operations - before.operations) / (after.commits - before.commits),
	}
	for _, n := range f.nodes {
		found[anon], found[rss] = max(found[anon], n.memory("RssAnon")), max(found[rss], n.memory("VmRSS"))
	}
	return found, nil
}

// counts are what is counted from the start on.
type counts struct {
	nodes, database, load time.Duration // CPU
	synced                float64       // seconds
	commits, operations   float64
}

func (f *fleet) counts(ctx context.Context) (c counts, err error) {
	for _, n := range f.nodes {
		page, err := n.ask(ctx, "/metrics")
		if err != nil {
			return c, err
		}
		c.commits += metric(page, "unitask_store_commit_operations_count")
		c.operations += metric(page, "unitask_store_commit_operations_sum")
		c.nodes += n.cpu()
	}
	c.database, c.load = familyCPU(f.database.PID()), f.testbed.upstream.cpu()+timesOf(os.Getpid()).own
	c.synced, err = f.database.synced(ctx)
	return c, err
}

// metric returns the value of a metric without labels; 0 if it isn't there.
func metric(page []byte, name string) float64 {
	_, rest, _ := bytes.Cut(page, []byte("\n"+name+" "))
	line, _, _ := strings.Cut(string(rest), "\n")
	v, _ := strconv.ParseFloat(line, 64)
	return v
}
