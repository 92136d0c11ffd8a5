package catalog_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
)

// checkDecodeFast checks that the fast lane refuses a body, or decodes it as the general road does, in its own memory.
func checkDecodeFast(t *testing.T, body []byte, lim catalog.Limits) (accepted bool) {
	t.Helper()
	given := bytes.Clone(body)
	got, accepted := catalog.DecodeFast(given, lim)
	if !bytes.Equal(given, body) {
		t.Fatalf("%q was changed to %q", body, given)
	}
	clear(given)
	if !accepted {
		if diff := cmp.Diff(catalog.Request{}, got); diff != "" {
			t.Fatalf("%q isn't accepted, but returned (-want +got):\n%s", body, diff)
		}
		return false
	}
	want, problem := catalog.DecodeGeneral(body, lim)
	if problem != nil {
		t.Fatalf("%q is accepted in spite of %v", body, problem)
	}
	checkBase64(t, got)
	got.Base64 = nil
	if !reflect.DeepEqual(want, got) {
		diff := cmp.Diff(want, got)
		t.Fatalf("%.9999q (-want +got):\n%s", body, diff)
	}
	_ = append(got.Input, "overrun"...)
	_ = append(got.Parameters, "overrun"...)
	if !reflect.DeepEqual(want, got) {
		diff := cmp.Diff(want, got)
		t.Fatalf("the parts of %q share memory (-want +got):\n%s", body, diff)
	}
	return true
}

// checkBase64 checks that the long strings of a request are base64 in its input.
func checkBase64(t *testing.T, r catalog.Request) {
	t.Helper()
	in := jsonread.Sound(r.Input).Passing(r.Base64)
	if in.Skip(); !in.Done() {
		t.Fatalf("%.9999q isn't read to its end, with %d strings known", r.Input, len(r.Base64))
	}
	found := 0
	for _, text := range r.Base64 {
		at := cap(r.Input) - cap(text)
		if at > 0 && at+len(text) < len(r.Input) && &r.Input[at] == &text[0] && r.Input[at-1] == '"' && r.Input[at+len(text)] == '"' && jsonread.IsBase64(text) {
			found++
		}
	}
	if found != len(r.Base64) {
		t.Fatalf("%d of %d strings are base64 in their places", found, len(r.Base64))
	}
}

func TestDecodeFast(t *testing.T) {
	in := func(input string) string { return `{"capability":"x","input":` + input + `}` }
	members := func(n int) string {
		return "{" + strings.Join(namesDown(n), ",") + "}"
	}
	for _, tt := range []struct {
		name, body string
		want       bool
	}{
		{"small", in(`{"prompt":"hello"}`), true},
		{"white space", " {\n\t\"input\" : { \"b\" : [ 1 , -0.5 ,true, null ,\"é\\n\" , [ ] , { } ] } ,\r\n \"capability\": \"x\"} \n", true},
		{"members out of order", in(`{"role":"user","content":"a","b":{"z":1,"y":2},"a":[{"d":1,"c":2}]}`), true},
		{"parameters", `{"parameters":{"b":1,"a":2},"input":{"d":1,"c":2},"capability":"text.chat"}`, true},
		{"escapes outside of the parts", `{"c\u0061pability":"é\u0078\/","input":{}}`, true},
		{"no parts", `{}`, false},
		{"no input", `{"capability":"x"}`, false},
		{"no capability", `{"input":{}}`, false},
		{"an empty capability", `{"capability":"","capability":"x","input":{}}`, false},
		{"a capability twice", `{"capability":"x","input":{},"capability":"y"}`, false},
		{"an input twice", `{"input":{},"capability":"x","input":{}}`, false},
		{"parameters twice", `{"parameters":{},"input":{},"capability":"x","parameters":{}}`, false},
		{"another member", `{"capability":"x","input":{},"model":1}`, false},
		{"a name twice", in(`{"a":1,"a":2}`), false},
		{"a name twice, out of order", in(`{"b":1,"a":2,"b":3}`), false},
		{"a name with an escape", in(`{"\n":1}`), false},
		{"a name beyond ASCII", in(`{"é":1}`), false},
		{"the most members", in(members(16)), true},
		{"too many members", in(members(17)), false},
		{"an escape that isn't needed", in(`{"a":"\u0041"}`), false},
		{"an escape of another form", in(`{"a":"\/"}`), false},
		{"a control character", in("{\"a\":\"\x1f\"}"), false},
		{"a name right before letters beyond ASCII", in(`{"a":"é"}`), true},
		{"a number of another form", in(`{"a":1.0}`), false},
		{"a number too large", in(`{"a":1234567890123456}`), false},
		{"an input that is no object", in(`[]`), false},
		{"parameters that are no object", `{"capability":"x","input":{},"parameters":null}`, false},
		{"words run on", in(`{"a":truefalse}`), false},
		{"half a word", in(`{"a":tru}`), false},
		{"a comma too many", in(`{"a":[1,]}`), false},
		{"a comma too many behind a member", in(`{"a":1,}`), false},
		{"a comma at the end", `{"capability":"x","input":{},}`, false},
		{"a comma too few", in(`{"a":[1 1]}`), false},
		{"the wrong end", in(`{"a":[1}]`), false},
		{"no colon", in(`{"a" 1}`), false},
		{"more behind", in(`{}`) + "x", false},
		{"two values", in(`{}`) + "{}", false},
		{"a zero byte behind", in(`{}`) + "\x00", false},
		{"a list", "[" + in(`{}`) + "]", false},
		{"cut off", in(`{}`)[:20], false},
		{"nothing", "", false},
		{"invalid UTF-8", in("{\"a\":\"\xff\"}"), false},
		{"deepest", in(strings.Repeat(`{"a":`, 6) + `[]` + strings.Repeat(`}`, 6)), true},
		{"too deep", in(strings.Repeat(`{"a":`, 7) + `[]` + strings.Repeat(`}`, 7)), false},
		{"large", in(`{"a":"` + strings.Repeat("b", 30_000) + `"}`), true},
		{"larger", in(`{"a":"` + strings.Repeat("b", 4_000_000) + `"}`), true},
		{"many values", in(`{"a":[` + strings.Repeat("1,", 1<<15-30) + `1]}`), true},
		{"too many values", in(`{"a":[` + strings.Repeat("1,", 1<<15-16) + `1]}`), false},
	} {
		if got := checkDecodeFast(t, []byte(tt.body), catalog.Limits{Depth: 8}); got != tt.want {
			t.Errorf("%s: accepted %v, want %v", tt.name, got, tt.want)
		}
	}
	if in := in(strings.Repeat(`{"a":`, 1000) + `1` + strings.Repeat(`}`, 1000)); checkDecodeFast(t, []byte(in), catalog.Limits{}) {
		t.Error("without a limit anything deep is accepted")
	}
	if in := in(`{}`); checkDecodeFast(t, []byte(in), catalog.Limits{Depth: 1}) {
		t.Error("an input is accepted where nothing may be nested")
	}
}

