package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"unitask/internal/config"
	"unitask/internal/disk"
)

// mustFile writes a file with a mode, whatever the umask is.
func mustFile(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoadRefusesWhatOthersMayWrite: who may write to the settings could send the operator's keys anywhere.
func TestLoadRefusesWhatOthersMayWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing about others there")
	}
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o620: true, 0o602: true, 0o666: true} {
		path := mustFile(t, "unitask.yaml", "listen: 127.0.0.1:1\n", mode)
		_, _, err := config.Load(config.Sources{File: path})
		var writable *disk.WritableError
		if errors.As(err, &writable) != refused || (refused && !strings.Contains(err.Error(), "chmod go-w "+path)) {
			t.Errorf("mode %o: got %v, want refused: %t", mode, err, refused)
		}
	}
	overlay := mustFile(t, "more.yaml", "", 0o666)
	_, _, err := config.Load(config.Sources{File: mustFile(t, "unitask.yaml", "catalog: ["+overlay+"]\n", 0o600)})
	if err == nil || !strings.Contains(err.Error(), "chmod go-w "+overlay) {
		t.Errorf("an overlay that everybody may write: got %v", err)
	}
}

func TestWarnings(t *testing.T) {
	open := mustFile(t, "key", "sk-1", 0o644)
	const supplier = "suppliers: [{name: a, kind: openai, base_url: "
	tests := []struct{ name, text, want string }{
		{"defaults", "{}", ""},
		{"TLS before it", "{listen: 0.0.0.0:8420, base_url: https://ai.example.org}", ""},
		{"all addresses", "listen: 0.0.0.0:8420", "listen: 0.0.0.0:8420 can be reached from other machines"},
		{"all of IPv6", "listen: '[::]:8420'", "listen: [::]:8420 can be reached"},
		{"no host", "listen: ':8420'", "listen: :8420 can be reached"},
		{"public without TLS", "base_url: http://ai.example.org", "base_url: http://ai.example.org is reached without TLS"},
		{"node without TLS", "node_url: http://8.8.8.8:8420", "node_url: http://8.8.8.8:8420 is reached without TLS"},
		{"node in a private network", "node_url: http://10.0.0.3:8420", ""},
		{"metrics", "metrics_listen: 0.0.0.0:9420", "metrics_listen: 0.0.0.0:9420 can be reached"},
		{"object store without TLS", "artifacts: s3://media?endpoint=http://s3.example.org", "artifacts: http://s3.example.org is reached without TLS"},
		{"object store in a container", "artifacts: s3://media?endpoint=http://minio:9000", ""},
		{"supplier without TLS", supplier + "http://api.example.org}]", "supplier a: http://api.example.org is reached without TLS"},
		{"supplier at a public address", supplier + "http://8.8.8.8}]", "supplier a: http://8.8.8.8 is reached without TLS"},
		{"supplier in a container", supplier + "http://ollama:11434}]", ""},
		{"supplier on this machine", supplier + "'http://[::1]:11434'}]", ""},
		{"supplier in the house", supplier + "http://192.168.1.2}]", ""},
		{"readable key", supplier + "https://a.example, api_key: 'file:" + open + "'}]", "supplier a: secret file " + open + " can be read by every user"},
		{
			"readable password",
			supplier + "https://a.example, proxy_password: 'file:" + open + "', options: {proxy: http://u@p:1}}]", "supplier a: secret file " + open,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _, err := config.Load(config.Sources{
				File: mustFile(t, "unitask.yaml", tt.text, 0o600), Kinds: map[string][]string{"openai": nil},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(c.Warnings(), "\n")
			if (tt.want == "") != (got == "") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("warnings %q, want %q", got, tt.want)
			}
		})
	}
}

// TestProxyPassword: a password in the settings is refused in words that don't repeat it.
func TestProxyPassword(t *testing.T) {
	const supplier = "suppliers: [{name: a, kind: openai, base_url: https://a.example, "
	for text, want := range map[string]string{
		"options: {proxy: 'http://user:hunter2@p:3128'}}]":   "holds a password",
		"options: {proxy: 'http://user:hunter2@p:31 28'}}]":  "is no URL",
		"proxy_password: hunter2, options: {proxy: x}}]":     "a secret is named by a reference",
		"proxy_password: env:P}]":                            "is for a proxy whose address names a user",
		"proxy_password: env:P, options: {proxy: http://p}}": "is for a proxy whose address names a user",
	} {
		if !strings.HasSuffix(text, "]") {
			text += "]"
		}
		_, _, err := config.Load(config.Sources{
			File: mustFile(t, "unitask.yaml", supplier+text, 0o600), Kinds: map[string][]string{"openai": nil},
		})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q and no password", text, err, want)
		}
	}
}
