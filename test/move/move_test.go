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
	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/store"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
	"unitask/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// The short form. The variables UNITASK_COPY_TASKS and UNITASK_COPY_KILLS set other numbers.
const (
	shortTasks = 40_000 // more than a run of idempotency keys has
	shortKills = 3
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
	last, runs := start, 0
	killed, out := true, []byte(nil)
	for ; killed; runs++ {
		last = time.Now()
		if killed, out = m.run(from, to, m.killAt(runs, to, tasks)); killed {
			m.refused(to)
		}
	}
	var said struct {
		Records []record `json:"records"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		m.Fatalf("the copy said %s: %v", out, err)
	}
	m.Logf("copied to %.20s… in %s after %d kills, of which the last run took %s",
		to, time.Since(start).Round(time.Millisecond), runs-1, time.Since(last).Round(time.Millisecond))
	all := map[string]record{}
	for _, r := range said.Records {
		all[r.Kind] = r
	}
	return all
}

// killAt returns what says that the run with this number is to be killed, by its notes and its target. The runs before
// the last kill are killed after some of their commits, that one once all tasks are there, and the next isn't killed.
func (m *moved) killAt(n int, to string, tasks int) func(notes string) bool {
	if n >= m.kills {
		return func(string) bool { return false }
	}
	if n > 0 && n == m.kills-1 {
		return func(notes string) bool { return strings.Contains(notes, string(store.PhaseFinish)) }
	}
	steps := tasks / groupTasks
	if !strings.Contains(to, "://") {
		steps /= 2 // of the file's growth
	}
	at, left := m.progress(to), 2+rand.N(max(1, steps/m.kills-1)) // the first step marks the target
	return func(string) bool {
		if now := m.progress(to); now != at {
			at, left = now, left-1
		}
		return left <= 0
	}
}

// progress is another one after some commits of a copy into the place, "" before it begins.
func (m *moved) progress(place string) string {
	if !strings.Contains(place, "://") {
		info, err := os.Stat(filepath.Join(place, databaseName))
		if err != nil {
			return ""
		}
		return fmt.Sprintf("%d bytes", info.Size())
	}
	conn, err := pgx.Connect(m.Context(), place)
	if err != nil {
		m.Fatal(err)
	}
	defer func() { _ = conn.Close(m.Context()) }() // only read
	var last string
	if conn.QueryRow(m.Context(), "SELECT mark::json->>'last' FROM unitask.copying").Scan(&last) != nil {
		return ""
	}
	return "up to " + last
}

// run runs the copy until it ends or is to be killed. It returns what it said if it ended by itself.
func (m *moved) run(from, to string, kill func(notes string) bool) (killed bool, out []byte) {
	m.Helper()
	var said bytes.Buffer
	notes, err := os.Create(filepath.Join(m.TempDir(), "notes"))
	if err != nil {
		m.Fatal(err)
	}
	defer func() { _ = notes.Close() }() // the program wrote it
	read := func() string {
		text, err := os.ReadFile(notes.Name())
		if err != nil {
			m.Fatal(err)
		}
		return string(text)
	}
	cmd := exec.CommandContext(m.Context(), harness.Binary(), "store", "copy", "--from", from, "--to", to, "--json")
	cmd.Env, cmd.Stdout, cmd.Stderr = m.first.Environ(), &said, notes
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for poll := time.NewTicker(10 * time.Millisecond); len(ended) == 0; <-poll.C {
		if kill(read()) {
			_ = cmd.Process.Kill() // or it has ended
			killed = true
			break
		}
	}
	err = <-ended
	if strings.Contains(read(), "goes on with the copy that was cut off, after task_") {
		m.resumed++
	}
	if killed && cmd.ProcessState.ExitCode() < 0 {
		return true, nil
	}
	if err != nil {
		m.Fatalf("the copy: %v\n%s", err, read())
	}
	return false, said.Bytes()
}

// refused opens a half copy for work, which must be refused in words.
func (m *moved) refused(place string) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), 2*time.Minute)
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
