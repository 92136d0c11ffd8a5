package server

import (
	"slices"

	"unitask/internal/catalog"
)

// doorModels are the names by which callers at the doors may call capabilities, beside their own.
type doorModels map[catalog.Name][]string

// of returns the other names of a capability.
func (m doorModels) of(name catalog.Name) []string { return m[name] }

// SetDoorModels replaces the other names of capabilities at the doors, for every request from now on.
func (s *Server) SetDoorModels(models map[catalog.Name][]string) {
	s.models.Store(new(doorModels(models)))
}

// capability returns the capability of a kind, the base itself or a tier of it, that a door's caller names as a model.
func (s *Server) capability(model string, base catalog.Name) (catalog.Name, bool) {
	directory := s.gateway.Directory()
	if directory.Base(catalog.Name(model)) == base {
		return catalog.Name(model), true
	}
	for name, also := range *s.models.Load() {
		if directory.Base(name) == base && slices.Contains(also, model) {
			return name, true
		}
	}
	return "", false
}
