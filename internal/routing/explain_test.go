package routing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// TestExplainSaysWhatChooseDoes: in whatever state routes came to, an explanation has the order and the reasons of the
// choice that follows it, and takes no turn and no part of a minute.
func TestExplainSaysWhatChooseDoes(t *testing.T) {
	now := time.Unix(1000, 0)
	h := routing.NewHealth(func() time.Time { return now })
	h.Say(1 << 12) // of a fleet, in which minutes are shared
	var routes []routing.Route
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		routes = append(routes, narrow(tokens(name, task.Money(i%3+1), 1)))
	}
	routes[3].Rate, routes[4].Adapter = routing.Rate{Requests: 3, Tokens: 2000}, refuser{noSupplier{}}
	off := tokens("off", 1, 1)
	off.Approved = false
	table := mustTable(t, append(routes, off)...)
	rng, seen := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	for step := range 3000 {
		account := fmt.Sprint("acct_", rng.IntN(2))
		id := string(rune('a'+rng.IntN(5))) + "/m"
		switch rng.IntN(7) {
		case 0:
			h.Pause(id, time.Duration(rng.IntN(20))*time.Second, fault.CapacityExhausted, "cooling down")
		case 1, 2:
			h.Failed(id, account)
		case 3:
			h.Worked(id, account)
		case 4:
			h.SetPaused(map[string]bool{id[:1]: rng.IntN(2) == 0})
		case 5:
			h.PauseHere(id, time.Second, fault.ProviderUnavailable, "tripped: needs the operator")
		default:
			now = now.Add(time.Duration(rng.IntN(15)) * time.Second)
		}
		w := want(task.Usage{InputTokens: int64(rng.IntN(1000)), OutputTokens: 100})
		w.Account = account
		explained := table.Explain(w, h)
		if diff := cmp.Diff(rows(explained), rows(table.Explain(w, h))); diff != "" {
			t.Fatalf("step %d: a second explanation differs:\n%s", step, diff)
		}
		choices, passed := table.Choose(w, h)
		var got []string
		for _, e := range explained {
			seen[e.Reason] = true
			if e.Reason == "" {
				if len(choices) == 0 || choices[0].Route != e.Route || choices[0].Cost != e.Cost || choices[0].Most != e.Most {
					t.Fatalf("step %d: %s would be tried, of %v", step, e.Route.ID(), order(choices))
				}
				choices = choices[1:]
				continue
			}
			got = append(got, e.Route.Supplier+": "+e.Reason+" "+string(e.Code))
		}
		wanted := make([]string, 0, len(passed)+1)
		for _, p := range passed {
			wanted = append(wanted, p.Supplier+": "+p.Reason+" "+string(p.Code))
		}
		if diff := cmp.Diff(append(wanted, "off: "+routing.NotApproved+" "), got); diff != "" || len(choices) > 0 {
			t.Fatalf("step %d, %d more would be tried (-chosen +explained):\n%s", step, len(choices), diff)
		}
		taken, _ := table.Choose(w, h)
		if len(taken) > 0 && rng.IntN(3) == 0 {
			h.Keep(taken, taken[0].Route.Supplier, "m")
		} else {
			h.Keep(taken, "", "")
		}
	}
	for _, reason := range []string{
		"", routing.Paused, routing.Probing, "cooling down", "tripped: failing", "tripped: needs the operator", "full: requests a minute",
		"can't honour the request: not as m is configured",
	} {
		if !seen[reason] {
			t.Errorf("the reason %q wasn't met among %v", reason, seen)
		}
	}
}

// rows are the parts of explanations that can be compared.
func rows(all []routing.Explained) (out []string) {
	for _, e := range all {
		out = append(out, fmt.Sprint(e.Route.ID(), e.Cost, e.Most, e.Reason, e.Code))
	}
	return out
}
