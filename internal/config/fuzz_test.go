package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"unitask/internal/config"
)

// FuzzLoad: whatever stands in the file, Load returns a whole Config or Errors with places in it.
func FuzzLoad(f *testing.F) {
	f.Add(example)
	f.Add("listen: &a b\nroutes: *a\n")
	f.Add("policy: {rules: [{pattern: '(?i)x', capabilities: ['*']}], moderation: {supplier: groq, price: {unit: mtok}}}\n" + example)
	f.Add("limits: {<<: {body: 1}}\n")
	f.Add("routes:\n  text.chat: [{supplier: a, model: |\n x\n}]\n")
	file := filepath.Join(f.TempDir(), "unitask.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, directory, err := config.Load(config.Sources{File: file, Kinds: kinds, Moderators: []string{"openai"}})
		if err == nil {
			if directory == nil || c.Listen == "" || c.BaseURL == "" || c.DataDir == "" || c.Limits.URLTTL == 0 {
				t.Errorf("an accepted configuration lacks something: %+v", c)
			}
			return
		}
		all, ok := errors.AsType[config.Errors](err)
		if !ok || len(all) == 0 {
			t.Fatalf("not Errors: %v", err)
		}
		for _, e := range all {
			if e.Place.Source != file || e.Message == "" {
				t.Errorf("an error without its place: %+v", e)
			}
		}
	})
}

// FuzzValues: an accepted text is written and read again as the same value.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{"1h30m", "7d", "65535d", "16MiB", "0", "1000", "0.05", "9223372036.854775807", "-1s", "1e3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d, d2 config.Duration
		if d.UnmarshalText([]byte(text)) == nil {
			again(t, text, &d2, d)
			if d2 != d {
				t.Errorf("%q: %v and %v", text, d, d2)
			}
		}
		var s, s2 config.Size
		if s.UnmarshalText([]byte(text)) == nil {
			again(t, text, &s2, s)
			if s2 != s {
				t.Errorf("%q: %v and %v", text, s, s2)
			}
		}
		var a, a2 config.Amount
		if a.UnmarshalText([]byte(text)) == nil {
			again(t, text, &a2, a)
			if a2 != a {
				t.Errorf("%q: %v and %v", text, a, a2)
			}
		}
	})
}

func again(t *testing.T, text string, into interface{ UnmarshalText([]byte) error }, from interface{ MarshalText() ([]byte, error) }) {
	t.Helper()
	written, err := from.MarshalText()
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if err := into.UnmarshalText(written); err != nil {
		t.Errorf("%q is written as %q: %v", text, written, err)
	}
}
