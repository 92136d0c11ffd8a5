package sim_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// workerVariable is the environment variable with a worker's jobs, in JSON.
const workerVariable = "UNITASK_SIM_WORKER"

// job is one seed to run.
type job struct {
	Seed  uint64
	Tasks int
}

// report is a worker's line about a job: without an outcome, that it began.
type report struct {
	Job     job
	Outcome *outcome `json:",omitempty"`
}

// reportMark begins a report among a test's other lines.
const reportMark = "sim report "

// work runs a worker's jobs.
func work(t *testing.T) {
	var jobs []job
	if err := json.Unmarshal([]byte(os.Getenv(workerVariable)), &jobs); err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		say(t, report{Job: j})
		out := run(t, j.Seed, j.Tasks, plantedFault{})
		say(t, report{Job: j, Outcome: &out})
	}
}

func say(t *testing.T, r report) {
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%s\n", reportMark, raw)
}

// tally collects the workers' reports.
type tally struct {
	t *testing.T

	mu      sync.Mutex
	seeds   int
	figures figures
}

// batch is how many jobs a worker process gets at once.
const batch = 10

// runAll runs the jobs in worker processes, each with a CPU of its own, and starts no more after the
// limit or a failure.
func (a *tally) runAll(jobs []job, workers int, limit time.Duration) {
	a.t.Helper()
	start := time.Now()
	batches := make(chan []job)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for b := range batches {
				a.runBatch(b)
			}
		})
	}
	for len(jobs) > 0 && time.Since(start) < limit && !a.t.Failed() {
		n := min(batch, len(jobs))
		batches <- jobs[:n]
		jobs = jobs[n:]
	}
	close(batches)
	all.Wait()
}

func (a *tally) runBatch(jobs []job) {
	raw, err := json.Marshal(jobs)
	if err != nil {
		a.t.Error(err)
		return
	}
	worker := exec.CommandContext(a.t.Context(), os.Args[0], "-test.run=^TestSim$", "-test.timeout=30m")
	worker.Env = append(os.Environ(), workerVariable+"="+string(raw), "GOMAXPROCS=1", "GOGC=1600", "GODEBUG=asyncpreemptoff=1")
	out, err := worker.CombinedOutput()
	var other bytes.Buffer
	var last job
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		var r report
		if raw, ok := strings.CutPrefix(lines.Text(), reportMark); !ok || json.Unmarshal([]byte(raw), &r) != nil {
			other.WriteString(lines.Text() + "\n")
			continue
		}
		if last = r.Job; r.Outcome != nil {
			a.note(r)
		}
	}
	if err != nil {
		a.fail(last, fmt.Sprintf("%v\n%s", err, other.Bytes()))
	}
}

func (a *tally) note(r report) {
	a.mu.Lock()
	a.seeds++
	a.figures.add(r.Outcome.Figures)
	a.mu.Unlock()
	if len(r.Outcome.Problems) > 0 {
		a.fail(r.Job, strings.Join(r.Outcome.Problems, "\n"))
	}
}

// keptFile is the file of the seeds that failed once; each run begins with them.
var keptFile = filepath.Join("testdata", "seeds")

// fail reports a seed and keeps it.
func (a *tally) fail(j job, problems string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.t.Errorf("UNITASK_SIM_SEED=%d UNITASK_SIM_TASKS=%d\n%s", j.Seed, j.Tasks, problems)
	f, err := os.OpenFile(keptFile, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d %d\n", j.Seed, j.Tasks)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		a.t.Logf("the seed isn't kept: %v", err)
	}
}

// mustReadKept reads the kept seeds: lines of a seed and its number of tasks; # begins a comment.
func mustReadKept(t *testing.T) (jobs []job) {
	t.Helper()
	raw, err := os.ReadFile(keptFile)
	if err != nil {
		t.Fatal(err)
	}
	known := map[job]bool{}
	for line := range strings.Lines(string(raw)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var j job
		if _, err := fmt.Sscanf(line, "%d %d", &j.Seed, &j.Tasks); err != nil {
			t.Fatalf("%s: %q: %v", keptFile, line, err)
		}
		if !known[j] {
			known[j] = true
			jobs = append(jobs, j)
		}
	}
	return jobs
}
