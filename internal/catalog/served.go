package catalog

// Served makes a directory of one entry as a service shows it, for a client that checks a request before it sends it.
// It has only the members that Validate and ValidateOutput need.
func Served(c Capability) (*Catalog, error) {
	e := &entry{Capability: c}
	for _, part := range []struct {
		name   string
		schema []byte
		check  **check
	}{
		{GroupInput, c.InputSchema, &e.input},
		{GroupParameters, c.ParametersSchema, &e.parameters},
		{"output", c.OutputSchema, &e.output},
	} {
		compiled, err := compileSchema(string(c.Name)+"/"+part.name, part.schema)
		if err != nil {
			return nil, err
		}
		*part.check = compiled
	}
	fields, err := FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil {
		return nil, err
	}
	e.nameMembers(fields)
	return newCatalog(map[Name]*entry{c.Name: e}), nil
}
