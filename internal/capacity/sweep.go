package capacity

import (
	"context"
	"fmt"
)

// Knee is the load up to which a number of nodes keeps its latency.
type Knee struct {
	Nodes int     `json:"nodes"`
	Good  float64 `json:"good"`              // the largest load before the first that broke; 0: even the smallest broke
	Broke float64 `json:"broke,omitempty"`   // 0: the largest load is fine too
	Why   string  `json:"why,omitempty"`     // of the first that broke
	Part  string  `json:"busiest,omitempty"` // the part that is used most there
}

// Swept is the outcome of a sweep, by nodes and then by load.
type Swept struct {
	Reports []Report `json:"reports"`
	Knees   []Knee   `json:"knees"`
}

// kneeFactor is how many times the added p99 of the smallest load is too much, if that is more than kneeLeast, in
// milliseconds.
const (
	kneeFactor = 4
	kneeLeast  = 50
)

// Sweep runs the configuration with each number of nodes under each load, which are rates or, if the configuration has
// callers, numbers of callers; both ascend.
func Sweep(ctx context.Context, c Config, nodes []int, loads []float64) (Swept, error) {
	var all Swept
	for _, n := range nodes {
		c.Nodes = n
		knee := Knee{Nodes: n}
		var first Report
		for i, load := range loads {
			if err := ctx.Err(); err != nil {
				return Swept{}, err
			}
			r, err := Run(c.Under(load))
			if err != nil {
				return Swept{}, err
			}
			if i == 0 {
				first = r
			}
			all.Reports = append(all.Reports, r)
			knee.note(load, r, first)
		}
		all.Knees = append(all.Knees, knee)
	}
	return all, nil
}

// Under returns the configuration with another load of the same kind, callers or a rate.
func (c Config) Under(load float64) Config {
	if c.Load.Callers > 0 {
		c.Load.Callers = int(load)
	} else {
		c.Load.Rate = load
	}
	return c
}

func (k *Knee) note(load float64, r, first Report) {
	if k.Broke > 0 {
		return
	}
	switch {
	case r.Overloaded && r.Refused > r.Failed:
		k.Why = "limits refuse tasks"
	case r.Overloaded && r.Failed > 0 && r.Failed >= r.Throughput/50:
		k.Why = "tasks find no place at a supplier"
	case r.Overloaded:
		k.Why = "work piles up"
	case r.Added.P99 > max(kneeFactor*first.Added.P99, kneeLeast):
		k.Why = fmt.Sprintf("the added p99 is more than %d times that of the smallest load", kneeFactor)
	default:
		k.Good = load
		return
	}
	k.Broke, k.Part = load, r.Busiest
}
