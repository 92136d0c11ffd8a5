package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"unitask/internal/arguments"
	"unitask/internal/capacity"
	"unitask/internal/disk"
	"unitask/internal/hint"
)

const capacityLong = `Simulate a fleet of nodes on one PostgreSQL database in virtual time: how many tasks a second it
does, how long a task takes beyond its suppliers, and which part is busy first. No request is sent and no database is
needed. The same flags and seed give the same result.

--nodes, --rate and --callers take lists and ranges: 1,2,3 or 100..10000, whose numbers double. Where latency breaks
is said for each number of nodes: work piles up or is refused, or the added p99 is above 50 ms and more than four
times that of the smallest load. Everything else that the model knows stands in a file, of which --json prints the
present one as "model": costs, suppliers, limits, the mix of tasks. Times are in milliseconds.

--calibrate fits the costs of the engine to measurements of real runs, prints them beside the model, and says how far
off it is. docs/scaling.md says what the model leaves out.`

const capacityExample = `  unitask simulate capacity --nodes 1,2,3,5,8 --rate 100..20000
  unitask simulate capacity --nodes 3 --rate 2000 --async 0.2 --open-tasks 0 --json --jq .reports[0].use
  unitask simulate capacity --model fleet.yaml --nodes 5 --rate 386,4000
  unitask simulate capacity --calibrate measured.json --json --jq {costs:.costs}`

type capacityOptions struct {
	file, calibrate      string
	nodes, rate, callers string
	flags                capacity.Config
	asJSON               bool
}

func newSimulateCapacityCmd(t *terminal) *cobra.Command {
	o := capacityOptions{flags: capacity.Default()}
	cmd := &cobra.Command{
		Use:     "capacity",
		Short:   "Simulate how much a fleet of nodes on PostgreSQL can do",
		Long:    capacityLong,
		Example: capacityExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return capacityRun(cmd, t, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.file, "model", "", "read the model from this YAML or JSON `file`; the rest stays as it is; - is stdin")
	f.StringVar(&o.calibrate, "calibrate", "", "fit the engine's costs to the measurements in this `file`; - is stdin")
	f.StringVar(&o.nodes, "nodes", "1", "so many nodes: a `list` or range")
	f.StringVar(&o.rate, "rate", "1000", "tasks a second: a `list` or range")
	f.StringVar(&o.callers, "callers", "", "in place of a rate: callers, each with one task at a time: a `list` or range")
	o.addModel(f)
	cmd.MarkFlagsMutuallyExclusive("rate", "callers")
	for _, other := range []string{"model", "nodes", "rate", "callers"} {
		cmd.MarkFlagsMutuallyExclusive("calibrate", other)
	}
	addJSON(cmd, &o.asJSON)
	return cmd
}

// addModel adds the flags for what is changed most often in a model.
func (o *capacityOptions) addModel(f *pflag.FlagSet) {
	c := &o.flags
	f.IntVar(&c.Cores, "cores", c.Cores, "cores of a node")
	f.IntVar(&c.DatabaseCores, "database-cores", c.DatabaseCores, "cores of the database")
	f.BoolVar(&c.OneMachine, "one-machine", false, "the nodes share the database's cores")
	f.IntVar(&c.Lanes, "lanes", c.Lanes, "lanes of a node, for creations and for steps each")
	f.Float64Var(&c.Costs.RoundTrip, "round-trip", c.Costs.RoundTrip, "`milliseconds` between a node and the database")
	f.Float64Var(&c.Costs.Fsync, "fsync", c.Costs.Fsync, "`milliseconds` of a sync of the database's log")
	f.Float64Var(&c.Load.Stream, "stream", c.Load.Stream, "share of streamed texts, 0 to 1")
	f.Float64Var(&c.Load.Async, "async", c.Load.Async, "share of asynchronous jobs, 0 to 1")
	f.IntVar(&c.Load.Accounts, "accounts", c.Load.Accounts, "accounts, with one key each")
	f.Float64Var(&c.Load.Zipf, "zipf", c.Load.Zipf, "how much busier the first account is than the n-th: n to this power")
	f.IntVar(&c.Limits.OpenTasks, "open-tasks", c.Limits.OpenTasks, "open tasks of a key, as limits.open_tasks; 0: any")
	f.Float64Var(&c.Seconds, "seconds", c.Seconds, "`seconds` of virtual time that are measured")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "draws everything that is left to chance")
}

