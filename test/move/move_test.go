// Package move moves whole stores between a data folder and PostgreSQL, with the real program: it is killed on the way,
// goes on, and real servers work on what it leaves.
package move_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
	"unitask/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// The short form. The variables UNITASK_COPY_TASKS and UNITASK_COPY_KILLS set other numbers.
const (
	shortTasks = 40_000 // more than a run of idempotency keys has
	shortKills = 3
	// perTask is about how long a copy takes for a task: kills come within it.
	perTask = 20 * time.Microsecond
)

// databaseName is that of the file in a data folder.
const databaseName = "unitask.db"

// moved is one run of the test.
type moved struct {
	*testing.T
	database *pgtest.Server
	paid     *harness.Supplier
	first    *harness.Server // on the data folder that all comes from
	key      string
	made     api.Task // has succeeded
	open     api.Task // its submission is of unknown outcome
	kills    int
	resumed  int // runs that went on after a kill
}

// TestMove copies a data folder with many tasks into PostgreSQL and from there into another folder, with kills in both
// copies: both targets have the same records as the source, and servers go on with each.
func TestMove(t *testing.T) {
	harness.NeedsBolt(t)
	m := &moved{
		T: t, database: pgtest.Start(t, pgtest.Config{Sync: true}), paid: harness.NewSupplier(t), first: harness.NewServer(t),
		kills: int(harness.Setting(t, "UNITASK_COPY_KILLS", shortKills)),
	}
	tasks := int(harness.Setting(t, "UNITASK_COPY_TASKS", shortTasks))
	m.serveFirst()
	grown, back := t.TempDir(), t.TempDir()
	start := time.Now()
	mustGrow(t, m.first.Data(), grown, tasks)
	t.Logf("made %d tasks in %s", tasks, time.Since(start).Round(time.Millisecond))

	before := m.sum(grown)
	there := m.copy(grown, m.database.URL(), tasks)
	if m.sum(grown) != before {
		t.Error("the source was changed")
	}
	if got := there["ended tasks"].Count; got < int64(tasks) {
		t.Errorf("%d ended tasks, want %d and some", got, tasks)
	}
	if there["open tasks"].Count != 1 || there["keys"].Count != 1 || there["usage"].Count == 0 || there["counters"].Count == 0 {
		t.Errorf("the copy has %v", there)
	}
	again := m.copy(m.database.URL(), back, tasks)
	if diff := cmp.Diff(there, again); diff != "" {
		t.Errorf("the way back (-there +back):\n%s", diff)
	}
	if m.kills > 0 && m.resumed == 0 {
		t.Error("no run went on after a kill: the run put too little to the test")
	}
	if err := harness.CheckData(t.Context(), back); err != nil {
		t.Errorf("the folder at the end: %v", err)
	}
	m.serve("in PostgreSQL", t.TempDir(), "UNITASK_STORE="+m.database.URL())
	m.serve("in the other folder", back)
}

// serveFirst has a server do some work and be killed in the middle of a task.
func (m *moved) serveFirst() {
	m.Helper()
	m.first.Config = m.paid.Config()
	m.first.Start()
	admin, err := client.NewAdmin(m.first.Data())
	if err != nil {
		m.Fatal(err)
	}
	key, err := admin.CreateKey(m.Context(), api.KeyCreate{
		Name: "ten dollars", Mode: task.Live, Limits: api.Limits{Budget: (10 * task.USD).String(), BudgetPeriod: string(account.Month)},
	})
	if err != nil {
		m.Fatal(err)
	}
	m.key = key.Secret
	var reply harness.Reply
	if reply, m.made = m.create(m.first, "done"); m.made.State != task.Succeeded {
		m.Fatalf("created: %d %s", reply.Status, reply.Body)
	}
	release := m.paid.Hold()
	defer release()
	_, m.open = m.createAfter(m.first, "open", "0")
	m.first.Until(10*time.Second, "the supplier has the submission", func() bool { return len(m.paid.Sent()) == 2 })
	m.first.Kill()
}

func (m *moved) create(s *harness.Server, word string) (harness.Reply, api.Task) {
	m.Helper()
	return m.createAfter(s, word, "30")
}

func (m *moved) createAfter(s *harness.Server, word, wait string) (harness.Reply, api.Task) {
	m.Helper()
	reply, err := s.Send(m.Context(), harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: m.key, Body: fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":"%s"}}`, word),
		Header: map[string]string{api.HeaderIdempotencyKey: "key of " + word, api.HeaderPrefer: "wait=" + wait},
	})
	if err != nil {
		m.Fatal(err)
	}
	var got api.Task
	_ = json.Unmarshal(reply.Body, &got) // an error's body is told by its status
	return reply, got
}

// record is what the program says about a kind of records.
type record struct {
	Kind   string `json:"kind"`
	Count  int64  `json:"count"`
	Digest string `json:"digest"`
}

