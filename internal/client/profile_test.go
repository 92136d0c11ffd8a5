package client_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/client"
	"unitask/internal/secret"
)

func TestProfiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	empty, err := client.LoadProfiles(dir)
	if err != nil || len(empty.Profiles) != 0 {
		t.Fatalf("without a file: %v, %v, want no profiles", empty, err)
	}
	ref, err := secret.ParseRef("keyring:work")
	if err != nil {
		t.Fatal(err)
	}
	local := client.Profile{BaseURL: "http://127.0.0.1:8420", DataDir: "/var/lib/unitask"}
	work := client.Profile{BaseURL: "https://ai.example", Key: ref}
	for name, p := range map[string]client.Profile{"local": local} {
		if err := client.SaveProfile(dir, name, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.SaveProfile(dir, "work", work); err != nil {
		t.Fatal(err)
	}
	got, err := client.LoadProfiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := client.Profiles{Current: "local", Profiles: map[string]client.Profile{"local": local, "work": work}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b secret.Ref) bool { return a == b })); diff != "" {
		t.Errorf("profiles (-want +got):\n%s", diff)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "profiles.json"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), mode)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%d files in the folder, %v, want 1", len(left), err)
	}
}

func TestParseProfilesRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":          `profiles:`,
		"two values":       `{"profiles":{}} {}`,
		"an unknown name":  `{"profiles":{},"extra":1}`,
		"a bad base URL":   `{"profiles":{"a":{"base_url":"ai.example"}}}`,
		"a profile's name": `{"profiles":{"a b":{"base_url":"http://ai.example"}}}`,
		"a key in clear":   `{"profiles":{"a":{"base_url":"http://ai.example","key":"svc_live_12345678"}}}`,
	} {
		_, err := client.ParseProfiles([]byte(text))
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), "12345678") {
			t.Errorf("%s: the error repeats the key: %v", name, err)
		}
	}
}

func FuzzParseProfiles(f *testing.F) {
	f.Add([]byte(`{"current":"local","profiles":{"local":{"base_url":"http://127.0.0.1:8420","data_dir":"/d"}}}`))
	f.Add([]byte(`{"profiles":{"w":{"base_url":"https://ai.example","key":"keyring:unitask/w"}}}`))
	f.Add([]byte(`{"profiles":null}`))
	f.Add([]byte(`{"profiles":{"a":{"base_url":"http://u:p@h"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := client.ParseProfiles(raw)
		if err != nil {
			return
		}
		again, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := client.ParseProfiles(again)
		if err != nil {
			t.Fatalf("what was read isn't readable when written: %v\n%s", err, again)
		}
		if diff := cmp.Diff(first, second, cmp.Comparer(func(a, b secret.Ref) bool { return a == b })); diff != "" {
			t.Errorf("written and read again (-first +second):\n%s", diff)
		}
	})
}

func TestSettle(t *testing.T) {
	key, err := secret.ParseRef("keyring:x")
	if err != nil {
		t.Fatal(err)
	}
	const base = "http://a.test"
	bare, kept, sealed := client.Profile{BaseURL: base}, client.Profile{BaseURL: base, Key: key}, client.Profile{BaseURL: base, Sealed: true}
	local := client.Profile{BaseURL: base, DataDir: "/d"}
	for _, tt := range []struct {
		name, current string
		all           map[string]client.Profile
		want          string
	}{
		{"a current one with a key stays", "b", map[string]client.Profile{"a": kept, "b": sealed, "local": local}, "b"},
		{"the local one first", "b", map[string]client.Profile{"a": kept, "b": bare, "local": local}, "local"},
		{"else the first by name", "c", map[string]client.Profile{"a": bare, "b": kept, "c": bare, "d": sealed}, "b"},
		{"one that was removed", "", map[string]client.Profile{"a": sealed}, "a"},
		{"none has a key", "b", map[string]client.Profile{"a": bare, "b": bare}, "b"},
		{"none at all", "", nil, ""},
	} {
		p := client.Profiles{Current: tt.current, Profiles: tt.all}
		if p.Settle(); p.Current != tt.want {
			t.Errorf("%s: %q is current, want %q", tt.name, p.Current, tt.want)
		}
	}
}
