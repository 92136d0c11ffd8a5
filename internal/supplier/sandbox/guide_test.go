package sandbox_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/sandbox"
)

var update = flag.Bool("update", false, "write docs/sandbox.md")

func TestGuideIsTheDocumentation(t *testing.T) {
	const path = "../../../docs/sandbox.md"
	got := sandbox.Guide()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/sandbox.md is not what the table says (-update writes it):\n%s", diff)
	}
}
