package unitask_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuaranteesName makes sure that every test that docs/guarantees.md names exists in its package.
func TestGuaranteesName(t *testing.T) {
	text, err := os.ReadFile("docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	named := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[2], "`") {
			continue
		}
		dir := strings.Trim(cells[2], " `")
		tests := quoted.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 {
			t.Errorf("a promise about %s names no test", dir)
		}
		for _, name := range tests {
			named++
			if !hasTest(t, dir, name[1]) {
				t.Errorf("%s has no %s", dir, name[1])
			}
		}
	}
	if named < fewest {
		t.Errorf("only %d tests are named", named)
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
