// Package sim runs whole lives of the service in virtual time: the real gateway, gate, routing and
// engine, suppliers of every class that misbehave, slow and full disks, restarts, crashes, and callers
// that retry, hang up, cancel and poll. A seed decides every event, and in the end the invariants of
// the crash test are checked.
//
// UNITASK_SIM_SEED=n repeats one seed. A seed's run is the same each time but for the scheduler's
// choices: which of several ready cases a select takes. Each worker process has one CPU for that reason.
package sim_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

// The short form.
const (
	shortSeeds = 50
	raceSeeds  = 4
	shortTasks = 150
)

// TestSim runs UNITASK_SIM_SEEDS seeds from UNITASK_SIM_FIRST on, of UNITASK_SIM_TASKS tasks each, after
// the seeds that failed once. UNITASK_SIM_MINUTES begins no more after so long.
func TestSim(t *testing.T) {
	if os.Getenv(workerVariable) != "" {
		work(t)
		return
	}
	seeds := uint64(shortSeeds)
	if raceEnabled {
		seeds = raceSeeds
	}
	tasks := int(harness.Setting(t, "UNITASK_SIM_TASKS", shortTasks))
	var jobs []job
	if only := harness.Setting(t, "UNITASK_SIM_SEED", 0); only != 0 {
		jobs = []job{{Seed: only, Tasks: tasks}}
		t.Logf("seed %d: %+v", only, choices(only).shape())
	} else {
		jobs = mustReadKept(t)
		first := harness.Setting(t, "UNITASK_SIM_FIRST", 1)
		for seed := first; seed < first+harness.Setting(t, "UNITASK_SIM_SEEDS", seeds); seed++ {
			jobs = append(jobs, job{Seed: seed, Tasks: tasks})
		}
	}
	limit := time.Duration(harness.Setting(t, "UNITASK_SIM_MINUTES", 24*60)) * time.Minute
	start := time.Now()
	all := &tally{t: t}
	all.runAll(jobs, int(harness.Setting(t, "UNITASK_SIM_WORKERS", uint64(runtime.NumCPU()))), limit)
	took := time.Since(start)
	t.Logf("%d seeds in %s, %.0f tasks/s: %+v", all.seeds, took.Round(time.Second), float64(all.figures.Tasks)/took.Seconds(), all.figures)
	if f := all.figures; f.Unknown == 0 || f.Reviews == 0 || f.Flagged == 0 || f.Reopenings == 0 || f.Files == 0 || f.Canceled == 0 || f.Succeeded < f.Tasks/2 {
		if len(jobs) > 1 {
			t.Error("the runs put too little to the test")
		}
	}
}

// TestRepeats runs seeds again: most must leave the same trace, times included.
func TestRepeats(t *testing.T) {
	const seeds, tasks = 6, 60
	same := 0
	for seed := range uint64(seeds) {
		first, again := run(t, seed+1, tasks, plantedFault{}), run(t, seed+1, tasks, plantedFault{})
		if first.Trace == again.Trace {
			same++
		}
	}
	t.Logf("%d of %d seeds left the same trace twice", same, seeds)
	if same < seeds/2 {
		t.Error("too few")
	}
}

// TestControls plants faults into the service. Each must be named by the invariants, in one of a few
// seeds; else a run without violations is no proof.
func TestControls(t *testing.T) {
	const tries, tasks = 30, 150
	for name, tt := range map[string]struct {
		planted plantedFault
		rule    invariant.Rule
	}{
		"an unknown outcome is submitted anew where no key is honoured": {plantedFault{resubmits: true}, invariant.Resubmitted},
		"an intent is written after its submission":                     {plantedFault{late: true}, invariant.Resubmitted},
		"leases aren't kept, and a stale worker's writes are applied":   {plantedFault{unfenced: true}, invariant.Ledger},
		"a crash takes back what was acknowledged":                      {plantedFault{forgets: true}, invariant.Lost},
		"a failure is taken for shown that wasn't":                      {plantedFault{presumes: true}, invariant.Resubmitted},
		"what could not be reviewed is taken for clean":                 {plantedFault{trusts: true}, unseen},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(tries) {
				if n := run(t, seed+1, tasks, tt.planted).Broken[tt.rule]; n > 0 {
					t.Logf("seed %d: %d violations of %q", seed+1, n, tt.rule)
					return
				}
			}
			t.Errorf("%d seeds show no violation of %q", tries, tt.rule)
		})
	}
}
