package client_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/secret"
)

var compareRefs = cmp.Comparer(func(a, b secret.Ref) bool { return a == b })

func TestTarget(t *testing.T) {
	local := client.Profile{BaseURL: "http://127.0.0.1:8420", DataDir: "/d"}
	work := client.Profile{BaseURL: "https://ai.example"}
	tests := []struct {
		name               string
		choice             client.Choice
		envProfile, envURL string
		want               client.Target
		wantErr            bool
	}{
		{"the current profile", client.Choice{}, "", "", client.Target{BaseURL: local.BaseURL, Name: "local", Profile: local}, false},
		{"a named one", client.Choice{Profile: "work"}, "local", "", client.Target{BaseURL: work.BaseURL, Name: "work", Profile: work, Named: true}, false},
		{"one named in the environment", client.Choice{}, "work", "", client.Target{BaseURL: work.BaseURL, Name: "work", Profile: work, Named: true}, false},
		{"one that fits the base URL", client.Choice{BaseURL: "https://ai.example/"}, "", "", client.Target{BaseURL: work.BaseURL, Name: "work", Profile: work}, false},
		{"the flag before the environment", client.Choice{BaseURL: "http://a.test"}, "", "http://b.test", client.Target{BaseURL: "http://a.test"}, false},
		{"a base URL of nobody", client.Choice{}, "", "http://b.test", client.Target{BaseURL: "http://b.test"}, false},
		{"a named one elsewhere", client.Choice{Profile: "work", BaseURL: "http://b.test"}, "", "", client.Target{BaseURL: "http://b.test", Name: "work", Profile: work, Named: true}, false},
		{"one of the environment elsewhere", client.Choice{BaseURL: "http://b.test"}, "work", "", client.Target{BaseURL: "http://b.test", Name: "work", Profile: work}, false},
		{"an unknown one", client.Choice{Profile: "nobody"}, "", "", client.Target{}, true},
		{"a bad base URL", client.Choice{BaseURL: "b.test"}, "", "", client.Target{}, true},
	}
	dir := t.TempDir()
	for _, p := range []struct {
		name string
		client.Profile
	}{{"local", local}, {"work", work}} {
		if err := client.SaveProfile(dir, p.name, p.Profile); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("UNITASK_CONFIG_DIR", dir)
			t.Setenv("UNITASK_PROFILE", tt.envProfile)
			t.Setenv("UNITASK_BASE_URL", tt.envURL)
			got, err := tt.choice.Target(t.Context())
			if (err != nil) != tt.wantErr {
				t.Fatalf("error %v, want one: %t", err, tt.wantErr)
			}
			if diff := cmp.Diff(tt.want, got, compareRefs); diff != "" {
				t.Errorf("target (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCredential(t *testing.T) {
	dir := mustShortDir(t)
	mustServeSocket(t, filepath.Join(dir, "admin.sock"), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		clienttest.WriteJSON(w, http.StatusOK, api.Key{Secret: "svc_test_session"})
	}))
	file := filepath.Join(dir, "key")
	if err := os.WriteFile(file, []byte("svc_test_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := secret.ParseRef("file:" + file)
	if err != nil {
		t.Fatal(err)
	}
	local := client.Profile{BaseURL: "http://own.test", DataDir: dir}
	login := client.Profile{BaseURL: "http://own.test", DataDir: dir, Key: kept}
	tests := []struct {
		name       string
		target     client.Target
		file, env  string
		source     client.Source
		want       string
		wantKeyFor string // of the error, if no key is found
	}{
		{"a file before all", client.Target{BaseURL: "http://own.test", Profile: login}, file, "svc_test_env", client.FromFile, "svc_test_file", ""},
		{"stdin", client.Target{BaseURL: "http://own.test"}, "-", "", client.FromFile, "svc_test_stdin", ""},
		{"the environment before the keyring", client.Target{BaseURL: "http://other.test", Profile: login}, "", " svc_test_env ", client.FromEnvironment, "svc_test_env", ""},
		{"the keyring before the local server", client.Target{BaseURL: "http://own.test", Profile: login}, "", "", client.FromKeyring, "svc_test_file", ""},
		{"the local server", client.Target{BaseURL: "http://own.test", Profile: local}, "", "", client.FromLocalServer, "svc_test_session", ""},
		{"the keyring's key goes nowhere else", client.Target{BaseURL: "http://other.test", Name: "p", Profile: login}, "", "", "", "", "http://own.test"},
		{"nor does the local server's", client.Target{BaseURL: "http://other.test", Name: "p", Profile: local}, "", "", "", "", "http://own.test"},
		{"none", client.Target{BaseURL: "http://other.test"}, "", "", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("UNITASK_API_KEY", tt.env)
			got, err := tt.target.Credential(t.Context(), tt.file, strings.NewReader("svc_test_stdin\n"))
			if tt.want == "" {
				missing, ok := errors.AsType[*client.NoKeyError](err)
				if !ok || missing.KeyFor != tt.wantKeyFor {
					t.Errorf("error %v, want a *NoKeyError that names %q", err, tt.wantKeyFor)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			key, err := got.Key(t.Context())
			if err != nil || key.Reveal() != tt.want || got.Source != tt.source {
				t.Errorf("key %q from %s, %v, want %q from %s", key.Reveal(), got.Source, err, tt.want, tt.source)
			}
		})
	}
}

// TestOperatorCredential: a profile that was named is called by its own operator key or by none, never by the variable's.
func TestOperatorCredential(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("svc_operator_kept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := secret.ParseRef("file:" + file)
	if err != nil {
		t.Fatal(err)
	}
	const own, env = "https://own.test", "svc_operator_env"
	fleet := client.Profile{BaseURL: own, Key: kept, Operator: true}
	work := client.Profile{BaseURL: own, Key: kept}
	for _, tt := range []struct {
		name      string
		target    client.Target
		env, want string
	}{
		{"the variable alone", client.Target{BaseURL: own}, env, env},
		{"the variable at the base URL of a profile", client.Target{BaseURL: own, Name: "fleet", Profile: fleet}, env, env},
		{"the profile of a base URL", client.Target{BaseURL: own, Name: "fleet", Profile: fleet}, "", "svc_operator_kept"},
		{"a named profile before the variable", client.Target{BaseURL: own, Name: "fleet", Profile: fleet, Named: true}, env, "svc_operator_kept"},
		{"a named one without its key", client.Target{BaseURL: own, Name: "fleet", Profile: client.Profile{BaseURL: own, Operator: true}, Named: true}, env, ""},
		{"a named one of API keys", client.Target{BaseURL: own, Name: "work", Profile: work, Named: true}, env, ""},
		{"a named one elsewhere", client.Target{BaseURL: "https://other.test", Name: "fleet", Profile: fleet, Named: true}, env, ""},
		{"none", client.Target{BaseURL: own}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("UNITASK_OPERATOR_KEY", tt.env)
			got, err := tt.target.OperatorCredential(t.Context())
			if tt.want == "" {
				if _, ok := errors.AsType[*client.NoKeyError](err); !ok {
					t.Errorf("error %v, want a *NoKeyError", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if key, err := got.Key(t.Context()); err != nil || key.Reveal() != tt.want {
				t.Errorf("key %q, %v, want %q", key.Reveal(), err, tt.want)
			}
		})
	}
}

func TestSessionKeyIsRenewed(t *testing.T) {
	dir := mustShortDir(t)
	asked := 0
	mustServeSocket(t, filepath.Join(dir, "admin.sock"), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		life := time.Hour
		if asked == 1 {
			life = 10 * time.Second // about to expire: not worth keeping
		}
		clienttest.WriteJSON(w, http.StatusOK, api.Key{Secret: "svc_test_session", ExpiresAt: &api.Timestamp{Time: time.Now().Add(life)}})
	}))
	t.Setenv("UNITASK_API_KEY", "")
	got, err := client.Target{BaseURL: "http://own.test", Profile: client.Profile{BaseURL: "http://own.test", DataDir: dir}}.
		Credential(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := got.Key(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 2 {
		t.Errorf("the server was asked %d times, want 2", asked)
	}
}

func TestParseKey(t *testing.T) {
	for _, text := range []string{"", " \n", "two words", "line\nbreak", "schlüssel", strings.Repeat("k", 5000)} {
		if _, err := client.ParseKey(text); fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("ParseKey(%.20q): %v, want %s", text, err, fault.Unauthenticated)
		}
	}
	got, err := client.ParseKey("\tsvc_test_1\r\n")
	if err != nil || got.Reveal() != "svc_test_1" {
		t.Errorf("ParseKey = %q, %v, want svc_test_1", got.Reveal(), err)
	}
}

// TestTargetOfDataDir finds the server on a data folder: by the profile that names the folder, else by asking it.
func TestTargetOfDataDir(t *testing.T) {
	asked, unknown := mustShortDir(t), filepath.Join(t.TempDir(), "unknown")
	mustServeSocket(t, filepath.Join(asked, "admin.sock"), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		clienttest.WriteJSON(w, http.StatusOK, api.Info{BaseURL: "http://127.0.0.1:8421"})
	}))
	local := client.Profile{BaseURL: "http://127.0.0.1:8420", DataDir: "/d"}
	work := client.Profile{BaseURL: "https://ai.example"}
	ofLocal := client.Target{BaseURL: local.BaseURL, Name: "local", Profile: local}
	ofWork := client.Target{BaseURL: work.BaseURL, Name: "work", Profile: work, Named: true}
	byBaseURL := client.Target{BaseURL: work.BaseURL, Name: "work", Profile: work}
	ofAsked := client.Target{
		BaseURL: "http://127.0.0.1:8421", Profile: client.Profile{BaseURL: "http://127.0.0.1:8421", DataDir: asked},
	}
	t.Setenv("UNITASK_CONFIG_DIR", t.TempDir())
	all := client.Profiles{Current: "work", Profiles: map[string]client.Profile{"local": local, "work": work}}
	if err := all.Save(client.ConfigDir()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name                           string
		choice                         client.Choice
		envDataDir, envProfile, envURL string
		want                           client.Target
	}{
		{"that a profile names", client.Choice{DataDir: "/d"}, "", "", "", ofLocal},
		{"that answers", client.Choice{DataDir: asked}, "", "", "", ofAsked},
		{"of the environment", client.Choice{}, asked, "", "", ofAsked},
		{"before the environment", client.Choice{DataDir: asked}, "/d", "work", work.BaseURL, ofAsked},
		{"after a profile", client.Choice{Profile: "work"}, asked, "", "", ofWork},
		{"after a base URL", client.Choice{BaseURL: work.BaseURL}, asked, "", "", byBaseURL},
		{"of the environment, after its profile", client.Choice{}, asked, "work", "", ofWork},
		{"of the environment, after its base URL", client.Choice{}, asked, "", work.BaseURL, byBaseURL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("UNITASK_DATA_DIR", tt.envDataDir)
			t.Setenv("UNITASK_PROFILE", tt.envProfile)
			t.Setenv("UNITASK_BASE_URL", tt.envURL)
			got, err := tt.choice.Target(t.Context())
			if diff := cmp.Diff(tt.want, got, compareRefs); err != nil || diff != "" {
				t.Errorf("%v; target (-want +got):\n%s", err, diff)
			}
		})
	}
	_, err := client.Choice{DataDir: unknown}.Target(t.Context())
	if _, ok := errors.AsType[*client.UnreachableError](err); !ok {
		t.Errorf("a folder without a server: %v, want an *UnreachableError", err)
	}
}
