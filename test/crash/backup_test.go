package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

const shortRestores = 4

// figures are the results of a run's restores.
type figures struct {
	restores, tasks, ended, lost int
	bytes                        int64
	slowest                      time.Duration // backup
}

// TestRestored backs the server up UNITASK_BACKUP_CYCLES times while callers create, poll and retry, kills it a
// moment later, and goes on with the restored folder alone. Tasks that were acknowledged before a backup began must
// meet all invariants of TestKilled; those between it and the kill never happened.
func TestRestored(t *testing.T) {
	harness.NeedsBolt(t)
	seed := harness.Setting(t, "UNITASK_CRASH_SEED", rand.Uint64())
	cycles := int(harness.Setting(t, "UNITASK_BACKUP_CYCLES", shortRestores))
	t.Logf("UNITASK_CRASH_SEED=%d UNITASK_BACKUP_CYCLES=%d", seed, cycles)
	b, paid := newObserver(t, seed)
	paid.Undone = b.undone.Load
	rng := rand.New(rand.NewPCG(seed, 1))
	var f figures
	for range cycles {
		b.cycle(rng, &f)
	}
	b.settle(time.Minute + time.Duration(cycles)*settleTime)
	o := b.observe()
	for _, v := range append(invariant.Check(b.all(o)), invariant.Check(certain(o, paid))...) {
		t.Error(v)
	}
	for _, surprise := range b.surprises {
		t.Error(surprise)
	}
	certainly := len(certain(o, paid).Tasks)
	t.Logf("%d backups under load, each restored: %d tasks; %d unfinished ones were ended, %d accepted after a backup are gone; "+
		"%d tasks are held to the suppliers' count too; the slowest backup took %s, the largest has %d bytes",
		f.restores, len(o.Tasks), f.ended, f.lost, certainly, f.slowest.Round(time.Millisecond), f.bytes)
	if f.ended == 0 || (f.lost == 0 && cycles > shortRestores) || certainly < len(o.Tasks)/4 {
		t.Error("the run put too little to the test")
	}
	if t.Failed() {
		t.Logf("the last server's output:\n%s", b.server.Warnings())
	}
}

// cycle is one life of the server, from one restore to the next.
func (b *observer) cycle(rng *rand.Rand, f *figures) {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	defer stop()
	left := b.unfinished()
	var all sync.WaitGroup
	for i := range callers {
		own := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
		all.Go(func() {
			for n := i; n < len(left) && n < 4*callers; n += callers {
				patience, cancel := context.WithTimeout(ctx, time.Second)
				b.pursue(patience, own, left[n])
				cancel()
			}
			b.call(ctx, own)
		})
	}
	rest(ctx, time.Duration(300+rng.IntN(900))*time.Millisecond)
	b.undone.Store(true)
	archive := filepath.Join(b.server.Dir, "backup.tar.gz")
	start := time.Now()
	var made struct {
		Bytes int64 `json:"database_bytes"`
	}
	mustRun(b.t, b.server, &made, "backup", archive, "--force", "--json", "--data-dir", b.server.Data())
	f.slowest, f.bytes = max(f.slowest, time.Since(start)), max(f.bytes, made.Bytes)
	rest(ctx, time.Duration(rng.IntN(300))*time.Millisecond)
	b.server.Kill()
	stop()
	all.Wait()
	b.restore(archive, f)
	b.undone.Store(false)
}

// restore puts the archive in the place of the data folder and starts the server on it.
func (b *observer) restore(archive string, f *figures) {
	b.t.Helper()
	if err := os.RemoveAll(b.server.Data()); err != nil {
		b.t.Fatal(err)
	}
	var out struct{ Tasks, Ended, Findings int }
	mustRun(b.t, b.server, &out, "restore", archive, "--json", "--data-dir", b.server.Data())
	var report struct{ Open int }
	mustRun(b.t, b.server, &report, "check", "--sha256", "--json", "--data-dir", b.server.Data())
	if report.Open != 0 || out.Findings != 0 {
		b.t.Errorf("after the restore %d tasks are open, which would be submitted unasked; %d findings", report.Open, out.Findings)
	}
	b.server.Start()
	f.restores++
	f.tasks, f.ended = out.Tasks, f.ended+out.Ended
	f.lost += b.gone()
}

// gone counts the tasks that were named since the backup began and aren't there any more.
func (b *observer) gone() int {
	b.t.Helper()
	n := 0
	for id := range b.doubtful {
		got, err := b.server.Operator(b.t.Context(), api.PathAdminTasks+"/"+id) // a list would show their callers failures
		if err != nil {
			b.t.Fatal(err)
		}
		if got.Status == http.StatusNotFound {
			delete(b.doubtful, id)
			n++
		}
	}
	return n
}

// unfinished returns the records that their callers have left.
func (b *observer) unfinished() (left []*record) {
	for _, r := range b.records {
		if !r.Done {
			left = append(left, r)
		}
	}
	return left
}

// all returns the observation without the parts that depend on the suppliers' count; a task that was named only
// between a backup and its kill is no stray.
func (b *observer) all(o invariant.Observation) invariant.Observation {
	var listed []string
	for _, id := range o.Listed {
		if !b.doubtful[id] {
			listed = append(listed, id)
		}
	}
	o.Listed = listed
	return o
}

