package client_test

import (
	"go/build"
	"strings"
	"testing"
)

// TestDependencies: a program that imports this package gets the standard library, and of this module just the reader
// of streams.
func TestDependencies(t *testing.T) {
	seen := map[string]bool{}
	dependencies(t, ".", seen)
	if len(seen) < 10 {
		t.Fatalf("only %d packages found", len(seen))
	}
	for path := range seen {
		if strings.Contains(strings.Split(path, "/")[0], ".") || strings.HasPrefix(path, "unitask/") && path != "unitask/internal/sse" {
			t.Errorf("the package needs %s", path)
		}
	}
}

// dependencies collects the imports of a folder's package and, for those of this module, theirs.
func dependencies(t *testing.T, dir string, seen map[string]bool) {
	t.Helper()
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range p.Imports {
		if seen[path] {
			continue
		}
		seen[path] = true
		if below, ours := strings.CutPrefix(path, "unitask/"); ours {
			dependencies(t, "../"+below, seen)
		}
	}
}
