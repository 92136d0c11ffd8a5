package inbound_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/door/inbound"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
)

func taken([]byte) string { return "" }

// rules are those of the tests' requests.
var rules = inbound.Rules{
	"name": taken, "list": taken, "inner": taken, "flag": taken,
	"n": inbound.Only("1", `"one"`), "gone": inbound.Refused("is not taken; name takes its place"),
}

var innerRules = inbound.Rules{"kind": taken, "text": taken}

// read reads a request of those rules as a door does, and returns the rows of what is wrong with it.
func read(t *testing.T, request string, brackets bool) []fault.Detail {
	t.Helper()
	b := inbound.Body{Brackets: brackets}
	values, err := b.Object([]byte(request), rules)
	if err != nil {
		return fault.From(err).Details
	}
	b.Text(values, "", "name")
	b.Flag(values, "", "flag")
	if inner := values["inner"]; inner != nil {
		b.Text(b.Members(inner, "inner", innerRules), "inner", "text")
	}
	if list := values["list"]; list != nil {
		b.List(list, "list", func(i int, value []byte, at string) {
			if at != b.Element("list", i) {
				t.Errorf("element %d is at %s", i, at)
			}
			if kind, ok := b.Kind(value, at, "kind", i == 0); ok {
				given := b.Members(value, at, innerRules)
				if said, _ := inbound.TextOf(given["kind"]); string(said) != kind {
					t.Errorf("the kind of %s is %q", value, kind)
				}
			}
		})
	}
	if err := b.Err(); err != nil {
		return fault.From(err).Details
	}
	return nil
}

// TestBody names each member that is at fault, and each fault, in the order of the request.
func TestBody(t *testing.T) {
	long := strings.Repeat("é", 40)
	for request, want := range map[string][]fault.Detail{
		`{"name":"a"}`: nil,
		`{"name":"a","n":null,"gone":null,"other":null,"flag":null,"inner":null}`:              nil,
		`{"name":"a","n":1.0,"flag":false}`:                                                    nil,
		`{"name":"a","n":"\u006fne","flag":true,"inner":{"text":""},"list":[{},{"kind":"k"}]}`: nil,

		`[]`:                    {{Field: "body", Message: "must be a JSON object"}},
		`"name"`:                {{Field: "body", Message: "must be a JSON object"}},
		`{"name":`:              {{Field: "body", Message: "is not valid JSON: it ends too early"}},
		`{"name":"a","name":1}`: {{Field: "name", Message: "is given more than once"}},
		`{}`:                    {{Field: "name", Message: "is required"}},
		`{"name":null}`:         {{Field: "name", Message: "is required"}},
		`{"name":{"name":"a"}}`: {{Field: "name", Message: "must be a string"}},

		`{"nom":"a","name":"a"}`:                 {{Field: "nom", Message: "is not known here"}},
		`{"name":"a","` + long + `":1}`:          {{Field: strings.Repeat("é", 32) + "…", Message: "is not known here"}},
		`{"name":"a","gone":[]}`:                 {{Field: "gone", Message: "is not taken; name takes its place"}},
		`{"name":"a","n":2,"flag":1}`:            {{Field: "n", Message: `can't be honoured here; only 1 or "one" is taken`}, {Field: "flag", Message: "must be true or false"}},
		`{"name":"a","inner":"b"}`:               {{Field: "inner", Message: "must be an object"}, {Field: "inner.text", Message: "is required"}},
		`{"name":"a","inner":{"text":5,"x":{}}}`: {{Field: "inner.x", Message: "is not known here"}, {Field: "inner.text", Message: "must be a string"}},
		`{"name":"a","list":{}}`:                 {{Field: "list", Message: "must be a list"}},
		`{"name":"a","list":[[],{},{"kind":5},{"kind":null},{"kind":"k","x":1}]}`: {
			{Field: "list.0", Message: "must be an object"},
			{Field: "list.1.kind", Message: "is required"},
			{Field: "list.2.kind", Message: "must be a string"},
			{Field: "list.3.kind", Message: "must be a string"},
			{Field: "list.4.x", Message: "is not known here"},
		},
	} {
		if diff := cmp.Diff(want, read(t, request, false)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", request, diff)
		}
	}
	got := read(t, `{"name":"a","list":[{"kind":null},{"kind":"k","x":1}]}`, true)
	if diff := cmp.Diff([]fault.Detail{{Field: "list[1].x", Message: "is not known here"}}, got); diff != "" {
		t.Errorf("in brackets (-want +got):\n%s", diff)
	}
}

// TestBounds: an error has twenty rows at most, of which its message tells three, and a body that is nested too deep is
// refused as a whole.
func TestBounds(t *testing.T) {
	b := inbound.Body{}
	if err := b.Err(); err != nil {
		t.Errorf("without a problem: %v", err)
	}
	many := make(map[string]int, 100)
	for i := range 100 {
		many[fmt.Sprintf("x%02d", i)] = i
	}
	raw, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Object(raw, rules); err != nil {
		t.Fatal(err)
	}
	e := fault.From(b.Err())
	if e.Code != fault.InvalidRequest || len(e.Details) != 20 || e.Message != "x00 is not known here; x01 is not known here; x02 is not known here; and 17 more" {
		t.Errorf("of a hundred unknown members: %d rows, %s %q", len(e.Details), e.Code, e.Message)
	}
	deep := `{"inner":` + strings.Repeat(`[`, 1000) + strings.Repeat(`]`, 1000) + `}`
	if _, err := new(inbound.Body).Object([]byte(deep), rules); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("nested a thousand deep: %v", err)
	}
}

// TestCopy writes the members that are there, as they were written.
func TestCopy(t *testing.T) {
	b := inbound.Body{}
	values, err := b.Object([]byte(`{"name":"a\u0062", "list": [1.50, {}]}`), rules)
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	w := jsonwrite.New(1 << 6)
	w.Begin('{')
	for _, name := range []string{"name", "list", "inner"} {
		inbound.Copy(w, values, name, "my_"+name)
	}
	w.End('}')
	if out, err := w.Bytes(); string(out) != `{"my_name":"a\u0062","my_list":[1.50, {}]}` || err != nil {
		t.Errorf("%s, %v", out, err)
	}
	if said := b.Text(values, "", "name"); string(said) != "ab" {
		t.Errorf("the name is %q", said)
	}
}

// FuzzMembers: whatever a request has, each of its members is absent, noted by its name, or handed on as it was written.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"name":"a","n":2,"other":null}`))
	f.Add([]byte(`{"nom":{"a":[1]},"":0,"gone":true}`))
	f.Add([]byte(`{"n":[{"n":1}], "list":[null]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		b := inbound.Body{}
		values, err := b.Object(body, rules)
		var all map[string]json.RawMessage
		if err != nil {
			return
		}
		if err := json.Unmarshal(body, &all); err != nil {
			t.Fatalf("what Go can't read is taken: %v", err)
		}
		noted := map[string]bool{}
		if err := b.Err(); err != nil {
			for _, d := range fault.From(err).Details {
				noted[d.Field] = true
			}
		}
		for name, value := range all {
			got, ok := values[name]
			switch absent := string(value) == "null"; {
			case ok && (absent || string(got) != string(value) || rules[name] == nil):
				t.Errorf("%q is %s of %s", name, got, value)
			case !ok && !absent && !noted[inbound.Under("", name)] && len(noted) < 20:
				t.Errorf("%q is passed over", name)
			}
		}
	})
}