// copy runs the program, kills it some times and lets it finish. No server may start on the target meanwhile.
func (m *moved) copy(from, to string, tasks int) map[string]record {
	m.Helper()
	start := time.Now()
	for range m.kills {
		if ended, _ := m.run(from, to, rand.N(time.Duration(tasks)*perTask)); ended {
			m.Fatal("the copy ended before its kill, and the next one would find its target occupied: raise UNITASK_COPY_TASKS")
		}
		m.refused(to)
	}
	last := time.Now()
	_, out := m.run(from, to, -1)
	var said struct {
		Records []record `json:"records"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		m.Fatalf("the copy said %s: %v", out, err)
	}
	m.Logf("copied to %.20s… in %s, of which the last run took %s",
		to, time.Since(start).Round(time.Millisecond), time.Since(last).Round(time.Millisecond))
	all := map[string]record{}
	for _, r := range said.Records {
		all[r.Kind] = r
	}
	return all
}

// run runs the copy until it ends, or kills it a while after it has marked its target, unless that is negative.
func (m *moved) run(from, to string, kill time.Duration) (ended bool, out []byte) {
	m.Helper()
	var said, notes bytes.Buffer
	cmd := exec.CommandContext(m.Context(), harness.Binary(), "store", "copy", "--from", from, "--to", to, "--json")
	cmd.Env, cmd.Stdout, cmd.Stderr = m.first.Environ(), &said, &notes
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	if kill >= 0 {
		m.first.Until(30*time.Second, "the target is marked", func() bool { return m.marked(to) })
		time.AfterFunc(kill, func() { _ = cmd.Process.Kill() }) // or it has ended
	}
	err := cmd.Wait()
	if strings.Contains(notes.String(), "goes on with the copy that was cut off, after task_") {
		m.resumed++
	}
	if killed := cmd.ProcessState.ExitCode() < 0; kill >= 0 && killed {
		return false, nil
	}
	if err != nil {
		m.Fatalf("the copy: %v\n%s", err, &notes)
	}
	return true, said.Bytes()
}

// marked reports whether a copy into the place has begun.
func (m *moved) marked(place string) bool {
	if strings.Contains(place, "://") {
		return m.database.Exec(m.Context(), "SELECT FROM unitask.copying") == nil
	}
	_, err := os.Stat(filepath.Join(place, databaseName))
	return err == nil
}

// refused opens a half copy for work, which must be refused in words.
func (m *moved) refused(place string) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Binary(), "serve", "--listen", harness.FreeAddress(m.T), "--data-dir", place)
	cmd.Env = m.first.Environ()
	if strings.Contains(place, "://") {
		cmd.Args[len(cmd.Args)-1] = m.first.Dir
		cmd.Env = append(cmd.Env, "UNITASK_STORE="+place)
	}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "into this store isn't finished") || !strings.Contains(string(out), "hint: unitask store copy --from") {
		m.Errorf("a half copy was opened: %v\n%s", err, out)
	}
}

// serve starts a server on a copy: it replays what is done, and ends what is open as after a crash.
func (m *moved) serve(what, dir string, env ...string) {
	m.Helper()
	s := harness.NewServer(m.T)
	s.Config, s.Env = m.paid.Config(), env
	if err := os.Rename(dir, s.Data()); err != nil {
		m.Fatal(err)
	}
	s.Start()
	sent := len(m.paid.Sent())
	reply, got := m.create(s, "done")
	if got.ID != m.made.ID || reply.Header.Get("Idempotent-Replayed") != "true" || len(m.paid.Sent()) != sent {
		m.Errorf("%s: %d %s, want a replay of %s", what, reply.Status, reply.Body, m.made.ID)
	}
	path := api.PathTasks + "/" + m.open.ID
	s.Until(30*time.Second, "the open task ends", func() bool {
		reply, err := s.Send(m.Context(), harness.Request{Method: http.MethodGet, Path: path, Key: m.key})
		return err == nil && json.Unmarshal(reply.Body, &got) == nil && got.State.Terminal()
	})
	if got.State != task.Failed || got.Error == nil || !got.Error.Retryable {
		m.Errorf("%s: the submission of unknown outcome: %+v", what, got)
	}
	if reply, got = m.create(s, "open"); got.ID != m.open.ID || got.State != task.Succeeded {
		m.Errorf("%s: its caller's retry: %d %s", what, reply.Status, reply.Body)
	}
	var page api.TaskList
	reply, err := s.Send(m.Context(), harness.Request{Method: http.MethodGet, Path: api.PathTasks + "?limit=100", Key: m.key})
	if err != nil || json.Unmarshal(reply.Body, &page) != nil || len(page.Data) != 100 || page.NextCursor == nil {
		m.Errorf("%s: a page of %d tasks, %v", what, len(page.Data), err)
	}
	s.Stop()
}

// sum returns the SHA-256 of a folder's database.
func (m *moved) sum(dir string) [sha256.Size]byte {
	m.Helper()
	f, err := os.Open(filepath.Join(dir, databaseName))
	if err != nil {
		m.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		m.Fatal(err)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}
