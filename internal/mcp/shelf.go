package mcp

import (
	"bytes"
	"sync"

	"unitask/internal/api"
	"unitask/internal/catalog"
)

// shelf keeps the schemas of tools, which take longer to make than a call may: one set for each name of the
// directory, in place of the former one. It is safe for concurrent use.
type shelf struct {
	mu   sync.Mutex
	made map[catalog.Name]*tool
}

// tool returns the entry as it is offered.
func (s *shelf) tool(entry api.Capability) (*tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.made[entry.Name]
	if known == nil || !known.fits(entry) {
		var err error
		if known, err = newTool(entry); err != nil {
			return nil, err
		}
		if s.made == nil {
			s.made = map[catalog.Name]*tool{}
		}
		s.made[entry.Name] = known
	}
	return &tool{entry: entry, schema: known.schema, check: known.check}, nil
}

// fits reports whether an entry's schemas are those that the tool was made of.
func (t *tool) fits(entry api.Capability) bool {
	return bytes.Equal(t.entry.InputSchema, entry.InputSchema) && bytes.Equal(t.entry.ParametersSchema, entry.ParametersSchema) &&
		bytes.Equal(t.entry.OutputSchema, entry.OutputSchema)
}

func newTool(entry api.Capability) (*tool, error) {
	schema, err := toolSchema(entry.InputSchema, entry.ParametersSchema)
	if err != nil {
		return nil, err
	}
	t := &tool{entry: entry, schema: schema}
	t.check, _ = catalog.Served(catalog.Capability{
		Name: entry.Name, InputSchema: entry.InputSchema, ParametersSchema: entry.ParametersSchema, OutputSchema: entry.OutputSchema,
	})
	return t, nil
}
