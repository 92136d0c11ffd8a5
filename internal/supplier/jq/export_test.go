package jq

import (
	"maps"
	"slices"
	"strings"
)

// Functions returns the names of the functions and formats that programs may use, sorted.
func Functions() []string {
	var all []string
	for name := range functions {
		name, _, _ = strings.Cut(name, "/")
		all = append(all, name)
	}
	slices.Sort(all)
	return append(slices.Compact(all), slices.Sorted(maps.Keys(formats))...)
}
