package fleet_test

import (
	"bytes"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/fault"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestRestored: a fleet that is brought back from a dump of its database, in the order of docs/scaling.md, has its
// tasks and files, and pays again for no work that went on after the dump.
func TestRestored(t *testing.T) {
	bucket := s3test.Start(t)
	f := newFleetWith(t, 2, lease, append(s3test.Environ(), placeIn(bucket))...)
	live := f.key
	f.key = f.nodes[0].MustNewKey(task.Test)
	_, picture := f.send(0, harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Body: `{"capability":"image.generate","input":{"prompt":"a dump"}}`,
		Header: map[string]string{api.HeaderIdempotencyKey: "a picture", api.HeaderPrefer: "wait=30"},
	})
	if picture.State != task.Succeeded {
		t.Fatalf("the picture: %+v", picture)
	}
	test := f.key
	f.key = live
	release := f.paid.Hold()
	defer release()
	_, open := f.create(0, "open", "0")
	f.until(5*time.Second, "the supplier has the submission", func() bool { return len(f.paid.Sent()) == 1 })
	dump, err := f.database.Dump()
	if err != nil {
		t.Fatal(err)
	}
	_, later := f.create(1, "later", "0")
	release()
	f.until(10*time.Second, "the task goes on after the dump", func() bool { return f.get(1, open.ID).State == task.Succeeded })
	for _, s := range f.nodes {
		s.Stop()
	}

	restored := pgtest.Start(t, pgtest.Config{Sync: true})
	if err := restored.Load(t.Context(), dump); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(4 * lease); ; time.Sleep(100 * time.Millisecond) {
		out, err := exec.CommandContext(t.Context(), harness.Binary(), "store", "end-unfinished", restored.URL()).CombinedOutput()
		if err == nil {
			if !bytes.Contains(out, []byte("unfinished and ended: 1;")) {
				t.Errorf("store end-unfinished: %s", out)
			}
			break
		}
		if !bytes.Contains(out, []byte("the database is in use")) || time.Now().After(end) { // sessions are part of the dump
			t.Fatalf("store end-unfinished: %v: %s", err, out)
		}
	}
	for _, s := range f.nodes {
		s.Env = append(s.Env, "UNITASK_STORE="+restored.URL())
		s.Start()
	}

	got := f.get(1, open.ID)
	if got.State != task.Failed || got.Error == nil || got.Error.Code != fault.ProviderTimeout || !got.Error.Retryable {
		t.Errorf("the task that was open in the dump: %+v", got)
	}
	if reply, _ := f.send(0, harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + later.ID}); reply.Status != http.StatusNotFound {
		t.Errorf("a task after the dump: %d %s", reply.Status, reply.Body)
	}
	if sent := len(f.paid.Sent()); sent != 2 {
		t.Errorf("%d submissions, want 2: the work went on before the restore", sent)
	}
	f.until(10*time.Second, "its caller, who has seen the failure, gets the work done by a retry", func() bool {
		_, again := f.create(0, "open", "30")
		return again.ID == open.ID && again.State == task.Succeeded
	})
	if sent := len(f.paid.Sent()); sent != 3 {
		t.Errorf("%d submissions, want 3: the caller asked for the second", sent)
	}
	f.key = test
	image := f.get(1, picture.ID).Output.Images[0]
	path := strings.TrimPrefix(image.URL, f.nodes[1].Base)
	if file, err := f.nodes[0].Send(t.Context(), harness.Request{Method: http.MethodGet, Path: path}); err != nil || file.Status != http.StatusOK || int64(len(file.Body)) != image.Bytes {
		t.Errorf("the picture: %d, %d bytes of %d, %v", file.Status, len(file.Body), image.Bytes, err)
	}
}
