package capacity

import (
	"fmt"
	"math"
)

// Config is a fleet, its database, its suppliers and their load. Times are in milliseconds unless a field says
// otherwise. Default returns one to begin with.
type Config struct {
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"` // of virtual time that are measured
	WarmUp  float64 `json:"warm_up"` // seconds before that, in which the load builds up

	Nodes         int  `json:"nodes"`
	Cores         int  `json:"cores"`          // of each node
	Lanes         int  `json:"lanes"`          // of each node, for creations and for steps each
	Workers       int  `json:"workers"`        // asynchronous tasks at work on a node at once, as limits.workers
	DatabaseCores int  `json:"database_cores"` // PostgreSQL's
	OneMachine    bool `json:"one_machine"`    // the nodes compute on the database's cores

	Costs     Costs      `json:"costs"`
	Load      Load       `json:"load"`
	Limits    Limits     `json:"limits"`
	Suppliers []Supplier `json:"suppliers"` // in the order in which routing prefers them
}

// Costs are how long things take. Fit fits most of them to measurements.
type Costs struct {
	NodeOp         float64 `json:"node_op"`         // CPU of a node for one operation of the engine
	NodeGroup      float64 `json:"node_group"`      // CPU of a node for a transaction, whatever is in it
	NodeRequest    float64 `json:"node_request"`    // CPU of a node for the rest of a request: HTTP, routing, the supplier
	NodeStream     float64 `json:"node_stream"`     // CPU more for a streamed text
	NodePoll       float64 `json:"node_poll"`       // CPU for a poll of a job
	DatabaseGroup  float64 `json:"database_group"`  // CPU of the database for a transaction, whatever is in it
	DatabaseCreate float64 `json:"database_create"` // CPU more for each creation or begun attempt in it
	DatabaseStep   float64 `json:"database_step"`   // CPU more for each step in it
	DatabaseClaim  float64 `json:"database_claim"`  // CPU more for a claim, whatever it finds
	RoundTrip      float64 `json:"round_trip"`      // between a node and the database, on average
	Fsync          float64 `json:"fsync"`           // of the database's log, on average
	Wake           float64 `json:"wake"`            // how long a thread that is woken while all cores compute waits
	Jitter         float64 `json:"jitter"`          // 0 to 1: the part of round trips and syncs that varies
}

// Load is who asks for what.
type Load struct {
	Rate     float64 `json:"rate"`     // tasks a second, arriving independently of each other
	Callers  int     `json:"callers"`  // in place of Rate: callers that each send the next task once the last one ended
	Stream   float64 `json:"stream"`   // share of streamed texts
	Async    float64 `json:"async"`    // share of asynchronous jobs
	Accounts int     `json:"accounts"` // with one key each
	Zipf     float64 `json:"zipf"`     // the n-th account is as busy as n^-Zipf; 0: all alike
	CPU      float64 `json:"cpu"`      // of a task, ms, that its caller and its supplier compute on the nodes' cores
}

// Limits are the counters that creations take from; 0: no limit, and no lock.
type Limits struct {
	OpenTasks int     `json:"open_tasks"` // of each key, as limits.open_tasks
	Queue     int     `json:"queue"`      // of the whole fleet, as limits.queue
	Patience  float64 `json:"patience"`   // how long a synchronous task waits for a place at a supplier
}

// Supplier is one route. Times to answer are log-normal.
type Supplier struct {
	Name   string  `json:"name"`
	Cap    int     `json:"cap"` // requests at once; 0: no limit
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Fails  float64 `json:"fails"` // the part of requests that fail and go on to the next route
	Poll   float64 `json:"poll"`  // pause between polls of an asynchronous job; 0: the gateway's own, longer each time
}

// Default returns one node with a database on a machine of its own, and suppliers of chat. The engine's costs are those
// that Fit found for the measurements in testdata/service.json; the others are assumptions, among them a network
// between the nodes and the database.
func Default() Config {
	costs := DefaultCosts()
	costs.RoundTrip = 0.5
	return Config{
		Seed: 1, Seconds: 10, WarmUp: 5, Nodes: 1, Cores: 4, Lanes: 2, Workers: 512, DatabaseCores: 8,
		Costs: costs,
		Load:  Load{Rate: 1000, Stream: 0.3, Accounts: 10_000, Zipf: 0.5},
		Limits: Limits{
			OpenTasks: 64, Queue: 100_000, Patience: 2000,
		},
		Suppliers: []Supplier{
			{Name: "first", Median: 800, P99: 4000, Fails: 0.01}, {Name: "second", Median: 1000, P99: 5000, Fails: 0.01},
		},
	}
}

