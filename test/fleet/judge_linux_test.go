package fleet_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

// judge checks what callers, suppliers, nodes and the database saw, and prints the figures.
func (s *storm) judge(sampled samples) {
	s.Helper()
	o := s.observe()
	for _, v := range invariant.Check(o) {
		s.Error(v)
		s.explain(v.Key)
	}
	for _, surprise := range s.surprises {
		s.Error(surprise)
	}
	s.judgeErrands()
	s.judgeAnswers()
	s.judgeCaps(sampled)
	s.judgeRest()
	s.judgeUsage(o)
	for node, n := range s.nodes {
		n.Stop()
		s.stopped(node, n.Output())
	}
	s.report(o, sampled)
}

// explain prints what is known of a task.
func (s *storm) explain(key string) {
	for _, e := range s.errands {
		if e.Seen.Key == key {
			ledger, _ := json.Marshal(e.Seen.Ledger)
			s.Logf("%s (%s): read %v, %d failures shown, canceling %t: %s", key, e.kind, e.Seen.Seen, e.Seen.Shown, e.canceling, ledger)
		}
	}
}

// learn finds the task of an errand that was refused by its budget, by another request under its key, which the budget
// refuses if there is none. A node may have accepted the errand, and seen it fail, before it was lost with its answer;
// the proxy's next try came when others had spent the budget, and the refusal names no task.
func (s *storm) learn(e *errand) {
	s.Helper()
	reply, err := s.nodes[0].Send(s.Context(), harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: e.APIKey, Body: `{"capability":"text.chat","input":{"prompt":"whose key is it?"}}`,
		Header: map[string]string{api.HeaderIdempotencyKey: e.Seen.Key},
	})
	if err != nil {
		s.Fatal(err)
	}
	var got api.ErrorResponse
	if err := json.Unmarshal(reply.Body, &got); err != nil || reply.Status != http.StatusConflict && reply.Status != http.StatusTooManyRequests {
		s.Errorf("%s: another request under its key: %d %s", e.Seen.Key, reply.Status, reply.Body)
	}
	e.Acknowledge(api.Task{ID: got.TaskID})
}

// observe reads every task as its caller and as the operator do, and their files.
func (s *storm) observe() invariant.Observation {
	s.Helper()
	o := invariant.Observation{Counted: map[string]bool{cheap: true, dear: true, jobsName: true}}
	keys := []string{s.key}
	for _, b := range s.budgets {
		keys = append(keys, b.secret)
	}
	for _, key := range keys {
		ids, err := s.nodes[0].List(s.Context(), key)
		if err != nil {
			s.Fatal(err)
		}
		o.Listed = append(o.Listed, ids...)
	}
	for _, e := range s.errands {
		if len(e.Seen.Acknowledged) == 0 {
			s.learn(e)
		}
	}
	left := make(chan *errand)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for e := range left {
				if err := s.nodes[0].Look(s.Context(), e.APIKey, &e.Seen); err != nil {
					s.Errorf("%s: %v", e.Seen.Key, err)
				}
			}
		})
	}
	for _, e := range s.errands {
		left <- e
	}
	close(left)
	all.Wait()
	for _, e := range s.errands {
		e.Seen.Posts *= proxyTries
		o.Tasks = append(o.Tasks, e.Seen)
	}
	sent, mistaken := s.jobs.count()
	for _, word := range mistaken {
		s.Errorf("%s: the supplier had another's upload", word)
	}
	o.Submissions = append(s.chats.Sent(), sent...)
	return o
}

// proxyTries is how many nodes the proxy may send a request to if they break off.
const proxyTries = 3

// judgeErrands checks that each errand ended and has its own result.
func (s *storm) judgeErrands() {
	s.Helper()
	for _, e := range s.errands {
		final := e.Seen.Final
		switch {
		case !e.Done:
			s.Errorf("%s (%s) hasn't ended %s after the last fault", e.Seen.Key, e.kind, settleTime)
		case e.file != "" && final.State == task.Succeeded && (len(e.Seen.Files) != 1 || e.Seen.Files[0].SHA256 != e.file):
			s.Errorf("%s (%s): the file isn't its own: %+v", e.Seen.Key, e.kind, e.Seen.Files)
		case e.kind == endlessJob && final.State == task.Succeeded:
			s.Errorf("%s succeeded, and has no end", e.Seen.Key)
		case e.canceling && e.Seen.Found && !final.State.Terminal():
			s.Errorf("%s: its cancellation was lost, it is %s", e.Seen.Key, final.State)
		}
	}
}