// certain returns the tasks without a submission between a backup and its kill: of those the restored ledgers know
// everything.
func certain(o invariant.Observation, paid *harness.Chats) invariant.Observation {
	out := invariant.Observation{Submissions: paid.Sent(), Counted: map[string]bool{cheap: true, dear: true}}
	doubtful := paid.Doubtful()
	for _, seen := range o.Tasks {
		if !doubtful[seen.Key] {
			out.Tasks = append(out.Tasks, seen)
		}
	}
	return out
}

// mustRun runs a command of unitask store and decodes its output.
func mustRun(t *testing.T, s *harness.Server, into any, args ...string) {
	t.Helper()
	raw, err := run(t, s, args...)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("unitask store %s: %v", strings.Join(args, " "), err)
	}
}

func run(t *testing.T, s *harness.Server, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Binary(), append([]string{"store"}, args...)...)
	cmd.Env = append(s.Environ(), "UNITASK_BACKUP_KEY_FILE="+filepath.Join(s.Dir, "backup.key")) // the data folder is lost
	raw, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = errors.Join(err, errors.New(string(exit.Stderr)))
	}
	return raw, err
}

// TestFilesBeforeTheDatabase is the control of TestRestored: a copy that takes the files first lacks those
// of tasks that succeed meanwhile, and is found out.
func TestFilesBeforeTheDatabase(t *testing.T) {
	harness.NeedsBolt(t)
	b, _ := newObserver(t, 1)
	first := filepath.Join(b.server.Dir, "first")
	if err := os.CopyFS(first, os.DirFS(filepath.Join(b.server.Data(), "artifacts"))); err != nil {
		t.Fatal(err)
	}
	r := b.newRecord(task.Test, "late-picture", `{"capability":"image.generate","input":{"prompt":"late"}}`)
	b.pursue(t.Context(), rand.New(rand.NewPCG(1, 1)), r)
	archive := filepath.Join(b.server.Dir, "backup.tar")
	var made struct{ Files int }
	mustRun(t, b.server, &made, "backup", archive, "--json", "--data-dir", b.server.Data())
	if made.Files == 0 || r.Seen.Seen[len(r.Seen.Seen)-1] != task.Succeeded {
		t.Fatalf("the picture isn't in the backup: %d files, %v", made.Files, r.Seen.Seen)
	}
	b.server.Kill()
	b.restore(archive, &figures{})
	if err := os.RemoveAll(filepath.Join(b.server.Data(), "artifacts")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(first, filepath.Join(b.server.Data(), "artifacts")); err != nil {
		t.Fatal(err)
	}
	if err := b.server.Look(t.Context(), b.keys[task.Test], &r.Seen); err != nil {
		t.Fatal(err)
	}
	found := invariant.Check(invariant.Observation{Tasks: []invariant.Task{r.Seen}})
	if len(found) != 1 || found[0].Rule != invariant.Output {
		t.Errorf("the invariants found %v, want the picture's missing bytes", found)
	}
	b.server.Kill()
	if _, err := run(t, b.server, "check", "--data-dir", b.server.Data()); err == nil || !strings.Contains(err.Error(), "1 findings") {
		t.Errorf("store check: %v, want one finding", err)
	}
}

// TestResumed restores a task that was on its way to a supplier: with --resume it goes on as after a crash,
// without it only when its caller asks.
func TestResumed(t *testing.T) {
	harness.NeedsBolt(t)
	for _, resume := range []bool{false, true} {
		b, _ := newObserver(t, 2)
		r := b.newRecord(task.Test, "slow-video", `{"capability":"video.generate","input":{"prompt":"@slow:2s"}}`)
		if got := b.post(t.Context(), r); got.ID == "" {
			t.Fatal("no task was made")
		} else if !b.note(r, got) || got.State.Terminal() {
			t.Fatalf("it is %s", got.State)
		}
		archive := filepath.Join(b.server.Dir, "backup.tar")
		var made struct{ Files int }
		mustRun(t, b.server, &made, "backup", archive, "--json", "--data-dir", b.server.Data())
		b.server.Kill()
		if err := os.RemoveAll(b.server.Data()); err != nil {
			t.Fatal(err)
		}
		args := []string{"restore", archive, "--json", "--data-dir", b.server.Data()}
		if resume {
			args = append(args, "--resume")
		}
		var out struct{ Tasks, Ended int }
		mustRun(t, b.server, &out, args...)
		b.server.Start()
		got := b.get(t.Context(), r, r.Seen.Acknowledged[0])
		for resume && !got.State.Terminal() {
			rest(t.Context(), 50*time.Millisecond)
			got = b.get(t.Context(), r, got.ID)
		}
		if want := map[bool]task.State{false: task.Failed, true: task.Succeeded}[resume]; got.State != want || (out.Ended == 1) == resume {
			t.Errorf("resume %t: it is %s, %d were ended", resume, got.State, out.Ended)
		}
		b.pursue(t.Context(), rand.New(rand.NewPCG(1, 1)), r)
		if err := b.server.Look(t.Context(), b.keys[task.Test], &r.Seen); err != nil {
			t.Fatal(err)
		}
		if r.Seen.Final.State != task.Succeeded || len(r.Seen.Ledger.Attempts) != 1 {
			t.Errorf("resume %t: in the end it is %s after %d attempts", resume, r.Seen.Final.State, len(r.Seen.Ledger.Attempts))
		}
		for _, v := range invariant.Check(invariant.Observation{Tasks: []invariant.Task{r.Seen}}) {
			t.Error(v)
		}
	}
}
