package snippet_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/snippet"
)

// hostile is a prompt that would run commands if it weren't quoted.
const hostile = "it's \"$(touch x)\" `touch y` $HOME \\ !! \u2028 </script> \U0001f98a $BODY\nend '''"

func request(t *testing.T, input, parameters any) api.CreateRequest {
	t.Helper()
	raw := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return api.CreateRequest{Capability: "text.chat", Input: raw(input), Parameters: raw(parameters)}
}

// TestRuns runs the snippets: the service gets the request, and a program prints the output.
func TestRuns(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("\x00it's large "), 50_000)
	folder := t.TempDir()
	path := filepath.Join(folder, "it's $HOME `x`.png")
	if err := os.WriteFile(path, large, 0o600); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(large)
	withFile := request(t, map[string]any{"prompt": hostile, "images": []any{map[string]any{"data": data}, map[string]any{"data": data}}}, nil)
	req := request(t, map[string]any{"prompt": hostile, "messages": []any{map[string]any{"role": "user"}, nil, []any{}}},
		map[string]any{"top_p": json.RawMessage("0.70"), "audio": true, "no": false})
	req.Metadata = map[string]string{"team": "search", "note": hostile}
	for _, tt := range []struct {
		name, file string
		req        api.CreateRequest
		write      func(base string) (string, error)
		run        []string
	}{
		{"curl", "run.sh", req, func(base string) (string, error) { return snippet.Curl(base, "a-key-of'mine", req, nil) }, []string{"sh"}},
		{"curl with a file", "run.sh", withFile, func(base string) (string, error) {
			return snippet.Curl(base, "a-key-of'mine", withFile, map[string]string{data: path})
		}, []string{"sh"}},
		{"Python", "run.py", req, func(base string) (string, error) { return snippet.Python(base, req) }, []string{"python3"}},
		{"JavaScript", "run.mjs", req, func(base string) (string, error) { return snippet.JavaScript(base, req) }, []string{"node"}},
		{"Go", "main.go", req, func(base string) (string, error) { return snippet.Go(base, req) }, []string{"go", "run"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			need(t, tt.run[0], "curl")
			service := &service{}
			s := httptest.NewServer(service)
			defer s.Close()
			code, err := tt.write(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), tt.file)
			if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), tt.run[0], append(tt.run[1:], file)...)
			command.Dir = filepath.Dir(file)
			command.Env = append(os.Environ(), "UNITASK_API_KEY=svc_test_of_the_environment", "GOFLAGS=")
			out, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s\n%s", err, out, code)
			}
			service.mu.Lock()
			defer service.mu.Unlock()
			var got, want any
			if err := cmp.Or(json.Unmarshal(service.body, &got), json.Unmarshal(mustJSON(t, tt.req), &want)); err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if service.key != "Bearer svc_test_of_the_environment" || len(service.idempotency) < api.MinIdempotencyKey {
				t.Errorf("sent with key %q under %q", service.key, service.idempotency)
			}
			if !strings.Contains(string(out), "it worked") {
				t.Errorf("printed %q", out)
			}
			entries, err := os.ReadDir(command.Dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("the prompt ran: %v, %v", entries, err)
			}
		})
	}
}

// service is a fake of the API that keeps the creation that it was sent.
type service struct {
	mu               sync.Mutex
	body             []byte
	key, idempotency string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method != http.MethodPost || r.URL.Path != api.PathTasks {
		http.NotFound(w, r)
		return
	}
	s.body, s.key, s.idempotency = body, r.Header.Get("Authorization"), r.Header.Get(api.HeaderIdempotencyKey)
	_, _ = io.WriteString(w, `{"id":"task_1","state":"succeeded","output":{"text":"it worked"},"error":null}`)
}

