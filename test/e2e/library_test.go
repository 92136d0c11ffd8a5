package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"unitask/test/fixture"
)

var goExample = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestGoLibrary runs the quickstart of the Go library in a module of its own, which has a copy of the library by a replace,
// and compiles the README's other examples. No other module is downloaded.
func TestGoLibrary(t *testing.T) {
	t.Parallel()
	need(t, "go")
	root := fixture.Must(filepath.Abs("../.."))(t)
	examples := goExample.FindAllStringSubmatch(string(fixture.Must(os.ReadFile(filepath.Join(root, "client", "README.md")))(t)), -1)
	if len(examples) < 5 {
		t.Fatalf("%d examples in the library's README", len(examples))
	}
	h := newHost(t).start()
	dir, copied := t.TempDir(), t.TempDir()
	for _, part := range []string{"client", "internal/sse"} {
		if err := os.CopyFS(filepath.Join(copied, part), os.DirFS(filepath.Join(root, part))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		writeFile(t, filepath.Join(copied, name), string(fixture.Must(os.ReadFile(filepath.Join(root, name)))(t)))
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "UNITASK_BASE_URL="+h.Base, "UNITASK_API_KEY="+h.key)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("mod", "init", "example.com/program")
	run("mod", "edit", "-require=unitask@v0.0.0", "-replace=unitask="+copied)
	writeFile(t, filepath.Join(dir, "main.go"), examples[0][1])
	said := run("run", ".")
	if !strings.Contains(strings.ToLower(said), "hello") || !strings.HasSuffix(strings.TrimSpace(said), " USD") {
		t.Errorf("the quickstart printed %q", said)
	}
	wantPicture(t, filepath.Join(dir, "fox.png"), 1024, 1024)

	program := "package main\n\nimport (\n\"context\"\n\"fmt\"\n\"net/http\"\n\"os\"\n\n\"unitask/client\"\n)\n\nvar _, _, _ = fmt.Print, http.NoBody, os.Stdin\n\nfunc enqueue(...string) {}\n"
	for i, example := range examples[1:] {
		program += fmt.Sprintf("\nfunc example%d(ctx context.Context, c *client.Client, file *os.File) error {\n%s\nreturn nil\n}\n", i, used(example[1]))
	}
	writeFile(t, filepath.Join(dir, "others.go"), program)
	run("build", "-o", os.DevNull, ".")
}

var assigned = regexp.MustCompile(`(?m)^(\w+)(?:, (\w+))? :=`)

// used has a use of each variable of an example.
func used(code string) string {
	for _, names := range assigned.FindAllStringSubmatch(code, -1) {
		for _, name := range names[1:] {
			if name != "" {
				code += "\n_ = " + name
			}
		}
	}
	return code
}
