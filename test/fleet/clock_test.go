package fleet_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/client"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestClocks: nodes whose clocks are an hour early, right and an hour late are one service: they go by the database's.
func TestClocks(t *testing.T) {
	program := filepath.Join(t.TempDir(), "unitask")
	if err := harness.Build(program, "clocktest"); err != nil {
		t.Fatal(err)
	}
	bucket := s3test.Start(t)
	f := makeFleet(t, 3, lease, append(s3test.Environ(), placeIn(bucket))...)
	for i, off := range []time.Duration{-time.Hour, 0, time.Hour} {
		file := filepath.Join(t.TempDir(), "clock")
		if err := os.WriteFile(file, fmt.Appendln(nil, int64(off/time.Second)), 0o600); err != nil {
			t.Fatal(err)
		}
		f.nodes[i].Program = program
		f.nodes[i].Env = append(f.nodes[i].Env, "UNITASK_TEST_CLOCK="+file)
	}
	f.launch()

	// A key that expires in half an hour opens all nodes; one that expires in a moment opens none of them soon.
	key := func(node int, valid time.Duration) string {
		admin, err := client.NewAdmin(f.nodes[node].Data())
		if err != nil {
			t.Fatal(err)
		}
		k, err := admin.CreateKey(t.Context(), api.KeyCreate{Name: "expires", Mode: task.Test, ExpiresInSeconds: int64(valid / time.Second)})
		if err != nil {
			t.Fatalf("a key at node %d: %v", node, err)
		}
		return k.Secret
	}
	opens := func(node int, secret string) bool {
		reply, _ := f.send(node, harness.Request{Method: http.MethodGet, Path: api.PathTasks, Key: secret})
		return reply.Status == http.StatusOK
	}
	f.key = key(2, 30*time.Minute)
	brief := key(0, 2*time.Second)
	for node := range f.nodes {
		f.until(5*time.Second, "the node knows the key", func() bool { return opens(node, f.key) })
		f.until(10*time.Second, "the brief key is over", func() bool { return !opens(node, brief) })
	}

	// Tasks of all nodes are listed in the order of their creation, with the right times, and their files are there.
	var made []string
	for i := range 3 {
		reply, got := f.send(i%3, harness.Request{
			Method: http.MethodPost, Path: api.PathTasks, Body: `{"capability":"image.generate","input":{"prompt":"a clock"}}`,
			Header: map[string]string{api.HeaderIdempotencyKey: fmt.Sprint("picture ", i), api.HeaderPrefer: "wait=30"},
		})
		if got.State != task.Succeeded {
			t.Fatalf("node %d: %d %s", i%3, reply.Status, reply.Body)
		}
		if off := time.Since(got.CreatedAt.Time).Abs(); off > time.Minute {
			t.Errorf("node %d: a task that was created %s away from now", i%3, off)
		}
		made = append([]string{got.ID}, made...)
		for node := range f.nodes {
			address := f.get(i%3, got.ID).Output.Images[0].URL
			path := strings.TrimPrefix(address, f.nodes[i%3].Base)
			if file, err := f.nodes[node].Send(t.Context(), harness.Request{Method: http.MethodGet, Path: path}); err != nil || file.Status != http.StatusOK {
				t.Errorf("node %d: the file by node %d's address: %d, %v", node, i%3, file.Status, err)
			}
		}
		time.Sleep(250 * time.Millisecond) // the nodes' readings of the clock differ by less
	}
	reply, _ := f.send(1, harness.Request{Method: http.MethodGet, Path: api.PathTasks})
	at := 0
	for _, id := range made {
		next := strings.Index(string(reply.Body), id)
		if next < at {
			t.Errorf("the list isn't in the order of creation: %s", reply.Body)
			break
		}
		at = next
	}
}
