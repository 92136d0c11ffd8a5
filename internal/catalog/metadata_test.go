package catalog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

func withMetadata(metadata string) []byte {
	return []byte(`{"capability":"text.chat","input":{"prompt":"hi"},"metadata":` + metadata + `}`)
}

// pairs returns the JSON of so many pairs.
func pairs(n int) string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("n%02d", i)] = "x"
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// TestMetadata: what is within the bounds is read as it was meant, by either road, and the fingerprint doesn't see it.
func TestMetadata(t *testing.T) {
	longest := strings.Repeat("n", catalog.MaxMetadataName)
	plain := mustDecode(t, `{"capability":"text.chat","input":{"prompt":"hi"}}`)
	for _, tt := range []struct {
		name, metadata string
		want           map[string]string
		fast           bool
	}{
		{"one", `{"team":"search"}`, map[string]string{"team": "search"}, true},
		{"none", `{ }`, nil, true},
		{"any order", `{"b":"1","a":""}`, map[string]string{"a": "", "b": "1"}, true},
		{"every character of names", `{"aZ09_-":"x"}`, map[string]string{"aZ09_-": "x"}, true},
		{"characters, not bytes", `{"` + longest + `":"` + strings.Repeat("🦊", 512) + `"}`, map[string]string{longest: strings.Repeat("🦊", 512)}, true},
		{"a quote", `{"a":"\"b\""}`, map[string]string{"a": `"b"`}, true},
		{"another spelling", `{"\u0061":"\u0062\/"}`, map[string]string{"a": "b/"}, false},
		{"the most pairs", pairs(16), metadataOf(t, pairs(16)), true},
	} {
		body := withMetadata(tt.metadata)
		if fast := checkDecodeFast(t, body, catalog.Limits{}); fast != tt.fast {
			t.Errorf("%s: by the fast lane %v, want %v", tt.name, fast, tt.fast)
		}
		got := mustDecode(t, string(body))
		if got.Fingerprint() != plain.Fingerprint() {
			t.Errorf("%s: it is part of the fingerprint", tt.name)
		}
		want := plain
		want.Metadata = tt.want
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func metadataOf(t *testing.T, raw string) (m map[string]string) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMetadataRefused(t *testing.T) {
	const (
		letters = "must have a name of the characters A to Z, a to z, 0 to 9, _ and -"
		length  = "must have a name of 1 to 64 characters"
	)
	row := func(field, problem string) []fault.Detail { return []fault.Detail{{Field: field, Message: problem}} }
	for _, tt := range []struct {
		name, metadata string
		want           []fault.Detail
	}{
		{"null", `null`, row("metadata", "must be an object")},
		{"a list", `["a"]`, row("metadata", "must be an object")},
		{"too many pairs", pairs(17), row("metadata", "must have at most 16 pairs, this has 17")},
		{"a number", `{"team":1}`, row("metadata.team", "must be a string")},
		{"a number beyond all", `{"team":9007199254740993}`, row("metadata.team", "must be a string")},
		{"null as a text", `{"team":null}`, row("metadata.team", "must be a string")},
		{"an object", `{"team":{"a":"b"},"user":["c"]}`, slices.Concat(row("metadata.team", "must be a string"), row("metadata.user", "must be a string"))},
		{"no name", `{"":"a"}`, row(`metadata.""`, length)},
		{"a long name", `{"` + strings.Repeat("n", 65) + `":"a"}`, row("metadata."+strings.Repeat("n", 64)+"…", length)},
		{"a dot", `{"a.b":"c"}`, row(`metadata."a.b"`, letters)},
		{"white space", `{"a b":"c"}`, row(`metadata."a b"`, letters)},
		{"beyond ASCII", `{"é":"c"}`, row("metadata.é", letters)},
		{"a long text", `{"a":"` + strings.Repeat("é", 513) + `"}`, row("metadata.a", "must have at most 512 characters")},
		{"a control character", `{"a":"b\u0000"}`, row("metadata.a", "must have no control characters")},
		{"another one", `{"a":"b\u009b"}`, row("metadata.a", "must have no control characters")},
		{"a name twice", `{"a":"b","a":"c"}`, row("metadata.a", "is given more than once")},
	} {
		checkDecodeFast(t, withMetadata(tt.metadata), catalog.Limits{})
		_, problem := catalog.Decode(withMetadata(tt.metadata), catalog.Limits{})
		if problem == nil {
			t.Errorf("%s is taken", tt.name)
			continue
		}
		if diff := cmp.Diff(tt.want, problem.Details); diff != "" || problem.Code != fault.InvalidRequest {
			t.Errorf("%s: %s (-want +got):\n%s", tt.name, problem.Code, diff)
		}
	}
	many := `{"é0":"a"`
	for i := range 50 {
		many += fmt.Sprintf(`,"é%d":"a"`, i+1)
	}
	if _, problem := catalog.Decode(withMetadata(many+"}"), catalog.Limits{}); problem == nil || len(problem.Details) != 20 {
		t.Errorf("fifty faults: %v", problem)
	}
}

// TestMetadataCostsNothingElsewhere: a request without metadata is decoded with no more allocations than its parts need.
func TestMetadataCostsNothingElsewhere(t *testing.T) {
	body := []byte(`{"capability":"text.chat","input":{"prompt":"hi"}}`)
	if n := testing.AllocsPerRun(100, func() { _, _ = catalog.Decode(body, catalog.Limits{}) }); n > 3 {
		t.Errorf("%v allocations, want 3", n)
	}
}
