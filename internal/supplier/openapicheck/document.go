// Package openapicheck validates adapters' requests, and the answers of their tests' fakes, by the OpenAPI documents
// that suppliers publish. Only tests use it, with excerpts that package trim makes: Trim keeps the structure of the
// operations that an adapter calls and no word of prose.
//
// A document is taken more strictly than it is written: a member that it doesn't list is refused wherever it
// lists any, unless it says that there may be others, and so is a query or header that an operation doesn't
// name. Otherwise a misspelt member would pass, which most suppliers pass over in silence too.
//
// Not checked: the values of a path's variables, and bodies of other types than JSON, forms and events.
package openapicheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is an OpenAPI document, ready to hold exchanges against. It is safe for concurrent use.
type Document struct {
	raw        map[string]any
	operations []*operation
}

type operation struct {
	name       string // such as "POST /chat/completions"
	method     string
	path       *regexp.Regexp       // of the whole path, that of the server's URL included
	variables  int                  // of the path
	parameters map[string]*location // by "query alt" or "header Prefer"
	required   []string             // of these
	bodies     map[string]*location // by media type; nil: the operation has no body
	answers    map[string]contents  // by status
}

// commonParameters is the member of an excerpt's info that names the parameters that all operations take, such as
// "query alt", if the document has them in another place.
const commonParameters = "x-common"

type contents map[string]*location // by media type

// location is the location of one schema in the document.
type location struct {
	raw    any
	defs   map[string]any // the base of raw's references
	schema *jsonschema.Schema
}

// Load reads a document, in JSON.
func Load(file string) (*Document, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return New(object(raw))
}

// New makes a document of decoded JSON, which it doesn't change.
func New(raw map[string]any) (*Document, error) {
	d := &Document{raw: raw}
	b := builder{doc: raw, roots: []any{}}
	for path, item := range object(raw["paths"]) {
		for method, op := range object(item) {
			d.operations = append(d.operations, b.operation(strings.ToUpper(method), path, object(op)))
		}
	}
	slices.SortFunc(d.operations, func(a, b *operation) int { return a.variables - b.variables }) // the most exact first
	return d, b.compile()
}

// Operations returns the names of the operations, sorted.
func (d *Document) Operations() []string {
	var names []string
	for _, o := range d.operations {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return names
}

// Server returns the address that the paths are below; "" if the document has no server.
func (d *Document) Server() string { return server(d.raw) }

func server(doc map[string]any) string {
	servers := list(doc["servers"])
	if len(servers) == 0 {
		return ""
	}
	address, _ := object(servers[0])["url"].(string)
	return address
}

// Trimmed returns the document as trimmed by Trim: the same, unless it was written by hand.
func (d *Document) Trimmed() (map[string]any, error) {
	return Trim(d.raw, Cut{Operations: d.Operations(), Info: object(d.raw["info"])})
}

// Raw returns the document as it was read, which the caller doesn't change.
func (d *Document) Raw() map[string]any { return d.raw }

// builder gathers the schemas of the operations, so that they can be compiled as one.
type builder struct {
	doc    map[string]any
	roots  []any
	places []*location
}

func (b *builder) operation(method, path string, op map[string]any) *operation {
	o := &operation{name: method + " " + path, method: method, parameters: map[string]*location{}, answers: map[string]contents{}}
	o.path, o.variables = b.pattern(path)
	for _, each := range list(op["parameters"]) {
		p := object(each)
		name := fmt.Sprint(p["in"], " ", p["name"])
		if p["in"] == "header" {
			name = strings.ToLower(name)
		}
		if p["in"] == "path" {
			continue
		}
		o.parameters[name] = b.place(p["schema"])
		if p["required"] == true {
			o.required = append(o.required, name)
		}
	}
	if body := object(op["requestBody"]); body != nil {
		o.bodies = b.contents(body)
	}
	for status, answer := range object(op["responses"]) {
		o.answers[status] = b.contents(object(answer))
	}
	return o
}

func (b *builder) contents(of map[string]any) contents {
	all := contents{}
	for kind, media := range object(of["content"]) {
		all[kind] = b.place(object(media)["schema"])
	}
	return all
}

func (b *builder) place(raw any) *location {
	if raw == nil {
		raw = true // any value
	}
	p := &location{raw: raw, defs: object(object(b.doc["components"])["schemas"])}
	b.places, b.roots = append(b.places, p), append(b.roots, raw)
	return p
}

var variable = regexp.MustCompile(`\\\{[^}]*\\\}`)

// pattern returns the pattern of an operation's paths, below the path of the server's URL.
func (b *builder) pattern(path string) (*regexp.Regexp, int) {
	base := ""
	if u, err := url.Parse(server(b.doc)); err == nil {
		base = strings.TrimSuffix(u.Path, "/")
	}
	quoted := regexp.QuoteMeta(base + path)
	return regexp.MustCompile("^" + variable.ReplaceAllString(quoted, `[^/]+`) + "$"), len(variable.FindAllString(quoted, -1))
}

// compile makes the schemas strict and compiles them.
func (b *builder) compile() error {
	schemas, err := clone(object(object(b.doc["components"])["schemas"]))
	if err != nil {
		return err
	}
	roots, err := clone(b.roots)
	if err != nil {
		return err
	}
	s := strict{schemas: schemas}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		schemas[name] = s.inPlace(schemas[name])
	}
	for i := range roots {
		roots[i] = s.location(roots[i])
	}
	const at = "https://published.example/document.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	for _, f := range formats() {
		c.RegisterFormat(&f)
	}
	whole := map[string]any{"components": map[string]any{"schemas": any(schemas)}, "roots": any(roots)}
	if err := c.AddResource(at, whole); err != nil {
		return err
	}
	for i, p := range b.places {
		if p.schema, err = c.Compile(fmt.Sprintf("%s#/roots/%d", at, i)); err != nil {
			return err
		}
	}
	return nil
}

// clone copies decoded JSON, numbers as they are written.
func clone[T any](v T) (T, error) {
	var zero T
	text, err := json.Marshal(v)
	if err != nil {
		return zero, err
	}
	back, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return zero, err
	}
	copied, _ := back.(T)
	return copied, nil
}
