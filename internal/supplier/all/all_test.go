package all_test

import (
	"slices"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/supplier/all"
)

func TestKinds(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range directory.All() {
		known[string(c.Name)] = true
	}
	var names []string
	for _, k := range all.Kinds() {
		names = append(names, k.Name)
		for _, c := range k.Capabilities {
			if !known[c] {
				t.Errorf("kind %s serves %s, which the directory lacks", k.Name, c)
			}
		}
	}
	if len(names) == 0 || !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("kinds %v: want each once, by name", names)
	}
}
