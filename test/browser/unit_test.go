//go:build unix

package browser_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestModules: the console's modules that touch no page do as their tests say, in node. They stand beside their tests
// there, as modules.
func TestModules(t *testing.T) {
	node, err := exec.LookPath("node")
	need(t, err == nil, "node")
	folder := t.TempDir()
	write := func(name string, body []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("package.json", []byte(`{"type": "module"}`))
	var tests []string
	for _, pattern := range []string{filepath.Join("..", "..", "internal", "server", "console", "static", "*.js"), filepath.Join("unit", "*.test.mjs")} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files of %s, %v", len(files), pattern, err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write(filepath.Base(file), body)
			if filepath.Ext(file) == ".mjs" {
				tests = append(tests, filepath.Base(file))
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), scriptTime)
	defer cancel()
	command := exec.CommandContext(ctx, node, append([]string{"--test", "--test-reporter=spec"}, tests...)...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
