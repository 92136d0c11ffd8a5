package main

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/node"
	"unitask/internal/operator"
	"unitask/internal/secret"
	"unitask/internal/store/boltstore"
)

// TestLocalProfile: the profile follows a server that moves, and leaves one folder for another only if no server
// answers there any more.
func TestLocalProfile(t *testing.T) {
	t.Setenv("UNITASK_CONFIG_DIR", t.TempDir())
	a, b := t.TempDir(), t.TempDir()
	running, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(b, api.AdminSocket))
	if err != nil {
		t.Fatal(err)
	}
	admin := &http.Server{Handler: newFakeAdmin(""), ReadHeaderTimeout: time.Minute}
	go func() { _ = admin.Serve(running) }()
	step := func(base, dir string, want client.Profile) {
		t.Helper()
		if err := saveLocalProfile(t.Context(), base, dir); err != nil {
			t.Fatal(err)
		}
		all, err := client.LoadProfiles(client.ConfigDir())
		if err != nil {
			t.Fatal(err)
		}
		if got := all.Profiles[client.LocalProfile]; got != want {
			t.Errorf("after %s on %s: %+v, want %+v", base, dir, got, want)
		}
	}
	step("http://127.0.0.1:1", a, client.Profile{BaseURL: "http://127.0.0.1:1", DataDir: a})
	step("http://127.0.0.1:2", a, client.Profile{BaseURL: "http://127.0.0.1:2", DataDir: a})
	step("http://127.0.0.1:3", b, client.Profile{BaseURL: "http://127.0.0.1:3", DataDir: b})
	step("http://127.0.0.1:4", a, client.Profile{BaseURL: "http://127.0.0.1:3", DataDir: b})
	if err := admin.Close(); err != nil {
		t.Fatal(err)
	}
	step("http://127.0.0.1:4", a, client.Profile{BaseURL: "http://127.0.0.1:4", DataDir: a})
	save := func(p client.Profile) client.Profile {
		t.Helper()
		if err := client.SaveProfile(client.ConfigDir(), client.LocalProfile, p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	key, err := secret.ParseRef("keyring:local")
	if err != nil {
		t.Fatal(err)
	}
	save(client.Profile{BaseURL: "http://127.0.0.1:4", DataDir: a, Key: key})
	loggedIn := client.Profile{BaseURL: "http://127.0.0.1:5", DataDir: a, Key: key}
	step("http://127.0.0.1:5", a, loggedIn)
	step("http://127.0.0.1:6", b, loggedIn)
	save(client.Profile{BaseURL: "http://127.0.0.1:5", DataDir: a, Sealed: true})
	step("http://127.0.0.1:6", a, client.Profile{BaseURL: "http://127.0.0.1:6", DataDir: a, Sealed: true})
	step("http://127.0.0.1:7", b, client.Profile{BaseURL: "http://127.0.0.1:6", DataDir: a, Sealed: true})
	own := save(client.Profile{BaseURL: "https://ai.example.org"})
	step("http://127.0.0.1:5", a, own)
	ops := save(client.Profile{BaseURL: "http://127.0.0.1:5", DataDir: a, Key: key, Operator: true})
	step("http://127.0.0.1:6", a, ops)
}

func TestBusyPort(t *testing.T) {
	ln, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	_, err = listen(context.Background(), "--listen", ln.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "is in use") || !strings.Contains(hintOf("unitask serve", err), "--listen 127.0.0.1:") {
		t.Errorf("%v, hint %q", err, hintOf("unitask serve", err))
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "example.org:1": false, "x": false,
	} {
		if got := loopback(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	for address, want := range map[string]string{"127.0.0.1:8420": "127.0.0.1:8421", "[::1]:65535": "[::1]:0", ":80": ":81"} {
		if got := nextPort(address); got != want {
			t.Errorf("after %s comes %s, want %s", address, got, want)
		}
	}
}

// TestOperatorLink: whoever runs the server gets in as its operator, on a new store and later on.
func TestOperatorLink(t *testing.T) {
	db, _, err := node.OpenData(t.TempDir(), boltstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	op := &operator.Operator{Store: db, Prefix: "svc", Now: time.Now, Server: api.Info{BaseURL: "http://127.0.0.1:8420"}}
	for range 2 {
		link, err := operatorLink(t.Context(), op)
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(link.URL, "#")
		_, who, err := op.SignIn(t.Context(), token, "")
		if err != nil || who.Session.Role != "operator" || who.Session.Member == "" || who.Account.Name != firstAccount {
			t.Errorf("%+v %v", who, err)
		}
	}
}
