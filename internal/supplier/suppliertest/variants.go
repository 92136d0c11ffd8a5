package suppliertest

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
)

// samples are values of the parameters whose values the directory doesn't list and bounds by a pattern.
var samples = map[string]string{"size": "1024x1024", "voice": "nova", "language": "pt-BR", "translate_to": "en"}

// AnswerSchema is a caller's strict schema with each keyword that it may have.
const AnswerSchema = `{"$defs":{"size":{"const":"big"}},"additionalProperties":false,"description":"A thing.","properties":{` +
	`"count":{"maximum":9,"minimum":0,"multipleOf":3,"type":"integer"},` +
	`"name":{"description":"Its name.","maxLength":80,"minLength":1,"pattern":"^[A-Z]","type":["string","null"]},` +
	`"parts":{"items":{"anyOf":[{"$ref":"#"},{"enum":["none","all"]},{"$ref":"#/$defs/size"}]},"maxItems":4,"type":"array"}},` +
	`"required":["name","count","parts"],"title":"Thing","type":"object"}`

// AnswerOutline is AnswerSchema as suppliers' formats have it (upstream.Outline).
const AnswerOutline = `{"$defs":{"size":{"enum":["big"]}},"additionalProperties":false,"description":"A thing.","properties":{` +
	`"count":{"description":"(minimum 0, maximum 9, multipleOf 3)","type":"integer"},` +
	`"name":{"description":"Its name. (pattern \"^[A-Z]\", minLength 1, maxLength 80)","type":["string","null"]},` +
	`"parts":{"description":"(maxItems 4)","items":{"anyOf":[{"$ref":"#"},{"enum":["none","all"]},{"$ref":"#/$defs/size"}]},"type":"array"}},` +
	`"required":["name","count","parts"],"title":"Thing","type":"object"}`

// variants returns the first case of each capability with each value in turn of each parameter that the
// directory has: all of a list, the bounds of a range.
func variants(t *testing.T, h Harness) []supplier.Request {
	t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	var all []supplier.Request
	for _, name := range h.Kind.Capabilities {
		capability, ok := directory.Get(catalog.Name(name))
		if !ok {
			t.Fatalf("the directory has no %s", name)
		}
		i := slices.IndexFunc(h.Cases, func(c Case) bool { return c.Request.Capability == name })
		for _, f := range capability.Fields() {
			if f.Group != catalog.GroupParameters {
				continue
			}
			for _, value := range values(t, f) {
				r := filled(h.Cases[i].Request)
				r.Parameters = parametersWith(f.Name, value)
				all = append(all, r)
			}
		}
	}
	return all
}

// parametersWith returns parameters with one value and those that it needs beside it.
func parametersWith(name, value string) json.RawMessage {
	parameters := strconv.Quote(name) + ":" + value
	if name == catalog.ToolChoice || name == catalog.ParallelCalls {
		parameters += `,"tools":` + Tools
	}
	return json.RawMessage(`{` + parameters + `}`)
}

// values returns, in JSON, values of a parameter.
func values(t *testing.T, f catalog.Field) []string {
	t.Helper()
	var all []string
	for _, v := range f.Enum {
		if f.Type == "string" {
			v = strconv.Quote(v)
		}
		all = append(all, v)
	}
	for _, bound := range []*float64{f.Minimum, f.Maximum} {
		if bound != nil && f.Enum == nil {
			all = append(all, strconv.FormatFloat(*bound, 'f', -1, 64))
		}
	}
	switch sample, known := samples[f.Name]; {
	case known:
		all = append(all, strconv.Quote(sample))
	case f.Type == "boolean":
		all = append(all, "true", "false")
	case f.Schema:
		return []string{AnswerSchema, catalog.AnyObject}
	case f.Name == catalog.Tools:
		return []string{Tools}
	case f.Name == catalog.ToolChoice:
		return []string{`"auto"`, `"none"`, `"required"`, `"get_weather"`}
	case f.Array && f.Type == "string":
		return []string{`["a"]`, `["a","b","c","d"]`}
	}
	if all == nil {
		t.Fatalf("no values of the parameter %s are known", f.Name)
	}
	return all
}
