// Package deploy checks the files that others deploy unitask with: compose.yaml, nginx's files, Kubernetes'
// manifests and the Helm chart. It needs no container and no cluster; of nginx it runs a real one, on loopback.
package deploy_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"unitask/internal/config"
	"unitask/internal/node"
)

// drain is how long the last answers may take after limits.shutdown_grace, as cmd/unitask has it.
const drain = 5 * time.Second

const modules = "../test/npm/node_modules"

type object = map[string]any

// tool returns a program's path. Without it the test is skipped; in CI it fails.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name)
	}
	return path
}

// module returns the path of a file of an npm package, under the same rule.
func module(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(modules, name)
	if _, err := os.Stat(path); err != nil {
		missing(t, path+" (make npm)")
	}
	return path
}

func missing(t *testing.T, name string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s isn't there, and CI must run this test", name)
	}
	t.Skipf("not run: %s isn't there", name)
}

// output runs a program and returns its output. One that fails is the test's end.
func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var problems strings.Builder
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", filepath.Base(name), args, err, problems.String(), out)
	}
	return out
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// documents returns the documents of a YAML text as JSON has them.
func documents(t *testing.T, name string, text []byte) []object {
	t.Helper()
	var found []object
	for d := yaml.NewDecoder(strings.NewReader(string(text))); ; {
		var value any
		err := d.Decode(&value)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if value == nil {
			continue
		}
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var one object
		if err := json.Unmarshal(b, &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found = append(found, one)
	}
}

// at returns the value below members and elements of lists, nil if there isn't one.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(object)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// settings reads a settings file as serve does.
func settings(t *testing.T, text []byte) config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "unitask.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	sources := node.FindSources(file)
	sources.Getenv = nil
	c, _, err := config.Load(sources)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

// TestSyntax parses every YAML and JSON file here, but for the chart's templates, which helm reads.
func TestSyntax(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.Name() == "templates" {
				return filepath.SkipDir
			}
			return err
		}
		if ext := filepath.Ext(path); ext == ".yaml" || ext == ".json" {
			files++
			documents(t, path, mustRead(t, path))
		}
		return nil
	})
	if err != nil || files < 15 {
		t.Fatalf("%d files, %v, want at least 15", files, err)
	}
}
