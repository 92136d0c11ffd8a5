package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// outcome is the result of a run.
type outcome struct {
	Problems []string
	Broken   map[invariant.Rule]int
	Trace    uint64
	Figures  figures
}

// figures count the events of runs.
type figures struct {
	Tasks, Posts, Reopenings, Attempts, Unknown, Submissions, Paid int
	Accepted, Succeeded, Failed, Canceled, Files                   int
	Reviews, Flagged                                               int
	Restarts, Crashes, NodeCrashes, Freezes                        int
	Virtual                                                        time.Duration
}

// run lives one life in a bubble. No goroutine may be left: the bubble checks that.
func run(t *testing.T, seed uint64, tasks int, p plantedFault) (out outcome) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, seed)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := newWorld(t, seed, tasks, p)
		w.live()
		o := w.observe()
		broken := slices.Concat(invariant.Check(o), w.checkReviews(o), w.checkDeliveries())
		out = judge(o, broken)
		out.Figures.Virtual = time.Since(start)
		for _, b := range w.suffered {
			*out.Figures.of(b)++
		}
		w.expectFree()
		w.end()
		out.Problems = append(out.Problems, w.surprises...)
		if len(out.Problems) > 0 {
			out.Problems = append(out.Problems, fmt.Sprintf("shape: %+v", w.shape), detail(o, broken))
		}
	})
	return out
}

func judge(o invariant.Observation, broken []invariant.Violation) outcome {
	out := outcome{Broken: map[invariant.Rule]int{}, Trace: trace(o)}
	for _, v := range broken {
		out.Problems = append(out.Problems, v.String())
		out.Broken[v.Rule]++
	}
	f := &out.Figures
	f.Tasks, f.Submissions = len(o.Tasks), len(o.Submissions)
	for _, s := range o.Submissions {
		if s.Charge > 0 {
			f.Paid++
		}
	}
	for _, t := range o.Tasks {
		f.count(t)
	}
	return out
}

func (f *figures) count(t invariant.Task) {
	f.Posts += t.Posts
	f.Reopenings += t.Ledger.Reopenings
	f.Attempts += len(t.Ledger.Attempts)
	f.Files += len(t.Files)
	if t.Found {
		f.Accepted++
	}
	for _, a := range t.Ledger.Attempts {
		switch {
		case a.Moderation:
			f.Reviews++
			if strings.Contains(a.Reason, "flagged") {
				f.Flagged++
			}
		case a.State == task.UnknownOutcome:
			f.Unknown++
		}
	}
	switch t.Final.State {
	case task.Succeeded:
		f.Succeeded++
	case task.Failed:
		f.Failed++
	case task.Canceled:
		f.Canceled++
	}
}

// of returns the count of a kind of incident.
func (f *figures) of(k incidentKind) *int {
	return map[incidentKind]*int{restart: &f.Restarts, crash: &f.Crashes, nodeCrash: &f.NodeCrashes, freeze: &f.Freezes}[k]
}

func (f *figures) add(o figures) {
	f.Tasks += o.Tasks
	f.Posts += o.Posts
	f.Reopenings += o.Reopenings
	f.Attempts += o.Attempts
	f.Unknown += o.Unknown
	f.Submissions += o.Submissions
	f.Paid += o.Paid
	f.Accepted += o.Accepted
	f.Succeeded += o.Succeeded
	f.Failed += o.Failed
	f.Canceled += o.Canceled
	f.Files += o.Files
	f.Reviews += o.Reviews
	f.Flagged += o.Flagged
	for _, k := range []incidentKind{restart, crash, nodeCrash, freeze} {
		*f.of(k) += *o.of(k)
	}
	f.Virtual += o.Virtual
}

// detail prints the first tasks that broke a rule, with their complete observation.
func detail(o invariant.Observation, broken []invariant.Violation) string {
	const most = 3
	var out strings.Builder
	seen := map[string]bool{}
	for _, v := range broken {
		for _, t := range o.Tasks {
			if t.Key != v.Key || seen[t.Key] || len(seen) == most {
				continue
			}
			seen[t.Key] = true
			fmt.Fprintf(&out, "%s: %d posts, %d acknowledged, seen %v\n  ledger %+v\n", t.Key, t.Posts, len(t.Acknowledged), t.Seen, t.Ledger)
			for _, s := range o.Submissions {
				if s.Key == t.Key {
					fmt.Fprintf(&out, "  sent %+v\n", s)
				}
			}
		}
	}
	return out.String()
}
