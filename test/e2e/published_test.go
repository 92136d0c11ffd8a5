package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/supplier"
	"unitask/internal/supplier/fal"
)

// sdkRequest is one request as an adapter sends it, and the type that the supplier's own library has for it.
type sdkRequest struct {
	kind              supplier.Kind
	model             string
	capability        string
	input, parameters string
	library, name     string // a module and the type's name in it
}

func sdkRequests() []sdkRequest {
	return []sdkRequest{
		{fal.Kind(), "fal-ai/flux/schnell", "image.generate", `{"prompt":"A fox"}`, `{"n":2,"size":"512x512","format":"png","seed":7}`, "@fal-ai/client/endpoints", "FluxSchnellInput"},
		{fal.Kind(), "fal-ai/flux/schnell", "image.generate", `{"prompt":"A fox"}`, `{"aspect_ratio":"16:9"}`, "@fal-ai/client/endpoints", "FluxSchnellInput"},
	}
}

// TestPublishedTypes has the compiler of the supplier's own library judge the adapter's requests: a member that the
// library doesn't know, a value of another type and a missing one are errors. The control holds one of each and must
// fail. For a supplier with a document of its whole format, the adapter's own tests use that.
func TestPublishedTypes(t *testing.T) {
	t.Parallel()
	compiler := npmTool(t, "tsc")
	modules, err := filepath.Abs("../npm/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@fal-ai", "client")); err != nil {
		missing(t, "the supplier's library is not installed (make npm)")
	}
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	control := declared("control", "@fal-ai/client/endpoints", "FluxSchnellInput",
		`{}`, `{"prompt":"A fox","num_image":2}`, `{"prompt":"A fox","num_images":"2"}`)
	for i, p := range sdkRequests() {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("sent%d.ts", i)), declared(p.capability, p.library, p.name, p.body(t)))
	}
	writeFile(t, filepath.Join(dir, "control.ts"), control)
	writeFile(t, filepath.Join(dir, "tsconfig.json"), `{"compilerOptions":{"noEmit":true,"strict":true,"skipLibCheck":true,
		"target":"es2022","module":"esnext","moduleResolution":"bundler","types":[]},"include":["*.ts"]}`)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, compiler, "--project", dir)
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput() // the control fails it
	faults := 0
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.HasPrefix(line, "control.ts"):
			faults++
		case strings.Contains(line, "error TS"):
			t.Error(strings.TrimSpace(line))
		}
	}
	if faults != 3 {
		t.Errorf("the control has %d faults, want 3:\n%s", faults, out)
	}
}

// declared is a program that gives each body the type.
func declared(what, library, name string, bodies ...string) string {
	text := fmt.Sprintf("// %s\nimport type { %s as T } from %q;\n", what, name, library)
	for i, body := range bodies {
		text += fmt.Sprintf("export const body%d: T = %s;\n", i, body)
	}
	return text
}

// body returns the adapter's request.
func (p sdkRequest) body(t *testing.T) string {
	t.Helper()
	var got []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	a, err := p.kind.New(supplier.Config{Name: "published", BaseURL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	request := supplier.Request{
		Capability: p.capability, Model: p.model, SubmitKey: "task_0/1",
		Input: json.RawMessage(p.input), Parameters: json.RawMessage(p.parameters),
	}
	if why := supplier.Refuses(p.kind, a, request); why != "" {
		t.Fatalf("%s refuses %s: %s", p.kind.Name, p.capability, why)
	}
	if _, err := a.Submit(t.Context(), request); supplier.AsError(err).Status != http.StatusServiceUnavailable {
		t.Fatalf("%s %s: %v", p.kind.Name, p.capability, err)
	}
	return string(got)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
