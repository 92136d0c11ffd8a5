package client_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/client/clienttest"
	"unitask/internal/fault"
)

// mustServeSocket serves h on a socket with a short path and returns the path.
func mustServeSocket(t *testing.T, path string, h http.Handler) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
}

// mustShortDir returns a folder whose path leaves room for a socket's name.
func mustShortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "u")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestAdminSocketPath(t *testing.T) {
	plain, moved := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(moved, "admin.addr"), []byte("/run/unitask/7.sock\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{plain: filepath.Join(plain, "admin.sock"), moved: "/run/unitask/7.sock"} {
		got, err := client.AdminSocketPath(dir)
		if err != nil || got != want {
			t.Errorf("AdminSocketPath(%s) = %s, %v, want %s", dir, got, err, want)
		}
	}
}

func TestAdmin(t *testing.T) {
	dir := mustShortDir(t)
	key := api.Key{ID: "key_1", Name: "ci", Hint: "abcd"}
	var got []string
	mustServeSocket(t, filepath.Join(dir, "admin.sock"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		switch r.Method + r.URL.Path {
		case "GET" + api.PathAdminKeys:
			clienttest.WriteJSON(w, http.StatusOK, api.KeyList{Data: []api.Key{key}})
		case "GET" + api.PathAdminInfo:
			clienttest.WriteJSON(w, http.StatusOK, api.Info{Version: "1", PID: 7})
		default:
			clienttest.WriteJSON(w, http.StatusOK, key)
		}
	}))
	admin, err := client.NewAdmin(dir)
	if err != nil {
		t.Fatal(err)
	}
	created, err1 := admin.CreateKey(t.Context(), api.KeyCreate{Name: "ci"})
	listed, err2 := admin.ListKeys(t.Context())
	revoked, err3 := admin.RevokeKey(t.Context(), "key_1")
	session, err4 := admin.SessionKey(t.Context())
	info, err5 := admin.Info(t.Context())
	updated, err6 := admin.UpdateKey(t.Context(), "key_1", api.KeyUpdate{Name: new("ci")})
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	want := []any{key, []api.Key{key}, key, key, api.Info{Version: "1", PID: 7}, key}
	if diff := cmp.Diff(want, []any{created, listed, revoked, session, info, updated}); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	requests := []string{
		"POST /admin/v1/keys ", "GET /admin/v1/keys ", "POST /admin/v1/keys/key_1/revoke ",
		"POST /admin/v1/session-key ", "GET /admin/v1/info ", "PATCH /admin/v1/keys/key_1 ",
	}
	if diff := cmp.Diff(requests, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestAdminWithoutServer(t *testing.T) {
	dir := t.TempDir()
	admin, err := client.NewAdmin(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = admin.Info(t.Context())
	got, ok := errors.AsType[*client.UnreachableError](err)
	if !ok || got.Where != filepath.Join(dir, "admin.sock") || strings.Count(err.Error(), got.Where) != 1 {
		t.Errorf("error %v, want an *UnreachableError that names the socket once", err)
	}
}

// TestAdminBackup: a whole archive arrives, a refusal is one, and one that breaks off is an error.
func TestAdminBackup(t *testing.T) {
	dir := mustShortDir(t)
	serve := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the archive") }
	mustServeSocket(t, filepath.Join(dir, "admin.sock"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != api.PathAdminBackup {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		serve(w, r)
	}))
	admin, err := client.NewAdmin(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := admin.Backup(t.Context(), &out); err != nil || out.String() != "the archive" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	serve = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"error":{"code":"CAPACITY_EXHAUSTED","message":"no room"},"request_id":"req_1"}`)
	}
	if err := admin.Backup(t.Context(), io.Discard); fault.CodeOf(err) != fault.CapacityExhausted {
		t.Errorf("a refusal: %v", err)
	}
	serve = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "the ")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	if err := admin.Backup(t.Context(), io.Discard); err == nil {
		t.Error("one that breaks off passes for whole")
	}
}
