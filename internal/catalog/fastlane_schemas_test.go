package catalog_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"unitask/internal/catalog"
)

// TestFastLaneRandomSchemas tries random schemas, as an operator may add any: each value that the fast lane accepts is
// valid.
func TestFastLaneRandomSchemas(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	accepted, refused := 0, 0
	for range 600 {
		s := schemaWriter{random}
		schema := s.schema()
		verdicts, err := catalog.Verdicts(schema)
		if err != nil {
			refused++
			continue
		}
		for range 40 {
			value := []byte(s.value(3))
			if is, valid := verdicts(value); is && !valid {
				t.Fatalf("%s\n%s is accepted", schema, value)
			} else if is {
				accepted++
			}
		}
	}
	if accepted < 800 || refused > 200 {
		t.Errorf("%d values were accepted, %d schemas refused", accepted, refused)
	}
}

// schemaWriter writes random schemas of every keyword, and small values.
type schemaWriter struct{ random *rand.Rand }

func (s schemaWriter) pick(from ...string) string { return from[s.random.IntN(len(from))] }

func (s schemaWriter) schema() []byte {
	members := []string{`"type":"object"`, s.properties(2)}
	for range s.random.IntN(3) {
		members = append(members, s.keyword(2))
	}
	members = append(members, `"$defs":{"t":`+s.part(1)+`,"u":`+s.part(1)+`}`)
	return s.join(members)
}

// join makes an object of members with different names.
func (s schemaWriter) join(members []string) []byte {
	all := map[string]json.RawMessage{}
	for _, m := range members {
		_ = json.Unmarshal([]byte("{"+m+"}"), &all)
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return b
}

func (s schemaWriter) properties(depth int) string {
	var all []string
	for _, name := range []string{"a", "b", "c"} {
		all = append(all, `"`+name+`":`+s.part(depth-1))
	}
	return `"properties":{` + strings.Join(all, ",") + `}`
}

func (s schemaWriter) part(depth int) string {
	var members []string
	switch s.random.IntN(8) {
	case 0:
		members = append(members, `"$ref":"#/$defs/`+s.pick("t", "u")+`"`)
	case 1:
		return s.pick("true", "false", "{}", `{"type":["string","null"]}`, `{"const":1}`)
	case 2, 3:
		if depth > 0 {
			members = append(members, `"type":"object"`, s.properties(depth))
			break
		}
		fallthrough
	case 4:
		members = append(members, `"type":"array"`)
		if depth > 0 {
			members = append(members, `"items":`+s.part(depth-1))
		}
	case 5:
		if depth > 0 {
			return `{"type":"object","properties":{"a":{"type":"string"},"b":` + s.part(depth-1) + `,"c":` + s.part(depth-1) + `},"allOf":[` +
				s.branch() + "," + s.branch() + `]}`
		}
		return `{"type":"string","contentEncoding":"base64"}`
	default:
		members = append(members, `"type":`+s.pick(`"string"`, `"boolean"`, `"number"`, `"integer"`, `["string","array"]`, `["null","integer"]`, `["object","string"]`))
	}
	for range s.random.IntN(3) {
		members = append(members, s.keyword(depth))
	}
	return string(s.join(members))
}

// branch is a case of an object whose member a tells its kind, or nearly one.
func (s schemaWriter) branch() string {
	return `{"if":{"properties":{"a":{` + s.pick(`"const":"a"`, `"const":"a"`, `"const":"b"`, `"enum":["a"]`, `"const":"a","minLength":2`) + `}}` +
		s.pick(`,"required":["a"]`, `,"required":["a"]`, `,"required":["a"]`, "", `,"required":["b"]`) + `},"then":{"required":` + s.names() +
		`,"properties":{"` + s.pick("b", "c", "d") + `":` + s.pick("false", "false", "true", `{"type":"string"}`) + `}}` + s.pick("", "", "", `,"else":false`) + `}`
}

func (s schemaWriter) names() string {
	return s.pick(`["a"]`, `["b"]`, `["a","b"]`, `["c","a"]`, `[]`, `["d"]`)
}

func (s schemaWriter) keyword(depth int) string {
	count, bound := s.pick("0", "1", "2", "3"), s.pick("-1", "0", "0.5", "1", "2", "1e2")
	branches := `[{"required":` + s.names() + `},{"required":` + s.names() + s.pick("", "", "", `,"minProperties":2`) + `}]`
	return s.pick(
		`"minLength":`+count, `"maxLength":`+count, `"minItems":`+count, `"maxItems":`+count, `"minimum":`+bound, `"maximum":`+bound,
		`"enum":["a","b","é\n"]`, `"enum":["a",1]`, `"enum":[true,{}]`, `"pattern":"\\S"`, `"pattern":"^[a-b]*$"`, `"pattern":"^\\s"`,
		`"required":`+s.names(), `"not":{"required":`+s.names()+`}`, `"oneOf":`+branches, `"anyOf":`+branches, `"allOf":`+branches,
		`"dependentRequired":{"a":`+s.names()+`,"`+s.pick("b", "d")+`":`+s.names()+`}`, `"additionalProperties":`+s.pick("true", "false", `{"type":"string"}`),
		`"title":"t"`, `"default":1`, `"x-media":"image"`, `"minProperties":`+count, `"maxProperties":`+count, `"uniqueItems":true`, `"multipleOf":0.5`,
		`"exclusiveMaximum":`+bound, `"format":"date"`, `"contentEncoding":"base64"`, `"const":"a"`, `"contains":{"type":"string"}`,
		`"items":`+s.pick("true", "false"), `"prefixItems":[{"type":"string"}]`, `"propertyNames":{"maxLength":0}`, `"if":{"required":["a"]},"then":{"required":["b"]}`,
		`"patternProperties":{"^a":{"type":"string"}}`, `"unevaluatedProperties":false`, `"not":{"type":"object"}`, `"dependentSchemas":{"a":false}`,
		`"$ref":"#/$defs/`+s.pick("t", "u")+`"`, `"$ref":"#/$defs/`+s.pick("t", "u")+`","properties":{"`+s.pick("a", "b")+`":{`+
			s.pick(`"enum":["a","b"]`, `"pattern":"^[a-b]*$"`, `"type":"string"`, `"minLength":2`)+`}}`,
	)
}

func (s schemaWriter) value(depth int) string {
	switch n := s.random.IntN(8); {
	case depth == 3 || depth > 0 && n < 2:
		var all []string
		for _, name := range []string{"a", "b", "c", "d"} {
			if s.random.IntN(2) == 0 && (name != "d" || s.random.IntN(9) == 0) {
				all = append(all, `"`+name+`":`+s.value(depth-1))
			}
		}
		return "{" + strings.Join(all, ",") + "}"
	case depth > 0 && n < 4:
		var all []string
		for range s.random.IntN(4) {
			all = append(all, s.value(depth-1))
		}
		return "[" + strings.Join(all, ",") + "]"
	default:
		return s.pick(`"a"`, `"b"`, `"ab"`, `"é\n"`, `"\n"`, `""`, `" "`, `"\\"`, `"🦊🦊🦊"`, `"2020-01-01"`, `"YQ=="`, `"YWJjYWJj"`, `"YWJjYWJjYQ"`, "0", "1", "-1", "0.5", "2", "100", "2.5", "true", "false", "null", "1.0")
	}
}
