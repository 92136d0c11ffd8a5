package unitask_test

import (
	gocmp "cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of packages in docs/design.md")

// TestDesignTable holds docs/design.md to the packages that exist, their comments and the table.
func TestDesignTable(t *testing.T) {
	const page, head, foot = "docs/design.md", "TestDesignTable -update -->\n", "<!-- end of packages -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), head)
	_, after, found := strings.Cut(rest, foot)
	if !ok || !found {
		t.Fatalf("%s has no place for the packages", page)
	}
	want := before + head + designTable(walk(t, ".")) + foot + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s is out of date; run go test . -run TestDesignTable -update\n%s", page, diff)
	}
}

func designTable(found map[string]pkg) string {
	dirs := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return gocmp.Or(layers[a].floor-layers[b].floor, strings.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("| floor | package | what it does | may import |\n|---|---|---|---|\n")
	for _, dir := range dirs {
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
