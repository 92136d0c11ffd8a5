package supplier_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
)

// TestUnhonoured: while the members that are refused are looked for, the others stay as they are, to the byte: a large
// one costs no more than a copy, and one that is refused for its length keeps it.
func TestUnhonoured(t *testing.T) {
	seen := map[string]bool{}
	kind := supplier.Kind{Refuses: func(r supplier.Request) string {
		seen[string(r.Input)] = true
		var in map[string]json.RawMessage
		if err := json.Unmarshal(r.Input, &in); err != nil {
			t.Fatal(err)
		}
		if _, has := in["mask"]; has {
			return "mask"
		}
		return ""
	}}
	r := supplier.Request{Input: json.RawMessage(`{"mask":1,"prompt":"<a&b>","sizes":[ 1]}`), Parameters: json.RawMessage(`{"n":2}`)}
	if diff := cmp.Diff([]string{"input.mask"}, supplier.Unhonoured(kind, nil, r)); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
	want := map[string]bool{
		string(r.Input): true, `{"prompt":"<a&b>","sizes":[ 1]}`: true, `{"mask":1,"sizes":[ 1]}`: true, `{"mask":1,"prompt":"<a&b>"}`: true,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("inputs (-want +got)\n%s", diff)
	}
}
