package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/arguments"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/disk"
	"unitask/internal/hint"
	"unitask/internal/node"
	"unitask/internal/routing"
	"unitask/internal/simulate"
	"unitask/internal/task"
)

type simulateOptions struct {
	server   serverFlags
	pattern  simulate.Pattern
	burst    string
	arrivals string
	store    string
	whatIf
	asJSON bool
}

func newSimulateCmd(t *terminal) *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate [CAPABILITY]",
		Short: "Replay a pattern of requests over the configured routes, without sending any",
		Long: "Replay a pattern of requests over the configured routes in virtual time, by the service's own routing: who\n" +
			"would have had them, at what cost, how fast, and who would have been refused. Suppliers are made up: how\n" +
			"long they take is drawn around an average. With a what-if (--price, --cap, --rpm, --latency, --outage) both are\n" +
			"shown, as configured and changed. The same flags and seed give the same result.\n\n" +
			"A recorded pattern has one JSON object a line: at (seconds, or a time), and capability, input_bytes,\n" +
			"input_tokens, output_tokens, images, seconds or other members of a task's usage, or parameters, as they apply;\n" +
			"or it is CSV with a header of these names. --from-store takes the live tasks of a data folder, of which it reads\n" +
			"when they came and how large they were. Requests without a size are drawn as a synthetic pattern's.",
		Example: `  unitask simulate --config unitask.yaml --rate 5 --for 10m
  unitask simulate --config unitask.yaml --burst 50@1m --cap groq/llama-3.1-8b-instant=8
  unitask simulate --config unitask.yaml --from-store data --price groq/llama-3.1-8b-instant=0.10/0.20
  unitask simulate --config unitask.yaml --arrivals monday.jsonl --outage groq/llama-3.1-8b-instant=2m-5m --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.pattern.Capability = "text.chat"
			if len(args) == 1 {
				o.pattern.Capability = catalog.Name(args[0])
			}
			return simulateRun(cmd.Context(), t, &o, o.server.sources(cmd))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.server.file, "config", "", "read the settings from this YAML `file` (UNITASK_CONFIG; default unitask.yaml in this folder, if it is there)")
	f.StringVar(&o.arrivals, "arrivals", "", "replay this `file` of JSON lines or CSV; - is stdin")
	f.StringVar(&o.store, "from-store", "", "replay when the live tasks of this data `folder` came")
	cmd.MarkFlagsMutuallyExclusive("arrivals", "from-store")
	_ = cmd.MarkFlagDirname("from-store")
	f.Float64Var(&o.pattern.Rate, "rate", 1, "requests a `second`, on average")
	f.DurationVar(&o.pattern.For, "for", 10*time.Minute, "how long requests come")
	f.StringVar(&o.burst, "burst", "", "so many more at once, so often: `N@DURATION`")
	f.Uint64Var(&o.pattern.Seed, "seed", 1, "draws everything that is left to chance")
	f.Int64Var(&o.pattern.InputTokens, "input-tokens", 500, "of a request, on average")
	f.Int64Var(&o.pattern.OutputTokens, "output-tokens", 250, "of a request, on average")
	f.Int64Var(&o.pattern.Images, "images", 1, "of a request for images")
	f.Float64Var(&o.pattern.Seconds, "seconds", 8, "of a request for video or sound")
	o.add(cmd)
	addJSON(cmd, &o.asJSON)
	cmd.AddCommand(newSimulateCapacityCmd(t))
	return cmd
}

func namesOf(directory *catalog.Catalog) []string {
	var names []string
	for _, one := range directory.All() {
		names = append(names, string(one.Name))
	}
	return names
}

// comparison is simulate's output as JSON; WhatIf is absent without a change.
type comparison struct {
	Configured simulate.Report  `json:"configured"`
	WhatIf     *simulate.Report `json:"what_if,omitempty"`
}

func simulateRun(ctx context.Context, t *terminal, o *simulateOptions, sources config.Sources) error {
	settings, directory, err := loadSettings(sources)
	if err != nil {
		return err
	}
	if _, known := directory.Get(o.pattern.Capability); !known {
		return absentCapability(string(o.pattern.Capability), namesOf(directory), "the directory has no capability")
	}
	found, err := node.FindSuppliers(ctx, settings, directory, nil, os.Getenv)
	if err != nil {
		return err
	}
	if !found.AnyLive() {
		return hint.With(errors.New("there is no approved route to simulate"), "name a configuration with --config, or set a supplier's key")
	}
	base := simulate.Config{Catalog: directory, Routes: found.Routes, Seed: o.pattern.Seed}
	if base.Arrivals, err = o.requests(ctx, t); err != nil {
		return err
	}
	changed, any, err := o.change(base)
	if err != nil {
		return err
	}
	var result comparison
	if result.Configured, err = simulate.Run(base); err != nil {
		return err
	}
	if any {
		other, err := simulate.Run(changed)
		if err != nil {
			return err
		}
		result.WhatIf = &other
	}
	if o.asJSON {
		return t.json(result)
	}
	return printSimulation(t, result)
}

// requests returns the pattern, recorded or drawn.
func (o *simulateOptions) requests(ctx context.Context, t *terminal) ([]simulate.Arrival, error) {
	if o.store != "" {
		return o.fromStore(ctx, t)
	}
	if o.arrivals == "" {
		if o.burst != "" {
			n, every, ok := strings.Cut(o.burst, "@")
			d, err := time.ParseDuration(every)
			if _, scan := fmt.Sscan(n, &o.pattern.Burst); !ok || err != nil || scan != nil || d <= 0 || o.pattern.Burst <= 0 {
				return nil, &hint.UsageError{Message: "--burst is written N@DURATION, such as 50@1m"}
			}
			o.pattern.BurstEvery = d
		}
		if o.pattern.Rate < 0 || o.pattern.InputTokens < 0 || o.pattern.OutputTokens < 0 || o.pattern.Images < 0 || o.pattern.Seconds < 0 {
			return nil, &hint.UsageError{Message: "--rate and the sizes of a request are 0 or more"}
		}
		return o.pattern.Arrivals()
	}
	in := t.stdin(ctx)
	if o.arrivals != "-" {
		f, err := os.Open(o.arrivals)
		if err != nil {
			return nil, &hint.UsageError{Message: o.arrivals + ": " + disk.Cause(err).Error()}
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	all, err := simulate.ReadArrivals(arguments.Unmarked(in), o.pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.arrivals, err)
	}
	return all, nil
}

// whatIf is the changes of a simulation, each "SUPPLIER/MODEL=VALUE".
type whatIf struct{ price, limit, rpm, latency, outage []string }

func (w *whatIf) add(cmd *cobra.Command) {
	for _, one := range []struct {
		into              *[]string
		name, form, about string
	}{
		{&w.price, "price", "ROUTE=IN/OUT", "what if it charged this, in USD for its unit"},
		{&w.limit, "cap", "ROUTE=N", "what if it took so many at once; 0: no limit"},
		{&w.rpm, "rpm", "ROUTE=N", "what if it took so many a minute; 0: no limit"},
		{&w.latency, "latency", "ROUTE=DURATION", "what if it took so long, on average"},
		{&w.outage, "outage", "ROUTE=FROM-TO", "what if it failed in that time, such as 2m-5m"},
	} {
		cmd.Flags().StringArrayVar(one.into, one.name, nil, one.about+": `"+one.form+"`")
	}
}

// change returns the configuration as the flags change it; any is false without one.
func (w *whatIf) change(base simulate.Config) (c simulate.Config, any bool, err error) {
	c = base
	c.Routes = slices.Clone(base.Routes)
	c.Latency, c.Outages = map[string]time.Duration{}, map[string][]simulate.Outage{}
	for _, one := range []struct {
		flag string
		all  []string
		set  func(r *routing.Route, value string) bool
	}{
		{"price", w.price, func(r *routing.Route, value string) bool { return setPrice(&r.Price, value) }},
		{"cap", w.limit, func(r *routing.Route, value string) bool { return setCount(&r.Cap, value) }},
		{"rpm", w.rpm, func(r *routing.Route, value string) bool { return setCount(&r.Rate.Requests, value) }},
		{"latency", w.latency, func(r *routing.Route, value string) bool {
			d, err := time.ParseDuration(value)
			c.Latency[r.ID()] = d
			return err == nil && d >= 0
		}},
		{"outage", w.outage, func(r *routing.Route, value string) bool {
			from, to, _ := strings.Cut(value, "-")
			begin, err := time.ParseDuration(from)
			end, err2 := time.ParseDuration(to)
			c.Outages[r.ID()] = append(c.Outages[r.ID()], simulate.Outage{From: begin, To: end})
			return err == nil && err2 == nil && begin < end
		}},
	} {
		for _, text := range one.all {
			any = true
			if err := setOn(c.Routes, text, one.set); err != nil {
				return c, any, &hint.UsageError{Message: "--" + one.flag + " " + text + ": " + err.Error()}
			}
		}
	}
	return c, any, nil
}

// setOn sets the value of "ROUTE=VALUE" on each route of that name.
func setOn(routes []routing.Route, text string, set func(*routing.Route, string) bool) error {
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return errors.New("is written ROUTE=VALUE")
	}
	found := false
	names := map[string]bool{}
	for i := range routes {
		if routes[i].Mode != task.Live {
			continue
		}
		names[routes[i].ID()] = true
		if routes[i].ID() == text[:at] {
			found = true
			if !set(&routes[i], text[at+1:]) {
				return errors.New("the value isn't right")
			}
		}
	}
	if !found {
		return errors.New("no such route; there are " + strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return nil
}

func setPrice(p *task.Price, value string) bool {
	in, out, ok := strings.Cut(value, "/")
	input, err := task.ParseMoney(in)
	output, err2 := task.ParseMoney(out)
	p.Input, p.Output = input, output
	return ok && err == nil && err2 == nil
}

func setCount(n *int, value string) bool {
	_, err := fmt.Sscan(value, n)
	return err == nil && *n >= 0
}

func printSimulation(t *terminal, c comparison) error {
	if err := printReport(t, "as configured", c.Configured); err != nil || c.WhatIf == nil {
		return err
	}
	if err := printReport(t, "what if", *c.WhatIf); err != nil {
		return err
	}
	printChanges(t, c.Configured, *c.WhatIf)
	return nil
}

// printReport says the sums to the person and prints the routes.
func printReport(t *terminal, title string, r simulate.Report) error {
	l := r.Latency
	t.note("%s: %d tasks, %d succeeded, %d failovers, $%s", title, r.Tasks, r.Succeeded, r.Failovers, r.Cost)
	t.note("  latency p50 %.2fs, p90 %.2fs, p99 %.2fs, at most %.2fs", l.P50, l.P90, l.P99, l.Max)
	for _, code := range slices.Sorted(maps.Keys(r.Refused)) {
		t.note("  refused with %s: %d", code, r.Refused[code])
	}
	b := table{header: []string{"RUN", "CAPABILITY", "ROUTE", "ATTEMPTS", "SUCCEEDED", "FAILED", "COST", "PASSED OVER"}}
	for _, one := range r.Routes {
		var why []string
		for _, reason := range slices.Sorted(maps.Keys(one.Passed)) {
			why = append(why, fmt.Sprintf("%s %d", reason, one.Passed[reason]))
		}
		number := func(n int) cell { return same(fmt.Sprint(n)) }
		b.row(same(title), same(string(one.Capability)), same(one.Route), number(one.Attempts), number(one.Succeeded), number(one.Failed),
			cell{human: "$" + one.Cost, plain: one.Cost}, same(strings.Join(why, "; ")))
	}
	return b.write(t)
}
