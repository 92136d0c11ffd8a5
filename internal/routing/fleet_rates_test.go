package routing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"unitask/internal/routing"
	"unitask/internal/task"
)

// minuteOf is the most that began in any minute.
func minuteOf(starts []time.Time) (most int) {
	first := 0
	for i, at := range starts {
		for at.Sub(starts[first]) >= time.Minute {
			first++
		}
		most = max(most, i+1-first)
	}
	return most
}

// TestFleetRates has nodes with exchanges at odd times send as much as they may, from an idle start on, and looks at
// every minute: what they begin together exceeds the limit by little, and they use most of it.
func TestFleetRates(t *testing.T) {
	const minutes = 5
	for _, tt := range []struct {
		nodes, busy, limit int
		tokens             int // of a request, of 1,000 times the limit a minute; 0: the limit is of requests
	}{
		{2, 2, 6, 0},
		{2, 1, 6, 0},
		{3, 3, 60, 0},
		{3, 1, 60, 0},
		{3, 3, 600, 0},
		{3, 1, 600, 0},
		{8, 8, 600, 0},
		{8, 2, 600, 0},
		{8, 1, 6000, 0},
		{3, 3, 60, 1000},
		{3, 1, 60, 1000},
		{3, 3, 6, 1000},
	} {
		t.Run(fmt.Sprintf("%d of %d nodes, %d, %d tokens", tt.busy, tt.nodes, tt.limit, tt.tokens), func(t *testing.T) {
			limited, size := tokens("a", 1, 1), task.Usage{}
			limited.Rate = routing.Rate{Requests: tt.limit}
			if tt.tokens > 0 {
				limited.Rate, size = routing.Rate{Tokens: tt.limit * 1000}, task.Usage{OutputTokens: int64(tt.tokens)}
			}
			n := newNodes(t, tt.nodes, limited)
			n.pass(3 * time.Second)
			rng := rand.New(rand.NewPCG(1, 2))
			due := make([]time.Time, tt.nodes)
			for i := range due {
				due[i] = n.now.Add(time.Duration(rng.Int64N(int64(time.Second))))
			}
			var starts []time.Time
			for end := n.now.Add(minutes * time.Minute); n.now.Before(end); n.now = n.now.Add(50 * time.Millisecond) {
				for node := range n.all {
					if !n.now.Before(due[node]) {
						n.exchangeAt(node)
						due[node] = due[node].Add(time.Second)
					}
				}
				for node := range tt.busy {
					for {
						if choices, _ := n.table.Choose(want(size), n.all[node]); len(choices) == 0 {
							break
						}
						starts = append(starts, n.now)
					}
				}
			}
			most, used := minuteOf(starts), float64(len(starts))/float64(minutes*tt.limit)
			t.Logf("at most %d a minute of %d, %.0f %% used", most, tt.limit, 100*used)
			if over := most - tt.limit; over > max(2*(tt.busy-1), tt.limit/20) {
				t.Errorf("%d in a minute, the limit is %d", most, tt.limit)
			}
			if used < 0.75 {
				t.Errorf("%.0f %% of the limit were used", 100*used)
			}
		})
	}
}
