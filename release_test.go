package unitask_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestUnit measures the sandbox of the packages' service, if systemd's own tool is there.
func TestUnit(t *testing.T) {
	const most = 2.0
	tool, err := exec.LookPath("systemd-analyze")
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal("no systemd-analyze here")
	default:
		t.Skip("not run: no systemd-analyze here")
	}
	cmd := exec.CommandContext(t.Context(), tool, "security", "--offline=true", "--no-pager", "packaging/unitask.service")
	out, err := cmd.CombinedOutput()
	found := regexp.MustCompile(`Overall exposure level for unitask\.service: ([0-9.]+)`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("%v, no level in %s", err, out)
	}
	level, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || level > most {
		t.Errorf("exposure level %s, %v, want at most %.1f\n%s", found[1], err, most, out)
	}
}

// TestActionsArePinned: a tag of an action can be moved to other code, a commit can't.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v, want at least 1", len(files), err)
	}
	uses, pinned := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`), regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := uses.FindAllSubmatch(text, -1)
		if len(all) == 0 {
			t.Errorf("%s uses no action", file)
		}
		for _, one := range all {
			if !pinned.Match(one[1]) {
				t.Errorf("%s: %q isn't pinned by its commit, with the version beside it", file, one[1])
			}
		}
	}
}
