package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"unitask/internal/api"
	"unitask/test/harness"
)

// TestUpgradeServes starts the real server on a store that an older one wrote: its key opens it, every task
// is listed, and the store is sound before and after.
func TestUpgradeServes(t *testing.T) {
	harness.NeedsBolt(t)
	old := filepath.Join("..", "..", "internal", "store", "boltstore", "testdata", "schema1")
	var content struct {
		Key   string
		Tasks []struct{ ID string }
	}
	raw, err := os.ReadFile(filepath.Join(old, "content.json"))
	if err == nil {
		err = json.Unmarshal(raw, &content)
	}
	if err != nil || len(content.Tasks) == 0 {
		t.Fatalf("%d tasks, %v", len(content.Tasks), err)
	}
	s := harness.NewServer(t)
	s.Config = "limits: {retention: 876000h}\n" // the old tasks are kept, whatever the day
	mustUnpack(t, filepath.Join(old, "unitask.db.gz"), filepath.Join(s.Data(), "unitask.db"))
	mustBeSound(t, s)
	s.Start()
	ids, err := s.List(t.Context(), content.Key)
	if err != nil || len(ids) != len(content.Tasks) {
		t.Fatalf("%d tasks are listed (%v), want %d", len(ids), err, len(content.Tasks))
	}
	for _, want := range content.Tasks {
		got, err := s.Send(t.Context(), harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + want.ID, Key: content.Key})
		if err != nil || got.Status != http.StatusOK {
			t.Errorf("%s: %d, %v", want.ID, got.Status, err)
		}
	}
	s.Stop()
	mustBeSound(t, s)
}

func mustBeSound(t *testing.T, s *harness.Server) {
	t.Helper()
	check := exec.CommandContext(t.Context(), harness.Binary(), "store", "check", "--data-dir", s.Data())
	check.Env = s.Environ()
	if out, err := check.CombinedOutput(); err != nil {
		t.Fatalf("store check: %v\n%s", err, out)
	}
}

func mustUnpack(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(unpack)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
