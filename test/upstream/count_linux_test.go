package upstream_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// tally is the expected metrics: each sample that counts an end, by its name and labels.
type tally struct {
	samples map[string]int
	before  map[string]api.AdminTask // each task, as of the last call of add
}

// counted are the families of the tally.
var counted = []string{"unitask_attempts_total{", "unitask_attempt_duration_seconds_count{", "unitask_tasks_ended_total{"}

// add adds the ends since the last call: of the task itself, and of each attempt that is new or has
// changed.
func (c *tally) add(now api.AdminTask) {
	if c.samples == nil {
		c.samples, c.before = map[string]int{}, map[string]api.AdminTask{}
	}
	before := c.before[now.ID].Attempts
	c.samples[fmt.Sprintf("unitask_tasks_ended_total{capability=%q,code=%q,mode=%q,state=%q}", now.Capability, now.Code, now.Mode, now.State)]++
	for i, a := range now.Attempts {
		if i < len(before) && cmp.Equal(before[i], a) {
			continue
		}
		c.samples[fmt.Sprintf("unitask_attempts_total{outcome=%q,supplier=%q}", a.State, a.Supplier)]++
		c.samples[fmt.Sprintf("unitask_attempt_duration_seconds_count{supplier=%q}", a.Supplier)]++
	}
	c.before[now.ID] = now
}

// checkCounts compares the metrics with the tally, once all work has ended: each task's end and each
// attempt's counts once.
func (s *service) checkCounts() {
	s.t.Helper()
	got := map[string]int{}
	for line := range strings.Lines(string(s.operate(api.PathMetrics))) {
		for _, family := range counted {
			if strings.HasPrefix(line, family) {
				sample, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
				var n int
				_, _ = fmt.Sscan(value, &n)
				got[sample+"}"] = n
			}
		}
	}
	if diff := cmp.Diff(s.ends.samples, got); diff != "" && !s.t.Failed() {
		s.t.Errorf("the metrics count otherwise than the ledger (-ledger +metrics):\n%s", diff)
	}
}

// checkSums compares the total charges of accounts and suppliers with the tasks.
func (s *service) checkSums() {
	s.t.Helper()
	var pays, owed, cost, sum task.Money
	for _, row := range s.usage("").Data {
		pays += fixture.Must(task.ParseMoney(row.Cost))(s.t)
	}
	for _, row := range s.usage("?by=" + api.BySupplier).Suppliers {
		owed += fixture.Must(task.ParseMoney(row.Cost))(s.t)
	}
	for _, one := range s.ends.before {
		cost += fixture.Must(task.ParseMoney(one.Cost))(s.t)
		for _, a := range one.Attempts {
			sum += fixture.Must(task.ParseMoney(a.Cost))(s.t)
		}
	}
	if pays != cost || owed != sum {
		s.t.Errorf("in all the accounts pay %s and the suppliers are owed %s; the tasks say %s and %s", pays, owed, cost, sum)
	}
}

func (s *service) usage(query string) api.UsageReport {
	s.t.Helper()
	var all api.UsageReport
	if err := json.Unmarshal(s.operate(api.PathAdminUsage+query), &all); err != nil {
		s.t.Fatal(err)
	}
	return all
}
