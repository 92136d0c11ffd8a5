package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Base returns the capability that c extends; c's own name if it extends none. Whatever the work of a capability is
// like follows from its base: its suppliers' formats, its units and its estimates.
func (c Capability) Base() Name { return cmp.Or(c.Extends, c.Name) }

// Base returns the base of the named capability; the name itself if the directory doesn't have it.
func (c *Catalog) Base(name Name) Name {
	if e, ok := c.byName[name]; ok {
		return e.Base()
	}
	return name
}

// inherit returns a tier's declaration with everything that it doesn't write itself taken from the capability that it
// extends.
func (d declaration) inherit(declared map[Name]declaration) (declaration, error) {
	base, err := d.base(declared)
	if err != nil {
		return d, d.wrap(d.Extends.line, err)
	}
	if d.Modality != "" && d.Modality != base.Modality {
		return d, d.wrap(d.Name.line, fmt.Errorf("modality must be that of %s, or be left out", base.Name.value))
	}
	d.Modality, d.Mode, d.Deadline = base.Modality, cmp.Or(d.Mode, base.Mode), cmp.Or(d.Deadline, base.Deadline)
	for _, part := range []struct {
		name string
		of   *schema
		from schema
	}{{GroupInput, &d.Input, base.Input}, {GroupParameters, &d.Parameters, base.Parameters}, {"output", &d.Output, base.Output}} {
		if err := part.of.narrow(part.from, d.Name.line); err != nil {
			return d, d.wrap(part.of.line, fmt.Errorf("%s: %w; a tier only narrows %s", part.name, err, base.Name.value))
		}
	}
	if d.Sample.line == 0 && base.Sample.line > 0 {
		d.Sample = schema{json: base.Sample.json, line: d.Name.line}
	}
	if d.PersonInputs, err = d.personInputs(base); err != nil {
		return d, d.wrap(d.Name.line, err)
	}
	if d.borrowed = d.Example.line == 0 && base.Example.line != 0; d.borrowed {
		name, err := json.Marshal(map[string]Name{"capability": d.Name.value})
		if err != nil {
			return d, d.wrap(d.Name.line, err)
		}
		d.Example = schema{json: patched(base.Example.json, name), line: d.Name.line}
	}
	return d, nil
}

// base returns the declaration that a tier extends.
func (d declaration) base(declared map[Name]declaration) (declaration, error) {
	name := d.Extends.value
	base, ok := declared[name]
	switch {
	case !ok:
		err := fmt.Errorf("extends %q, which is no capability", name)
		var names []string
		for _, other := range slices.Sorted(maps.Keys(declared)) {
			if other != d.Name.value {
				names = append(names, string(other))
			}
		}
		if near := Nearest(string(name), names); near != "" {
			err = fmt.Errorf("%w; %s is one", err, near)
		}
		return base, err
	case name == d.Name.value:
		return base, errors.New("extends itself; name another capability")
	case base.Extends.line > 0:
		return base, fmt.Errorf("extends %s, which extends %s itself (%s, line %d); name a capability that extends none",
			name, base.Extends.value, base.source, base.Extends.line)
	}
	return base, nil
}

// narrow applies what a tier writes of a schema to its base's. line is that of an inherited schema.
func (s *schema) narrow(base schema, line int) error {
	if base.line == 0 {
		return nil // the base has none, which is its own error
	}
	if s.line == 0 {
		s.json, s.line = base.json, line
		return nil
	}
	was, err := document(base.json)
	if err != nil {
		return nil //nolint:nilerr // the base's own error
	}
	s.json = patched(base.json, s.json)
	is, err := document(s.json)
	if err != nil {
		return err
	}
	return narrows(was, is)
}

// personInputs returns the inputs of a tier that may show a person: at least those of its base that it takes.
func (d declaration) personInputs(base declaration) ([]string, error) {
	input, err := document(d.Input.json)
	if err != nil {
		return nil, err
	}
	members, _ := input["properties"].(map[string]any)
	var least []string
	for _, name := range base.PersonInputs {
		if _, has := members[name]; has {
			least = append(least, name)
		}
	}
	if d.PersonInputs == nil {
		return least, nil
	}
	for _, name := range least {
		if !slices.Contains(d.PersonInputs, name) {
			return nil, fmt.Errorf("person_inputs must go on to list %s, as %s does", name, base.Name.value)
		}
	}
	return d.PersonInputs, nil
}