// need skips the test if a program is missing; in CI it fails.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed; .ci/run packages installs it", program)
		}
		t.Skipf("%s is not installed", program)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestCommand(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ capability, input, parameters, want string }{
		{"text.chat", `{"prompt":"hello"}`, `{"seed":10000000000,"stop":["a b","c"]}`, `unitask run text.chat hello stop="a b" stop=c seed=10000000000`},
		{"text.chat", `{"prompt":"a=b"}`, `{}`, `unitask run text.chat prompt=a=b`},
		{"text.chat", `{"prompt":"--json"}`, ``, `unitask run text.chat prompt=--json`},
		{"text.chat", `{"prompt":"@fail:INTERNAL"}`, ``, `unitask run text.chat @@fail:INTERNAL`},
		{"text.chat", `{"prompt":"-"}`, ``, `unitask run text.chat 'prompt:="-"'`},
		{
			"text.chat", `{"messages":[{"role":"user","content":"it's"}]}`, ``,
			`unitask run text.chat 'messages:=[{"content":"it'\''s","role":"user"}]'`,
		},
		{
			"text.chat", `{"messages":[{"role":"user","content":[{"type":"image","image":{"data":"` + strings.Repeat("AAAA", 100) + `","content_type":"image/png"}}]}]}`, ``,
			`unitask run text.chat 'messages:=[{"content":[{"image":{"content_type":"image/png","data":"BASE64 OF THE FILE"},"type":"image"}],"role":"user"}]'`,
		},
		{
			"image.edit", `{"prompt":"bluer","images":[{"url":"https://a.example/x.png"},{"data":"aGk=","content_type":"image/jpeg"}],` +
				`"authorization":{"person":"none"}}`,
			``, `unitask run image.edit bluer images=https://a.example/x.png images=@FILE.jpg authorization.person=none`,
		},
		{
			"image.edit", `{"prompt":"bluer","images":[{"data":"file:a fox.png","content_type":"image/png"}]}`, ``,
			`unitask run image.edit bluer images="@a fox.png"`,
		},
		{"video.generate", `{"prompt":"waves","image":{"artifact":"art_1"}}`, `{"audio":true}`, `unitask run video.generate waves image=art_1 audio=true`},
	} {
		c, _ := directory.Get(catalog.Name(tt.capability))
		got, err := snippet.Command(c.Fields(), api.CreateRequest{
			Capability: tt.capability, Input: json.RawMessage(tt.input), Parameters: json.RawMessage(tt.parameters),
		})
		if err != nil || got != tt.want {
			t.Errorf("got  %s\nwant %s, %v", got, tt.want, err)
		}
	}
}

// TestCommandAt: a command for a service names its address.
func TestCommandAt(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	c, _ := directory.Get("text.chat")
	for base, want := range map[string]string{
		"":                           `unitask run text.chat hi`,
		"https://ai.example.org/a":   `unitask run text.chat hi --base-url https://ai.example.org/a`,
		"https://ai.example.org/a b": `unitask run text.chat hi --base-url "https://ai.example.org/a b"`,
	} {
		got, err := snippet.CommandAt(base, c.Fields(), api.CreateRequest{Capability: "text.chat", Input: json.RawMessage(`{"prompt":"hi"}`)})
		if err != nil || got != want {
			t.Errorf("got  %s\nwant %s, %v", got, want, err)
		}
	}
}

// TestCommandMetadata: a shell gives a command the request's metadata as they are.
func TestCommandMetadata(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	c, _ := directory.Get("text.chat")
	got, err := snippet.CommandAt("https://ai.example.org", c.Fields(), api.CreateRequest{
		Capability: "text.chat", Input: json.RawMessage(`{"prompt":"hi"}`), Metadata: map[string]string{"user": "u-1042", "team": "a=b c", "note": hostile, "empty": ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "sh", "-c", `unitask() { printf '%s\0' "$@"; }`+"\n"+got)
	command.Dir = t.TempDir()
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	want := []string{
		"run", "text.chat", "hi", "--metadata", "empty=", "--metadata", "note=" + hostile, "--metadata", "team=a=b c", "--metadata", "user=u-1042",
		"--base-url", "https://ai.example.org", "",
	}
	if diff := gocmp.Diff(want, strings.Split(string(out), "\x00")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if entries, err := os.ReadDir(command.Dir); err != nil || len(entries) > 0 {
		t.Errorf("a text ran: %v, %v", entries, err)
	}
}

func TestShort(t *testing.T) {
	long := strings.Repeat("A", 300)
	req := request(t, map[string]any{
		"prompt": long, "images": []any{
			map[string]any{"data": long, "content_type": "image/png"},
			map[string]any{"data": "AAAA", "content_type": "image/png"},
			map[string]any{"data": "file:fox.png", "content_type": "image/png"},
		},
	}, nil)
	got, cut, err := snippet.Short(req)
	want := `{"images":[{"content_type":"image/png","data":"BASE64 OF THE FILE"},{"content_type":"image/png","data":"AAAA"},{"content_type":"image/png","data":"BASE64 OF fox.png"}],"prompt":"` + long + `"}`
	if err != nil || !cut || string(got.Input) != want {
		t.Errorf("cut %v, %v: %s", cut, err, got.Input)
	}
}
