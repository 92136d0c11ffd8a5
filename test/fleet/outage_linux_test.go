package fleet_test

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestPausedNode: a node that is stopped past its lease and goes on writes nothing of the work that another has.
func TestPausedNode(t *testing.T) {
	f := newFleet(t, 2)
	release := f.paid.Hold()
	defer release()
	_, made := f.create(0, "word", "0")
	f.until(5*time.Second, "the supplier has the submission", func() bool { return len(f.paid.Sent()) == 1 })
	f.signal(0, syscall.SIGSTOP)
	f.until(30*time.Second, "the other node takes the task over", func() bool { return f.get(1, made.ID).State == task.Failed })
	before := f.get(1, made.ID)
	f.signal(0, syscall.SIGCONT)
	release() // its supplier's answer is there, too late
	time.Sleep(2 * time.Second)
	for node := range f.nodes {
		if got := f.get(node, made.ID); got.State != task.Failed || !got.UpdatedAt.Equal(before.UpdatedAt.Time) {
			t.Errorf("node %d: %s, changed at %s, want failed at %s", node, got.State, got.UpdatedAt, before.UpdatedAt)
		}
	}
	if reply, again := f.create(0, "after", "30"); again.State != task.Succeeded {
		t.Errorf("the node's work after its pause: %d %s", reply.Status, reply.Body)
	}
	if sent := len(f.paid.Sent()); sent != 2 {
		t.Errorf("%d submissions of 2 tasks", sent)
	}
}

// TestStoppedNode: the work that a stopping node leaves is taken up by another before its lease would be over.
func TestStoppedNode(t *testing.T) {
	f := newFleet(t, 2)
	_, queued := f.send(0, harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: f.nodes[0].MustNewKey(task.Test),
		Body:   `{"capability":"video.generate","input":{"prompt":"a sea"},"parameters":{"duration_seconds":2}}`,
		Header: map[string]string{api.HeaderIdempotencyKey: "a video of the sea"},
	})
	key := f.nodes[1].MustNewKey(task.Test)
	get := harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + queued.ID, Key: key}
	f.until(10*time.Second, "the video is at work", func() bool { _, got := f.send(0, get); return got.State == task.Running })
	f.nodes[0].Stop()
	f.until(20*time.Second, "the video is done", func() bool { _, got := f.send(1, get); return got.State.Terminal() })
	if reply, got := f.send(1, get); got.State != task.Succeeded {
		t.Errorf("the video: %s", reply.Body)
	}
}

// TestDatabaseRestarts: while the database is away creations are refused in words that ask for a retry, and a result
// in hand is written when it is back within the lease.
func TestDatabaseRestarts(t *testing.T) {
	f := newFleetWith(t, 2, 30*time.Second)
	release := f.paid.Hold()
	defer release()
	_, made := f.create(0, "word", "0")
	f.until(5*time.Second, "the supplier has the submission", func() bool { return len(f.paid.Sent()) == 1 })
	if err := f.database.Crash(); err != nil {
		t.Fatal(err)
	}
	release()
	reply, _ := f.create(1, "refused", "5")
	if reply.Status != http.StatusServiceUnavailable || reply.Header.Get("Retry-After") == "" {
		t.Errorf("a creation without a database: %d %s", reply.Status, reply.Body)
	}
	if err := f.database.Restart(); err != nil {
		t.Fatal(err)
	}
	f.until(15*time.Second, "the result in hand is written", func() bool { return f.get(1, made.ID).State == task.Succeeded })
	if _, again := f.create(1, "refused", "30"); again.State != task.Succeeded {
		t.Errorf("the refused request again: %s", again.State)
	}
	if sent := len(f.paid.Sent()); sent != 2 {
		t.Errorf("%d submissions of 2 tasks", sent)
	}
}

func (f *fleet) signal(node int, s syscall.Signal) {
	f.Helper()
	if err := syscall.Kill(f.nodes[node].PID(), s); err != nil {
		f.Fatal(fmt.Errorf("node %d: %w", node, err))
	}
}
