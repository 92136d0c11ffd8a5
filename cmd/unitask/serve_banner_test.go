package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unitask/internal/config"
)

// TestBannerNamesTheEntrances: each way into the service that the settings open is shown with its address, and no other.
func TestBannerNamesTheEntrances(t *testing.T) {
	const base = "http://127.0.0.1:8420"
	for _, tt := range []struct {
		settings config.Config
		want     []string
	}{
		{config.Config{BaseURL: base}, nil},
		{config.Config{BaseURL: base, MCPHTTP: true}, []string{"/mcp "}},
		{config.Config{BaseURL: base, MCPHTTP: true, Doors: []string{config.DoorOpenAI}}, []string{"/openai/v1 ", "/mcp "}},
	} {
		var got bytes.Buffer
		banner{settings: tt.settings, dataDir: t.TempDir()}.print(&terminal{err: &got, errStyle: newStyles(&got)})
		for _, path := range []string{"/openai/v1 ", "/anthropic ", "/mcp "} {
			want := strings.Contains(strings.Join(tt.want, ""), path)
			if strings.Contains(got.String(), base+path) != want {
				t.Errorf("%s: shown %v, want %v in\n%s", path, !want, want, got.String())
			}
		}
	}
}

// TestWatched: secrets are shown only if a person can both read and type, and never in a container.
func TestWatched(t *testing.T) {
	for _, tt := range []struct{ in, err, container, want bool }{
		{true, true, false, true}, {false, true, false, false}, {true, false, false, false}, {true, true, true, false},
	} {
		if got := (&terminal{inTTY: tt.in, errTTY: tt.err}).watched(tt.container); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

func TestInContainer(t *testing.T) {
	none := func(string) string { return "" }
	if inContainer(t.TempDir(), none) {
		t.Error("an empty system is taken for a container")
	}
	for _, mark := range []string{".dockerenv", "run/.containerenv", "run/systemd/container"} {
		root := t.TempDir()
		path := filepath.Join(root, mark)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if !inContainer(root, none) {
			t.Errorf("%s isn't seen", mark)
		}
	}
	for _, name := range []string{"container", "KUBERNETES_SERVICE_HOST"} {
		if !inContainer(t.TempDir(), func(n string) string { return map[string]string{name: "x"}[n] }) {
			t.Errorf("%s isn't seen", name)
		}
	}
}
