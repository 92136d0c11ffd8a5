package config

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"unitask/internal/catalog"
)

// longestModel is the most bytes of a model's name at a door.
const longestModel = 128

// checkDoorModels refuses names that could mean two capabilities of the same work, or aren't names.
func (r *report) checkDoorModels(models map[catalog.Name][]string, directory *catalog.Catalog) {
	type meaning struct {
		model string
		base  catalog.Name
	}
	meant := map[meaning]catalog.Name{}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		at := join("door_models", string(name))
		r.known(at, name, directory)
		for i, model := range models[name] {
			path := elementOf(at, i)
			if model == "" || len(model) > longestModel || strings.ContainsFunc(model, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) {
				r.add(path, "must be a word of at most 128 bytes", "for example gpt-5")
			}
			if _, own := directory.Get(catalog.Name(model)); own {
				r.add(path, "is the name of a capability", "which no other capability can have")
			}
			m := meaning{model, directory.Base(name)}
			if other, twice := meant[m]; twice {
				r.add(path, "stands twice for the same work", "it is "+string(other)+"'s already")
			}
			meant[m] = name
		}
	}
}
