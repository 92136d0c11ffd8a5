package secret_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/secret"
)

func TestParseRef(t *testing.T) {
	for in, want := range map[string]string{
		"env:OPENAI_API_KEY":      "env:OPENAI_API_KEY",
		"env:_x9":                 "env:_x9",
		"file:/run/secrets/a":     "file:/run/secrets/a",
		"file:/run//x/../secrets": "file:/run/secrets",
		"keyring:openai":          "keyring:unitask/openai",
		"keyring:other/open.ai":   "keyring:other/open.ai",
	} {
		ref, err := secret.ParseRef(in)
		if err != nil {
			t.Errorf("ParseRef(%q): %v", in, err)
		}
		if got := ref.String(); got != want {
			t.Errorf("ParseRef(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestParseRefRefusesAndDoesNotRepeat(t *testing.T) {
	for _, in := range []string{
		"", "sk-live-abcdef", "sk:live-abcdef", "Env:live", "env:", "env:9live", "env:a-live", "env:live ",
		"file:", "file:live", "file:./live", "file:/live\x00", "keyring:", "keyring:/live", "keyring:live/",
		"keyring:a/b/live", "keyring:live key", "keyring:" + strings.Repeat("live", 40), "https://live",
	} {
		ref, err := secret.ParseRef(in)
		if !errors.Is(err, secret.ErrNotRef) || !ref.IsZero() {
			t.Errorf("ParseRef(%q) = %q, %v, want ErrNotRef", in, ref, err)
			continue
		}
		if e, _ := errors.AsType[*secret.Error](err); e.Hint == "" || strings.Contains(e.Error()+e.Hint, "live") {
			t.Errorf("ParseRef(%q): message %q with hint %q, want a hint and no repetition", in, e, e.Hint)
		}
	}
}

func TestRefText(t *testing.T) {
	var ref secret.Ref
	if err := ref.UnmarshalText([]byte("env:A")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(secret.Env("A").String(), ref.String()); diff != "" {
		t.Error(diff)
	}
	if err := ref.UnmarshalText([]byte("sk-live")); err == nil || ref != secret.Env("A") {
		t.Errorf("a bad text gave %v and changed the reference to %v", err, ref)
	}
	if err := ref.UnmarshalText(nil); err != nil || !ref.IsZero() {
		t.Errorf("empty text gave %v, %v", ref, err)
	}
	if text, err := ref.MarshalText(); err != nil || len(text) != 0 {
		t.Errorf("the zero reference is written %q, %v", text, err)
	}
	if _, err := ref.Resolve(t.Context()); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("the zero reference resolves with %v, want ErrNotFound", err)
	}
}

func TestResolveEnv(t *testing.T) {
	t.Setenv("UNITASK_TEST_KEY", plain)
	got, err := secret.Env("UNITASK_TEST_KEY").Resolve(t.Context())
	if err != nil || got.Reveal() != plain {
		t.Errorf("resolved %q, %v", got.Reveal(), err)
	}
	t.Setenv("UNITASK_TEST_KEY", "")
	if _, err := secret.Env("UNITASK_TEST_KEY").Resolve(t.Context()); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("an empty variable gave %v, want ErrNotFound", err)
	}
}

func TestResolveFile(t *testing.T) {
	tests := []struct {
		name    string
		content string
		mode    os.FileMode
		want    string
		kind    error
		warns   bool
	}{
		{name: "private", content: "k\n", mode: 0o600, want: "k"},
		{name: "windows line end", content: "k\r\n", mode: 0o400, want: "k"},
		{name: "inner space stays", content: " k k \n\n", mode: 0o600, want: " k k "},
		{name: "as a container mounts it", content: "k", mode: 0o644, want: "k", warns: true},
		{name: "writable by all", content: "k", mode: 0o602, kind: secret.ErrUnsafe},
		{name: "empty", content: "\n", mode: 0o600, kind: secret.ErrNotFound},
		{name: "too long", content: strings.Repeat("k", 64<<10+1), mode: 0o600, kind: secret.ErrUnsafe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			ref := mustParse(t, "file:"+path)
			got, err := ref.Resolve(t.Context())
			if !errors.Is(err, tt.kind) || got.Reveal() != tt.want {
				t.Errorf("resolved %q, %v; want %q, %v", got.Reveal(), err, tt.want, tt.kind)
			}
			if warning := ref.Warning(); (warning != "") != tt.warns {
				t.Errorf("warning %q, want one: %t", warning, tt.warns)
			}
		})
	}
}

func TestResolveFileThatIsNone(t *testing.T) {
	dir := t.TempDir()
	if _, err := mustParse(t, "file:"+filepath.Join(dir, "absent")).Resolve(t.Context()); !errors.Is(err, secret.ErrNotFound) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file gave %v, want ErrNotFound over os.ErrNotExist", err)
	}
	if _, err := mustParse(t, "file:"+dir).Resolve(t.Context()); !errors.Is(err, secret.ErrUnsafe) {
		t.Errorf("a folder gave %v, want ErrUnsafe", err)
	}
}

func mustParse(t *testing.T, text string) secret.Ref {
	t.Helper()
	ref, err := secret.ParseRef(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// FuzzParseRef: an accepted reference is written as a text with the same meaning; a refused text is not repeated in
// the error.
func FuzzParseRef(f *testing.F) {
	for _, seed := range []string{"env:A", "file:/a/../b", "keyring:a", "keyring:a/b", "sk-123456", "env:sk-123456", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := secret.ParseRef(text)
		if err != nil {
			if len(text) >= 12 && strings.Contains(err.Error(), text) {
				t.Errorf("the error repeats the text: %v", err)
			}
			return
		}
		again, err := secret.ParseRef(ref.String())
		if err != nil || again != ref {
			t.Errorf("%q reads as %q, which reads as %q, %v", text, ref, again, err)
		}
	})
}