// judgeAnswers checks that the result of each attempt at a chat supplier is that of its own submission: a worker that
// lost its lease and writes all the same ends an attempt of another, whose submission isn't answered yet.
func (s *storm) judgeAnswers() {
	s.Helper()
	for _, e := range s.errands {
		for _, a := range e.Seen.Ledger.Attempts {
			if a.State == task.OK && a.Supplier != jobsName && !s.watch.answered(a.Supplier, e.Seen.Key, a.StartedAt.Time, a.ClosedAt.Time) {
				s.Errorf("%s: attempt %d ended well, and its own submission wasn't answered by then", e.Seen.Key, a.N)
				s.explain(e.Seen.Key)
			}
		}
	}
}

// judgeUsage compares the sums, which were kept through all faults, with the tasks.
func (s *storm) judgeUsage(o invariant.Observation) {
	s.Helper()
	admin, err := client.NewAdmin(s.nodes[0].Data())
	if err != nil {
		s.Fatal(err)
	}
	report, err := admin.Usage(s.Context(), api.UsageQuery{By: api.ByCapability})
	if err != nil {
		s.Fatal(err)
	}
	want, costs := map[string]api.UsageRow{}, map[string]task.Money{}
	for _, t := range o.Tasks {
		row := want[t.Final.Capability]
		switch t.Final.State {
		case task.Succeeded:
			row.Succeeded++
		case task.Failed:
			row.Failed++
		case task.Canceled:
			row.Canceled++
		default:
			continue
		}
		cost, err := task.ParseMoney(t.Ledger.Cost)
		if err != nil {
			s.Fatal(err)
		}
		costs[t.Final.Capability] = costs[t.Final.Capability].Add(cost)
		want[t.Final.Capability] = row
	}
	var rows []api.UsageRow
	for _, name := range slices.Sorted(maps.Keys(want)) {
		row := want[name]
		rows = append(rows, api.UsageRow{
			Group: name, Mode: task.Live, Succeeded: row.Succeeded, Failed: row.Failed, Canceled: row.Canceled, Cost: costs[name].String(),
		})
	}
	var got []api.UsageRow
	for _, row := range report.Data {
		got = append(got, api.UsageRow{
			Group: row.Group, Mode: row.Mode, Succeeded: row.Succeeded, Failed: row.Failed, Canceled: row.Canceled, Cost: row.Cost,
		})
	}
	slices.SortFunc(got, func(a, b api.UsageRow) int { return cmp.Compare(a.Group, b.Group) })
	if diff := gocmp.Diff(rows, got); diff != "" {
		s.Errorf("usage (-ledgers +sums):\n%s", diff)
	}
}

// report prints the figures, and fails the test if they show that it tested too little.
func (s *storm) report(o invariant.Observation, sampled samples) {
	s.Helper()
	states, kinds := map[task.State]int{}, map[kind]int{}
	var posts, reopened, unknown, takeovers, canceled int
	var added []time.Duration
	spent := s.watch.spent()
	for _, e := range s.errands {
		if e.Seen.Found {
			states[e.Seen.Final.State]++
		}
		kinds[e.kind]++
		posts += e.Seen.Posts / proxyTries
		reopened += e.Seen.Ledger.Reopenings
		takeovers += e.Seen.Ledger.Takeovers
		if e.canceling {
			canceled++
		}
		for _, a := range e.Seen.Ledger.Attempts {
			if a.State == task.UnknownOutcome {
				unknown++
			}
		}
		if (e.kind == chat || e.kind == stream) && e.Seen.Final.State == task.Succeeded {
			added = append(added, e.ended.Sub(e.began)-spent[e.Seen.Key])
		}
	}
	slices.Sort(added)
	p := func(q float64) time.Duration {
		if len(added) == 0 {
			return 0
		}
		return added[int(q*float64(len(added)-1))].Round(time.Millisecond)
	}
	s.Logf("%d errands of %d callers in %s, %.0f/s: %v, %v; %d requests to create, %d submissions, %d attempts of unknown outcome, %d reopenings, "+
		"%d cancellations; %d texts read by a second stream; faults %v; at once at most %d and %d of %d submissions; the counters were read %d times; "+
		"chats take p50 %s, p99 %s beyond their suppliers",
		len(s.errands), s.callers, s.took.Round(time.Second), float64(len(s.errands))/s.took.Seconds(), states, kinds, posts, len(o.Submissions),
		unknown, reopened, canceled, s.followed, s.counts, s.watch.most(cheap), s.watch.most(dear), s.cap, sampled.n, p(0.5), p(0.99))
	if unknown == 0 || reopened == 0 || canceled == 0 || s.followed == 0 || sampled.n < 20 || s.watch.most(cheap) < s.cap*3/4 || len(s.counts) < 5 ||
		states[task.Failed] > len(s.errands)/3 || states[task.Succeeded] < len(s.errands)/2 {
		s.Error("the run put too little to the test")
	}
}
