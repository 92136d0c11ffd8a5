// Command trim makes the excerpt of a supplier's OpenAPI document that its adapter's tests are held against.
// It is run in the root of the repository:
//
//	go run ./internal/supplier/openapicheck/trim -in openapi.json -out internal/supplier/NAME/testdata/openapi.json \
//		-origin 'where it is published, and when' -licence MIT 'POST /path' …
//
// The README beside each excerpt has the operations and flags that it was made with. A second -in completes the first
// document.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"unitask/internal/supplier/openapicheck"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "trim:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var in []string
	cut := openapicheck.Cut{Events: map[string]string{}}
	flags := flag.NewFlagSet("trim", flag.ContinueOnError)
	flags.Func("in", "an OpenAPI `file` in JSON; may be repeated", func(s string) error {
		in = append(in, s)
		return nil
	})
	flags.Func("events", "the schema of an operation's streamed events, as `OPERATION=SCHEMA`", func(s string) error {
		operation, schema, _ := strings.Cut(s, "=")
		cut.Events[operation] = schema
		return nil
	})
	flags.BoolVar(&cut.Required, "required", false, `take the word "Required." of descriptions`)
	var common []string
	flags.Func("common", "a `parameter` of all operations that the document leaves out, such as \"query alt\"", func(s string) error {
		common = append(common, s)
		return nil
	})
	out := flags.String("out", "", "the `file` to write")
	origin := flags.String("origin", "", "where the document comes from")
	licence := flags.String("licence", "", "its licence")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if len(in) == 0 || *out == "" || flags.NArg() == 0 {
		return errors.New("-in, -out and the operations are required")
	}
	doc, err := read(in)
	if err != nil {
		return err
	}
	cut.Operations = flags.Args()
	cut.Info = map[string]any{"title": "Excerpt", "version": version(doc), "x-origin": *origin, "x-licence": *licence}
	if common != nil {
		cut.Info["x-common"] = common
	}
	trimmed, err := openapicheck.Trim(doc, cut)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := write(&text, trimmed, ""); err != nil {
		return err
	}
	return os.WriteFile(*out, append(text.Bytes(), '\n'), 0o644) //nolint:gosec // a file of the repository
}

func version(doc map[string]any) any {
	info, _ := doc["info"].(map[string]any)
	if v, ok := info["version"]; ok {
		return v
	}
	return "none"
}

// read returns the first document with the paths and schemas of the others that it lacks.
func read(names []string) (map[string]any, error) {
	var whole map[string]any
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if whole == nil {
			whole = doc
			continue
		}
		add(whole, doc, "paths")
		add(whole, doc, "components", "schemas")
	}
	return whole, nil
}

// add copies the members below the steps in from that to lacks.
func add(to, from map[string]any, steps ...string) {
	for _, step := range steps {
		to, _ = to[step].(map[string]any)
		from, _ = from[step].(map[string]any)
	}
	more := maps.Clone(from)
	maps.DeleteFunc(more, func(name string, _ any) bool { return to[name] != nil })
	maps.Copy(to, more)
}

// write writes JSON with a line for each operation and each schema.
func write(b *bytes.Buffer, v any, indent string) error {
	const deepest = 3
	members, ok := v.(map[string]any)
	if !ok || len(members) == 0 || len(indent) == deepest {
		text, err := json.Marshal(v)
		b.Write(text)
		return err
	}
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "\n%s %q: ", indent, name)
		if err := write(b, members[name], indent+" "); err != nil {
			return err
		}
	}
	b.WriteString("\n" + indent + "}")
	return nil
}
