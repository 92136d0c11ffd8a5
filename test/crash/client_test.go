package crash_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/journal"
	"unitask/internal/task"
	"unitask/test/harness"
)

const shortKills = 12

// TestClientKilled ends "unitask run" by SIGKILL, UNITASK_CLIENT_KILLS times at a random moment of it, and finishes
// the rest with "unitask tasks resume": one task and one submission for each request that was started, and its result
// is printed.
func TestClientKilled(t *testing.T) {
	kills := int(harness.Setting(t, "UNITASK_CLIENT_KILLS", shortKills))
	seed := harness.Setting(t, "UNITASK_CRASH_SEED", rand.Uint64())
	t.Logf("UNITASK_CLIENT_KILLS=%d UNITASK_CRASH_SEED=%d", kills, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	b := newClientFixture(t, func() time.Duration { return time.Duration(rand.IntN(60)) * time.Millisecond })
	whole := b.measure()
	for i := range kills {
		moment := time.After(time.Duration(rng.Int64N(int64(whole))))
		b.kill(fmt.Sprintf("word%d", i), func(exited <-chan struct{}) {
			select {
			case <-moment:
			case <-exited:
			}
		})
		if i%20 == 19 {
			b.resume()
		}
	}
	b.resume()
	for _, fault := range b.judge() {
		t.Error(fault)
	}
	b.report(t, whole)
}

// TestClientKilledCarelessly is the control: the entry is on disk only once the answer came, as with a
// client that sends first and writes then.
func TestClientKilledCarelessly(t *testing.T) {
	b := newClientFixture(t, nil)
	release := b.paid.Hold()
	b.kill("word", func(exited <-chan struct{}) {
		b.server.Until(30*time.Second, "the supplier has the submission", func() bool { return b.calls("word") == 1 })
	})
	for _, id := range b.entries() {
		if e, err := b.journal.Peek(id); err != nil || e.TaskID != "" {
			t.Fatalf("%+v, %v, want an entry without an answer", e, err)
		}
		if err := os.Remove(b.journal.Path(id)); err != nil {
			t.Fatal(err)
		}
	}
	release()
	b.resume()
	if faults := b.judge(); len(faults) == 0 {
		t.Error("a task whose result nobody gets was not found out")
	} else {
		t.Log(faults)
	}
}

// TestBatchKilled does the same with "run --each": the same command goes on until all lines are done, and each line
// has one task, one submission and a result that was printed.
func TestBatchKilled(t *testing.T) {
	const lines, killsEach = 20, 6
	batches := max(int(harness.Setting(t, "UNITASK_CLIENT_KILLS", shortKills))/shortKills, 1)
	seed := harness.Setting(t, "UNITASK_CRASH_SEED", rand.Uint64())
	rng := rand.New(rand.NewPCG(seed, 0))
	b := newClientFixture(t, func() time.Duration { return time.Duration(rand.IntN(60)) * time.Millisecond })
	toEnd := func(exited <-chan struct{}) { <-exited }
	began := time.Now()
	if !b.each("whole", lines, toEnd) {
		t.Fatal("a batch that nobody kills doesn't end")
	}
	whole := time.Since(began)
	for n := range batches {
		name, ended := fmt.Sprintf("batch%d", n), false
		for kill := 0; kill < killsEach && !ended; kill++ { // one that has ended would begin anew
			moment := time.After(time.Duration(rng.Int64N(int64(whole))))
			ended = b.each(name, lines, func(exited <-chan struct{}) {
				select {
				case <-moment:
				case <-exited:
				}
			})
		}
		if !ended && !b.each(name, lines, toEnd) {
			t.Errorf("%s doesn't end", name)
		}
	}
	for _, fault := range b.judge() {
		t.Error(fault)
	}
	left, err := b.journal.Batches()
	if err != nil || len(left) > 0 || len(b.entries()) > 0 {
		t.Errorf("the journal still holds %v and %v (%v)", left, b.entries(), err)
	}
	t.Logf("UNITASK_CRASH_SEED=%d: a batch of %d lines takes %s; %v; %d tasks", seed, lines, whole.Round(time.Millisecond), b.phases, len(b.started))
}

// each runs a batch of a name until the moment comes, and reports whether it is complete.
func (b *clientFixture) each(name string, lines int, moment func(exited <-chan struct{})) bool {
	b.t.Helper()
	words := make([]string, lines)
	for i := range words {
		words[i] = fmt.Sprintf("%s-%d", name, i)
		b.started[words[i]] = true
	}
	file := filepath.Join(b.server.Dir, name)
	if err := os.WriteFile(file, []byte(strings.Join(words, "\n")), 0o600); err != nil {
		b.t.Fatal(err)
	}
	for line := range strings.Lines(b.until(moment, "run", "text.chat", "@"+file, "--each")) {
		if cells := strings.Split(line, "\t"); len(cells) == 4 {
			b.printed[strings.TrimPrefix(strings.TrimSpace(cells[3]), harness.AnswerTo(""))] = cells[3]
		}
	}
	left, err := b.journal.Batches()
	if err != nil {
		b.t.Fatal(err)
	}
	missing := slices.ContainsFunc(words, func(word string) bool { return b.printed[word] == "" })
	if ended := len(left) == 0 && !missing; ended {
		b.phases["ended"]++
		return true
	}
	b.phases["killed"]++
	return false
}

// clientFixture is a server with a paid supplier, and clients that are killed.
type clientFixture struct {
	t       *testing.T
	server  *harness.Server
	paid    *harness.Supplier
	key     string
	journal *journal.Journal

	started map[string]bool   // words that were journaled, or whose result was printed
	printed map[string]string // by word
	phases  map[string]int
	resumed []string // the output of tasks resume
}

func newClientFixture(t *testing.T, after func() time.Duration) *clientFixture {
	t.Helper()
	b := &clientFixture{
		t: t, server: harness.NewServer(t), paid: harness.NewSupplier(t),
		started: map[string]bool{}, printed: map[string]string{}, phases: map[string]int{},
	}
	b.paid.After = after
	b.server.Config = "limits: {creates_per_minute: 0, reads_per_minute: 0, open_tasks: 0}\n" + b.paid.Config()
	b.server.Start()
	b.key = b.server.MustNewKey(task.Live)
	b.journal = journal.Open(b.state())
	return b
}

func (b *clientFixture) state() string { return filepath.Join(b.server.Dir, "state") }

func (b *clientFixture) command(ctx context.Context, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, harness.Binary(), args...)
	cmd.Env = append(b.server.Environ(), "UNITASK_BASE_URL="+b.server.Base, "UNITASK_API_KEY="+b.key, "UNITASK_STATE_DIR="+b.state())
	var out bytes.Buffer
	cmd.Stdout = &out
	return cmd, &out
}

