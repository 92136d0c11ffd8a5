package routing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
// every minute: what they begin together exceeds the limit by one or a hundredth at most, not at all if it is below one
// for each node, and they use it.
func TestFleetRates(t *testing.T) {
	const minutes = 5
	for _, tt := range []struct {
		nodes, busy, limit int
		tokens             int // of a request, of 1,000 times the limit a minute; 0: the limit is of requests
	}{
		{2, 2, 1, 0},
		{3, 3, 1, 0},
		{3, 1, 1, 0},
		{5, 5, 1, 0},
		{5, 1, 1, 0},
		{3, 3, 2, 0},
		{3, 1, 2, 0},
		{5, 5, 2, 0},
		{5, 3, 5, 0},
		{8, 8, 6, 0},
		{8, 1, 6, 0},
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
		{3, 3, 12, 1000},
		{3, 1, 12, 1000},
		{3, 3, 4, 1000},
		{3, 3, 1, 1000},
		{5, 5, 1, 1000},
		{5, 1, 1, 1000},
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
						due[node] = due[node].Add(time.Second + time.Duration(rng.Int64N(int64(100*time.Millisecond))))
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
			over := 0 // of a limit below one for each node
			if tt.busy > 1 && tt.limit >= tt.nodes {
				over = max(1, tt.limit/100)
			}
			if most > tt.limit+over {
				t.Errorf("%d in a minute, the limit is %d", most, tt.limit)
			}
			if used < 0.98 {
				t.Errorf("%.0f %% of the limit were used", 100*used)
			}
		})
	}
}

// TestFleetTurns: a node that is alone in having requests begins one of a limit below one for each node within two
// seconds, whichever node it is, also if others asked before that have none any more or hang.
func TestFleetTurns(t *testing.T) {
	limited := tokens("a", 1, 1)
	limited.Rate = routing.Rate{Requests: 1}
	for run := range 20 {
		node := run % 5
		n := newNodes(t, 5, limited, tokens("b", 2, 2))
		n.pass(time.Minute)
		for minute := range 3 {
			n.wantAsks("before it asked", node, "acct_1", "b")
			n.pass(bound)
			n.wantAsks(fmt.Sprint("in its turn in minute ", minute), node, "acct_1", "a")
			n.wantAsks("after it", node, "acct_1", "b")
			n.pass(61 * time.Second)
		}

		other := (node + 1) % 5
		n.wantAsks("another", other, "acct_1", "b")
		n.pass(bound) // it has the turn now
		seconds := 0
		for ; seconds < 5; seconds++ {
			if to, _ := n.asks(node, "acct_1"); to == "a" {
				break
			}
			n.pass(time.Second)
		}
		if seconds > 3 {
			t.Errorf("node %d waits for %d seconds for another's turn", node, seconds)
		}

		n.pass(61 * time.Second)
		n.wantAsks("one that hangs", other, "acct_1", "b")
		n.pass(time.Second)
		n.all[other] = nil // its last note stays
		n.pass(bound)
		n.wantAsks("before it asked", node, "acct_1", "b")
		n.pass(bound)
		n.wantAsks("while another hangs", node, "acct_1", "a")
	}
}

// TestFleetFirst: of a limit that has one for each node each begins one at once, and the next when others know of that.
func TestFleetFirst(t *testing.T) {
	requests, size := tokens("a", 1, 1), tokens("b", 2, 2)
	requests.Rate, size.Rate = routing.Rate{Requests: 3}, routing.Rate{Tokens: 12_000}
	n := newNodes(t, 3, requests, size)
	begins := func(size int64) (all string) {
		for _, h := range n.all {
			choices, _ := n.table.Choose(want(task.Usage{OutputTokens: size}), h)
			for _, c := range choices {
				all += c.Route.Supplier
			}
			all += " "
		}
		return all
	}
	var got []string
	for _, size := range []int64{4001, 4000, 1} {
		got = append(got, begins(size))
	}
	if diff := cmp.Diff([]string{"a a a ", "b b b ", "   "}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFleetClaims: a node claims no work beyond its part of a limit, but for a limit below one for each node, of which its
// requests get a turn by asking.
func TestFleetClaims(t *testing.T) {
	limited := tokens("a", 1, 1)
	limited.Rate = routing.Rate{Requests: 1}
	n := newNodes(t, 3, limited)
	opens := func(when, want string) {
		t.Helper()
		got := ""
		for _, h := range n.all {
			_, open := n.table.Places(task.Live, "text.chat", h)
			got += fmt.Sprint(open, " ")
		}
		if got != want+" " {
			t.Errorf("%s the queue is open: %s, want %s", when, got, want)
		}
	}
	opens("of few", "true true true")
	n.asks(1, "acct_1")
	n.pass(bound)
	n.wantAsks("its turn", 1, "acct_1", "a")
	n.pass(bound)
	opens("in a full minute", "false false false")

	limited.Rate = routing.Rate{Requests: 60}
	n = newNodes(t, 3, limited)
	for range 5 {
		n.wantAsks("its part", 1, "acct_1", "a")
	}
	opens("beyond a part", "true false true")
}
