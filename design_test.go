package unitask_test

import (
	gocmp "cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"unitask/internal/fault"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the drawing and the table in docs/design/packages.md")

// TestDesignPackages compares docs/design/packages.md with the packages, their comments and the table of layers.
func TestDesignPackages(t *testing.T) {
	const page = "docs/design/packages.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := walk(t, ".")
	want := replaceBlock(t, string(text), "drawing", "```\n"+designDrawing(found)+"```\n")
	want = replaceBlock(t, want, "packages", designTable(found))
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s is out of date; run go test . -run TestDesignPackages -update\n%s", page, diff)
	}
}

// replaceBlock replaces the generated lines between the comments that name the block.
func replaceBlock(t *testing.T, text, name, lines string) string {
	t.Helper()
	head, foot := "<!-- "+name+": written by go test . -run TestDesignPackages -update -->\n", "<!-- end of "+name+" -->"
	before, rest, begins := strings.Cut(text, head)
	_, after, ends := strings.Cut(rest, foot)
	if !begins || !ends {
		t.Fatalf("the page has no block %q", name)
	}
	return before + head + lines + foot + after
}

// sortedByFloor returns the packages from the lowest floor to the highest.
func sortedByFloor(found map[string]pkg) []string {
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return gocmp.Or(layers[a].floor-layers[b].floor, strings.Compare(a, b))
	})
}

// designDrawing draws each floor as a line of packages, the highest first.
func designDrawing(found map[string]pkg) string {
	const width = 110
	floors := map[int][]string{}
	for _, dir := range sortedByFloor(found) {
		floors[layers[dir].floor] = append(floors[layers[dir].floor], dir)
	}
	var b strings.Builder
	for _, floor := range slices.Backward(slices.Sorted(maps.Keys(floors))) {
		line := fmt.Sprintf("%d ", floor)
		for _, dir := range floors[floor] {
			if len(line)+len(dir)+2 > width {
				fmt.Fprintln(&b, strings.TrimRight(line, " "))
				line = "  "
			}
			line += " " + dir + " "
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}

func designTable(found map[string]pkg) string {
	var b strings.Builder
	b.WriteString("| floor | package | what it does | may import |\n|---|---|---|---|\n")
	for _, dir := range sortedByFloor(found) {
		l := layers[dir]
		may := slices.Clone(l.may)
		if l.below || !found[dir].source {
			may = append([]string{"all below"}, may...)
		}
		name := "`" + found[dir].at + "`"
		if l.leaf {
			name += " (leaf)"
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", l.floor, name, found[dir].comment, gocmp.Or(strings.Join(may, ", "), "–"))
	}
	return b.String()
}

// mapPath matches a file or a directory that docs/design.md names.
var mapPath = regexp.MustCompile("`((?:client|cmd|internal|docs|test|packaging)/[A-Za-z0-9_./-]+)`")

// TestDesignMap checks that the map of the code names files and directories that exist.
func TestDesignMap(t *testing.T) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := mapPath.FindAllStringSubmatch(string(text), -1)
	if len(paths) < 40 {
		t.Fatalf("docs/design.md names only %d paths", len(paths))
	}
	for _, p := range paths {
		if _, err := os.Stat(p[1]); err != nil {
			t.Errorf("docs/design.md: %v", err)
		}
	}
}

// TestDocsNameRetriedCodes: the client's guide names each code after which a request is sent again.
func TestDocsNameRetriedCodes(t *testing.T) {
	raw, err := os.ReadFile("docs/client.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range fault.Codes() {
		if code.Retryable() && !strings.Contains(string(raw), "`"+string(code)+"`") {
			t.Errorf("docs/client.md doesn't name %s", code)
		}
	}
}
