package catalog

// Served returns a directory of one capability, as a service shows it, for a client that checks a
// request before it sends it. The directory serves Validate and ValidateOutput only.
func Served(c Capability) (*Catalog, error) {
	e := &compiled{Capability: c}
	for _, part := range []struct {
		name   string
		schema []byte
		target **compiledSchema
	}{
		{GroupInput, c.InputSchema, &e.input},
		{GroupParameters, c.ParametersSchema, &e.parameters},
		{"output", c.OutputSchema, &e.output},
	} {
		s, err := compileSchema(string(c.Name)+"/"+part.name, part.schema)
		if err != nil {
			return nil, err
		}
		*part.target = s
	}
	fields, err := FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil {
		return nil, err
	}
	e.setMembers(fields)
	return newCatalog(map[Name]*compiled{c.Name: e}), nil
}