// measure returns the duration of a run without a kill: the middle of five.
func (b *clientFixture) measure() time.Duration {
	b.t.Helper()
	var took []time.Duration
	for i := range 5 {
		began := time.Now()
		b.kill(fmt.Sprintf("whole%d", i), func(exited <-chan struct{}) { <-exited })
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[2]
}

// kill runs a client until the moment comes or it has exited, and notes its leftovers.
func (b *clientFixture) kill(word string, moment func(exited <-chan struct{})) {
	b.t.Helper()
	known := b.entries()
	if out := b.until(moment, "run", "text.chat", word); out != "" {
		b.printed[word], b.started[word] = out, true
	}
	b.note(word, slices.DeleteFunc(b.entries(), func(id string) bool { return slices.Contains(known, id) }))
}

// until runs a client until the moment comes, or it has exited, and returns its output.
func (b *clientFixture) until(moment func(exited <-chan struct{}), args ...string) string {
	b.t.Helper()
	cmd, out := b.command(b.t.Context(), args...)
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	moment(exited)
	_ = cmd.Process.Kill()
	<-exited
	return out.String()
}

// note counts the client's progress, by its leftovers.
func (b *clientFixture) note(word string, left []string) {
	b.t.Helper()
	phase := "before the entry"
	for _, id := range left {
		switch e, err := b.journal.Peek(id); {
		case err != nil: // cut off while it was written: no request was sent
			phase = "within the entry"
			continue
		case b.printed[word] != "":
			phase = "printed"
		case e.TaskID != "":
			phase = "answered"
		case b.calls(word) > 0:
			phase = "submitted"
		default:
			phase = "written"
		}
		b.started[word] = true
	}
	if len(left) == 0 && b.printed[word] != "" {
		phase = "ended"
	}
	b.phases[phase]++
}

func (b *clientFixture) entries() []string {
	b.t.Helper()
	ids, err := b.journal.List()
	if err != nil {
		b.t.Fatal(err)
	}
	return ids
}

// resume finishes the rest; it must succeed, and leave no entry.
func (b *clientFixture) resume() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	cmd, out := b.command(ctx, "tasks", "resume")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		b.t.Errorf("tasks resume: %v\n%s", err, stderr.String())
	}
	b.resumed = append(b.resumed, out.String())
	if left := b.entries(); len(left) > 0 {
		b.t.Errorf("the journal still holds %v\n%s", left, stderr.String())
	}
}

func (b *clientFixture) calls(word string) int {
	n := 0
	for _, s := range b.paid.Sent() {
		if s.Key == word {
			n++
		}
	}
	return n
}

// judge returns the violations: a request that was started and hasn't exactly one submission and a result that was
// printed, one that wasn't and has, and tasks beside those.
func (b *clientFixture) judge() []string {
	b.t.Helper()
	var faults []string
	all := strings.Join(b.resumed, "\n")
	words := map[string]bool{}
	for _, s := range b.paid.Sent() {
		words[s.Key] = true
	}
	for word := range b.started {
		words[word] = true
	}
	for word := range words {
		answer := harness.AnswerTo(word) + "\n"
		if got := b.calls(word); got != 1 {
			faults = append(faults, fmt.Sprintf("%s: %d submissions, want 1", word, got))
		}
		if b.printed[word] != answer && !strings.Contains("\n"+all, "\n"+answer) {
			faults = append(faults, fmt.Sprintf("%s: its result was printed by nobody", word))
		}
	}
	ids, err := b.server.List(b.t.Context(), b.key)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(ids) != len(words) {
		faults = append(faults, fmt.Sprintf("%d tasks for %d requests", len(ids), len(words)))
	}
	return faults
}

func (b *clientFixture) report(t *testing.T, whole time.Duration) {
	t.Helper()
	t.Logf("a run takes %s; killed: %v; %d tasks", whole.Round(time.Millisecond), b.phases, len(b.started))
	if len(b.started) < 5 {
		t.Error("the run put too little to the test")
	}
}