// namesDown returns n members in descending order.
func namesDown(n int) []string {
	var all []string
	for i := range n {
		all = append(all, `"`+string(rune('z'-i))+`":{}`)
	}
	return all
}

// TestDecodeFastAtRandom truncates, repeats and changes random bodies.
func TestDecodeFastAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const others = "{}[]\",: \\n0-.\xff"
	accepted := 0
	for range 8_000 {
		var body []byte
		for i, name := range []string{"capability", "input", "parameters", "metadata"} {
			value := any("text.chat")
			switch {
			case i == 3 && random.IntN(2) == 0:
				continue
			case i == 3 && random.IntN(8) > 0:
				value = map[string]string{"team": "search", "note": strings.Repeat("é", random.IntN(600))}
			case i > 0:
				value = randomValue(random, 1)
			}
			raw, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			part := append(append([]byte(`"`+name+`":`), raw...), ',')
			if random.IntN(2) == 0 {
				body = append(body, part...)
			} else {
				body = append(part, body...)
			}
		}
		body = append(append([]byte{'{'}, bytes.TrimSuffix(body, []byte(","))...), '}')
		if random.IntN(2) == 0 {
			var indented bytes.Buffer
			if err := json.Indent(&indented, body, "", "\t"); err != nil {
				t.Fatal(err)
			}
			body = indented.Bytes()
		}
		if checkDecodeFast(t, body, catalog.Limits{Depth: 8}) {
			accepted++
		}
		switch at := random.IntN(len(body)); random.IntN(3) {
		case 0:
			body = body[:at]
		case 1:
			body = append(body[:at:at], body[random.IntN(len(body)):]...)
		default:
			body[at] = others[random.IntN(len(others))]
		}
		checkDecodeFast(t, body, catalog.Limits{Depth: 8})
	}
	if accepted < 800 {
		t.Errorf("only %d were accepted", accepted)
	}
}

// unordered is an object whose members are written in the order given.
type unordered struct {
	names  []string
	values []any
}

func (o unordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range o.names {
		value, err := json.Marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(append(b, '"'), name...), `":`...), value...)
	}
	return append(b, '}'), nil
}

// randomValue returns a value for json.Marshal, at the top mostly an object.
func randomValue(random *rand.Rand, depth int) any {
	n := random.IntN(9 - depth)
	if depth == 1 && random.IntN(20) > 0 {
		n = 7
	}
	switch n {
	case 0:
		return []any{"", "a", "é\n\"", "🦊", "\u2028", "<"}[random.IntN(6)]
	case 1:
		return random.IntN(1000) - 500
	case 2:
		return []any{0.5, -1.25, 1e30, 1e-9, 123456.789}[random.IntN(5)]
	case 3:
		return []any{true, false, nil}[random.IntN(3)]
	case 4:
		list := []any{}
		for range random.IntN(4) {
			list = append(list, randomValue(random, depth+1))
		}
		return list
	default:
		var o unordered
		for range random.IntN(6) {
			o.names = append(o.names, []string{"a", "b", "c", "content", "role", "messages", "", "é", "prompt"}[random.IntN(9)])
			o.values = append(o.values, randomValue(random, depth+1))
		}
		return o
	}
}

// TestDecodeFastLargeMember sorts a large member among small ones, from every place to every other.
func TestDecodeFastLargeMember(t *testing.T) {
	base64 := `"` + strings.Repeat("ABCD", 5_000) + `"`
	small := []string{`"f":[true,` + base64 + `]`, `"b":{"y":1,"x":2}`, `"d":"four"`}
	for _, large := range []string{`"1"`, `"` + strings.Repeat("0123456 89", 60) + `"`, `"` + strings.Repeat("0123456 89", 7_000) + `"`, base64} {
		for _, name := range []string{"a", "c", "e", "g"} {
			large := `"` + name + `":` + large
			for at := range len(small) + 1 {
				body := `{"capability":"x","input":{` + strings.Join(slices.Insert(slices.Clone(small), at, large), ",") + `}}`
				if !checkDecodeFast(t, []byte(body), catalog.Limits{}) {
					t.Errorf("%q at place %d, of %d bytes, isn't accepted", name, at, len(large))
				}
			}
		}
	}
}
