package fleet_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestRestoredDump: a dump of the database that was taken while a node worked, restored into an empty one, makes with
// the bucket a service that has the tasks, the keys and the files of that moment, and forgets those after it.
func TestRestoredDump(t *testing.T) {
	bucket := s3test.Start(t)
	env := append(s3test.Environ(), placeIn(bucket))
	f := newFleetWith(t, 1, lease, env...)
	node := f.nodes[0]
	f.key = node.MustNewKey(task.Test)
	paint := func(what string) api.Task {
		reply, made := f.send(0, harness.Request{
			Method: http.MethodPost, Path: api.PathTasks, Body: `{"capability":"image.generate","input":{"prompt":"` + what + `"}}`,
			Header: map[string]string{api.HeaderIdempotencyKey: "key of " + what, api.HeaderPrefer: "wait=30"},
		})
		if made.ID == "" {
			t.Fatalf("%s: %d %s", what, reply.Status, reply.Body)
		}
		f.until(30*time.Second, "the picture is there", func() bool { return f.get(0, made.ID).State == task.Succeeded })
		return f.get(0, made.ID)
	}
	before := paint("a fox")
	dump := filepath.Join(t.TempDir(), "unitask.dump")
	mustRun(t, "pg_dump", "-Fc", "-f", dump, f.database.URL())
	after := paint("a goose")
	node.Stop()

	restored := pgtest.Start(t, pgtest.Config{Sync: true})
	mustRun(t, "pg_restore", "-d", restored.URL(), "--no-owner", "--exit-on-error", dump)
	node.Env = append(env, "UNITASK_STORE="+restored.URL())
	node.Start()
	again := paint("a fox")
	if again.ID != before.ID {
		t.Errorf("the same request is %s, want a replay of %s", again.ID, before.ID)
	}
	image := again.Output.Images[0]
	reply, err := node.Send(t.Context(), harness.Request{Method: http.MethodGet, Path: strings.TrimPrefix(image.URL, node.Base)})
	if err != nil || reply.Status != http.StatusOK || int64(len(reply.Body)) != image.Bytes {
		t.Errorf("the picture: %d, %d bytes of %d, %v", reply.Status, len(reply.Body), image.Bytes, err)
	}
	if reply, _ := f.send(0, harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + after.ID}); reply.Status != http.StatusNotFound {
		t.Errorf("a task after the dump: %d %s", reply.Status, reply.Body)
	}
}

// mustRun runs one of PostgreSQL's programs.
func mustRun(t *testing.T, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		bin, err := pgtest.Available()
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(bin, name)
	}
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
