// Package fulldisk fills the disk under the real server, that of the database and that of the artifacts
// apart, and the database to its own limit: new work is refused, accepted work ends or waits, reading
// goes on, and room is all it takes to recover.
package fulldisk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

const (
	patience = 30 * time.Second // with one answer, and with a result that waits for room
	endTime  = time.Minute      // in which accepted tasks end, however full the disk is
	mib      = 1 << 20
)

// setup is a server with a paid supplier and the tasks that were asked of it.
type setup struct {
	*harness.Server
	paid  *harness.Supplier
	tasks []*invariant.Task // chats, in the order they were accepted
	posts int
}

func newSetup(t *testing.T, limits string) *setup {
	t.Helper()
	b := &setup{Server: harness.NewServer(t), paid: harness.NewSupplier(t)}
	b.Config = "limits: {creates_per_minute: 0, reads_per_minute: 0, open_tasks: 0" + limits + "}\n" + b.paid.Config()
	b.Bootstrap = account.NewKeySecret(account.DefaultKeyPrefix, task.Live)
	return b
}

// mount puts a file system of that many bytes in the place of a folder.
func mount(t *testing.T, dir string, size int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("mode=0700,size=%d", size)); err != nil {
		t.Skipf("not run: no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// fill takes the room of a file system but for some bytes; the file it returns holds it.
func fill(t *testing.T, dir string, leave int64) string {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	f, err := os.OpenFile(ballast, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	size := max(0, int64(st.Bavail)*st.Bsize-leave)
	if leave == 0 {
		size += mib // past the end
	}
	if _, err := f.Write(make([]byte, size)); err != nil && (leave > 0 || !errors.Is(err, syscall.ENOSPC)) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return ballast
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// mustSend makes a request that has to be answered.
func (b *setup) mustSend(r harness.Request) harness.Reply {
	b.T.Helper()
	if r.Key == "" {
		r.Key = b.Bootstrap
	}
	ctx, cancel := context.WithTimeout(b.T.Context(), patience)
	defer cancel()
	got, err := b.Send(ctx, r)
	if err != nil {
		b.T.Fatalf("%s %s: %v\n%s", r.Method, r.Path, err, b.Warnings())
	}
	return got
}

func (b *setup) create(key, body, wait string) harness.Reply {
	b.T.Helper()
	return b.mustSend(harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Body: body,
		Header: map[string]string{api.HeaderIdempotencyKey: key, "Prefer": "wait=" + wait},
	})
}

// chat asks for one and doesn't wait for it; false: it was refused, as it should be without room.
func (b *setup) chat(bytes int) bool {
	b.T.Helper()
	key := fmt.Sprintf("chat-%06d", b.posts)
	b.posts++
	got := b.create(key, fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, key+" "+strings.Repeat("x", bytes)), "0")
	if got.Status >= http.StatusBadRequest {
		mustBeFull(b.T, got)
		return false
	}
	b.accepted(key, got)
	return true
}

// accepted takes a task into the account.
func (b *setup) accepted(key string, got harness.Reply) {
	b.T.Helper()
	b.tasks = append(b.tasks, &invariant.Task{
		Key: key, Posts: 1, Acknowledged: []string{mustTask(b.T, got).ID}, Answer: new(harness.AnswerTo(key)),
	})
}

// mustRefuse asks for one more chat that must find no room.
func (b *setup) mustRefuse(when string) {
	b.T.Helper()
	if b.chat(30_000) {
		b.T.Errorf("%s: a task was accepted", when)
	}
}

func mustTask(t *testing.T, got harness.Reply) (named api.Task) {
	t.Helper()
	if err := json.Unmarshal(got.Body, &named); err != nil || named.ID == "" {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	return named
}

// mustBeFull checks a refusal for want of room, with its advice.
func mustBeFull(t *testing.T, got harness.Reply) {
	t.Helper()
	var refused api.ErrorResponse
	err := json.Unmarshal(got.Body, &refused)
	if err != nil || got.Status != http.StatusServiceUnavailable || refused.Error.Code != fault.CapacityExhausted ||
		got.Header.Get("Retry-After") == "" || refused.TaskID != "" {
		t.Errorf("got %d, Retry-After %q, %s; want 503 CAPACITY_EXHAUSTED with advice and without a task",
			got.Status, got.Header.Get("Retry-After"), got.Body)
	}
}

// read reads in every way.
func (b *setup) read(when string) {
	b.T.Helper()
	for _, path := range []string{
		api.PathTasks + "/" + b.tasks[0].Acknowledged[0], api.PathTasks, api.PathCapabilities, api.PathHealth,
	} {
		if got := b.mustSend(harness.Request{Method: http.MethodGet, Path: path}); got.Status != http.StatusOK {
			b.T.Errorf("%s: %s: %d %s", when, path, got.Status, got.Body)
		}
	}
}

// states counts the chats by their state.
func (b *setup) states() map[task.State]int {
	b.T.Helper()
	n := map[task.State]int{}
	for _, seen := range b.tasks {
		got := b.mustSend(harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + seen.Acknowledged[0]})
		n[mustTask(b.T, got).State]++
	}
	return n
}

func (b *setup) awaitAll(when string) {
	b.T.Helper()
	b.Until(endTime, "every accepted task has succeeded "+when, func() bool { return b.states()[task.Succeeded] == len(b.tasks) })
}

// close holds the service to its promises, ends it and checks the data folder.
func (b *setup) close() {
	b.T.Helper()
	o := invariant.Observation{Submissions: b.paid.Sent(), Counted: map[string]bool{harness.SupplierName: true}}
	for _, seen := range b.tasks {
		if err := b.Look(b.T.Context(), b.Bootstrap, seen); err != nil {
			b.T.Error(err)
		}
		o.Tasks = append(o.Tasks, *seen)
	}
	for _, v := range invariant.Check(o) {
		b.T.Error(v)
	}
	if len(o.Submissions) != len(b.tasks) {
		b.T.Errorf("%d submissions for %d tasks", len(o.Submissions), len(b.tasks))
	}
	b.Stop()
	if err := harness.CheckData(b.T.Context(), b.Data()); err != nil {
		b.T.Error(err)
	}
}