// merge puts the values of the flags that are set into the model.
func (o *capacityOptions) merge(f *pflag.FlagSet, c *capacity.Config) {
	from := &o.flags
	for name, set := range map[string]func(){
		"cores":          func() { c.Cores = from.Cores },
		"database-cores": func() { c.DatabaseCores = from.DatabaseCores },
		"one-machine":    func() { c.OneMachine = from.OneMachine },
		"lanes":          func() { c.Lanes = from.Lanes },
		"round-trip":     func() { c.Costs.RoundTrip = from.Costs.RoundTrip },
		"fsync":          func() { c.Costs.Fsync = from.Costs.Fsync },
		"stream":         func() { c.Load.Stream = from.Load.Stream },
		"async":          func() { c.Load.Async = from.Load.Async },
		"accounts":       func() { c.Load.Accounts = from.Load.Accounts },
		"zipf":           func() { c.Load.Zipf = from.Load.Zipf },
		"open-tasks":     func() { c.Limits.OpenTasks = from.Limits.OpenTasks },
		"seconds":        func() { c.Seconds = from.Seconds },
		"seed":           func() { c.Seed = from.Seed },
	} {
		if f.Changed(name) {
			set()
		}
	}
}

// sweepOutput is the output as JSON.
type sweepOutput struct {
	Model capacity.Config `json:"model"`
	capacity.Swept
}

func capacityRun(cmd *cobra.Command, t *terminal, o *capacityOptions) error {
	if o.calibrate != "" {
		return calibrateRun(cmd.Context(), t, o)
	}
	c, err := o.model(cmd, t)
	if err != nil {
		return err
	}
	nodes, loads, err := o.ranges(cmd, &c)
	if err != nil {
		return err
	}
	swept, err := capacity.Sweep(cmd.Context(), c, nodes, loads)
	switch {
	case cmd.Context().Err() != nil:
		return cmd.Context().Err()
	case err != nil:
		return &hint.UsageError{Message: err.Error()}
	case o.asJSON:
		return t.json(sweepOutput{c, swept})
	}
	return printSweep(t, swept)
}

// model returns the default one with the file's values, and those of the flags that are set.
func (o *capacityOptions) model(cmd *cobra.Command, t *terminal) (capacity.Config, error) {
	c := capacity.Default()
	if o.file != "" {
		if err := readModel(cmd.Context(), t, o.file, &c); err != nil {
			return c, err
		}
	}
	o.merge(cmd.Flags(), &c)
	return c, nil
}

// readModel decodes a file of YAML, of which JSON is a part, over v.
func readModel(ctx context.Context, t *terminal, name string, v any) error {
	in := t.stdin(ctx)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return &hint.UsageError{Message: name + ": " + disk.Cause(err).Error()}
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(arguments.Unmarked(in), mostModel))
	if err == nil {
		err = yaml.NewDecoder(bytes.NewReader(raw), yaml.DisallowUnknownField()).Decode(v)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

const mostModel = 1 << 20 // bytes of a file

// ranges returns the numbers of nodes and the loads, of which c gets the first. Those of the model's file hold if no
// flag says otherwise.
func (o *capacityOptions) ranges(cmd *cobra.Command, c *capacity.Config) (nodes []int, loads []float64, err error) {
	nodes = []int{c.Nodes}
	if o.file == "" || cmd.Flags().Changed("nodes") {
		var counts []float64
		counts, err = numbers("nodes", o.nodes, true)
		if err != nil {
			return nil, nil, err
		}
		nodes = nil
		for _, n := range counts {
			nodes = append(nodes, int(n))
		}
	}
	switch {
	case cmd.Flags().Changed("callers"):
		c.Load.Rate, c.Load.Callers = 0, 1
		loads, err = numbers("callers", o.callers, true)
	case o.file == "" || cmd.Flags().Changed("rate"):
		c.Load.Callers, c.Load.Rate = 0, 1
		loads, err = numbers("rate", o.rate, false)
	default:
		loads = []float64{max(c.Load.Rate, float64(c.Load.Callers))}
	}
	if err == nil {
		*c = c.Under(loads[0])
		c.Nodes = nodes[0]
	}
	return nodes, loads, err
}

// mostNumbers bounds a list.
const mostNumbers = 100

// numbers reads a list of numbers above zero and of ranges, whose numbers double, and sorts it.
func numbers(flag, text string, whole bool) ([]float64, error) {
	var all []float64
	for one := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(one, "..")
		low, err := number(from, whole)
		high := low
		if isRange && err == nil {
			high, err = number(to, whole)
		}
		if err != nil || high < low || high/low > 1e9 {
			const wrong = "--%s takes numbers above zero such as 1,2,5 or 100..10000, not %q"
			return nil, &hint.UsageError{Message: fmt.Sprintf(wrong, flag, text)}
		}
		for ; low < high; low *= 2 {
			all = append(all, low)
		}
		all = append(all, high)
	}
	if len(all) > mostNumbers {
		return nil, &hint.UsageError{Message: fmt.Sprintf("--%s has more than %d numbers", flag, mostNumbers)}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func number(text string, whole bool) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (!(n > 0) || n > 1e9 || whole && n != math.Trunc(n)) {
		err = strconv.ErrRange
	}
	return n, err
}
