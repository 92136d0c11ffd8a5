package catalog

import (
	"fmt"
	"maps"
	"time"
)

// WithDeadlines returns the catalog with other deadlines for the named capabilities; schemas are
// shared. It fails on a name that the catalog doesn't have.
func (c *Catalog) WithDeadlines(deadlines map[Name]time.Duration) (*Catalog, error) {
	byName := maps.Clone(c.byName)
	for name, deadline := range deadlines {
		old, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("catalog: no capability %s to give a deadline", name)
		}
		changed := &compiled{Capability: old.Capability, input: old.input, parameters: old.parameters, output: old.output}
		changed.Deadline = deadline
		byName[name] = changed
	}
	return newCatalog(byName), nil
}