// DefaultCosts returns the costs of the engine that Fit found for the measurements, and assumptions about the rest.
func DefaultCosts() Costs {
	c := Guess()
	c.NodeOp, c.NodeGroup, c.NodeRequest = 0.034, 0.173, 0.034
	c.DatabaseGroup, c.DatabaseCreate, c.DatabaseStep = 0.308, 0.036, 0.036
	c.RoundTrip, c.Fsync, c.Wake = 0.052, 0.117, 0.074
	return c
}

// Guess returns costs to begin a fit with.
func Guess() Costs {
	return Costs{
		NodeOp: 0.03, NodeGroup: 0.3, NodeRequest: 0.1, NodeStream: 0.5, NodePoll: 0.05, DatabaseGroup: 0.4, DatabaseCreate: 0.03,
		DatabaseStep: 0.03, DatabaseClaim: 1, RoundTrip: 0.2, Fsync: 0.5, Wake: 0.5, Jitter: 0.5,
	}
}

// most bounds the memory that a configuration asks for. least is the shortest time that something takes which is done
// again and again, in milliseconds.
const (
	most  = 10_000_000
	least = 0.001
)

// Check returns the first fault of a configuration.
func (c Config) Check() error {
	for _, n := range []struct {
		name        string
		value       float64
		least, most float64
	}{
		{"seconds", c.Seconds, 0.001, 3600},
		{"warm_up", c.WarmUp, 0, 3600},
		{"nodes", float64(c.Nodes), 1, 1000},
		{"cores", float64(c.Cores), 1, 1000},
		{"lanes", float64(c.Lanes), 1, 1000},
		{"workers", float64(c.Workers), 1, most},
		{"database_cores", float64(c.DatabaseCores), 1, 1000},
		{"load.rate", c.Load.Rate, 0, most},
		{"load.callers", float64(c.Load.Callers), 0, most},
		{"load.stream", c.Load.Stream, 0, 1},
		{"load.async", c.Load.Async, 0, 1 - c.Load.Stream},
		{"load.accounts", float64(c.Load.Accounts), 1, most},
		{"load.zipf", c.Load.Zipf, 0, 10},
		{"load.cpu", c.Load.CPU, 0, 1e6},
		{"limits.open_tasks", float64(c.Limits.OpenTasks), 0, most},
		{"limits.queue", float64(c.Limits.Queue), 0, most},
		{"limits.patience", c.Limits.Patience, 0, 1e9},
		{"costs.jitter", c.Costs.Jitter, 0, 1},
		{"tasks", max(c.Load.Rate, float64(c.Load.Callers)) * (c.Seconds + c.WarmUp), 0.001, most},
		{"suppliers", float64(len(c.Suppliers)), 1, 63},
	} {
		if math.IsNaN(n.value) || n.value < n.least || n.value > n.most {
			return fmt.Errorf("%s is %g, and may be %g to %g", n.name, n.value, n.least, n.most)
		}
	}
	if (c.Load.Rate > 0) == (c.Load.Callers > 0) {
		return fmt.Errorf("load has either a rate or callers")
	}
	if c.Load.Callers > 0 && c.Costs.RoundTrip+c.Costs.Fsync < least {
		return fmt.Errorf("tasks would take no time: with callers a round trip or a sync takes at least %g ms", least)
	}
	for _, cost := range c.Costs.fields() {
		if !(*cost >= 0) || *cost > 1e6 {
			return fmt.Errorf("a cost is %g, and may be 0 to 1e+06 milliseconds", *cost)
		}
	}
	for i, s := range c.Suppliers {
		times := s.Median >= 0 && s.Median <= s.P99 && s.P99 <= 1e9 && (s.Poll == 0 || s.Poll >= least)
		if s.Cap < 0 || !times || !(s.Fails >= 0 && s.Fails <= 1) {
			return fmt.Errorf("suppliers[%d]: cap and times are 0 or more, p99 is at least the median, and fails is 0 to 1", i)
		}
	}
	return nil
}

func (c *Costs) fields() []*float64 {
	return []*float64{
		&c.NodeOp, &c.NodeGroup, &c.NodeRequest, &c.NodeStream, &c.NodePoll, &c.DatabaseGroup, &c.DatabaseCreate, &c.DatabaseStep,
		&c.DatabaseClaim, &c.RoundTrip, &c.Fsync, &c.Wake,
	}
}
