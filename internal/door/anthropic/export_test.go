package anthropic

import (
	"maps"
	"slices"
)

// Later are the members of a message's request that there is a decision about though the document doesn't list them: of
// betas, and newer ones.
func Later() []string {
	return []string{"output_format", "mcp_servers", "context_management", "thread", "speed", "diagnostics", "user_profile_id", "workspace_id"}
}

// Decided returns the members of a message's request that there is a decision about, sorted; without Later.
func Decided() []string {
	all := messageMembers()
	for _, name := range Later() {
		delete(all, name)
	}
	return slices.Sorted(maps.Keys(all))
}

// DecidedBlock returns the members of a block of a message, sorted; nil for a type that is refused.
func DecidedBlock(role, kind string) []string {
	if kind == "tool" {
		return slices.Sorted(maps.Keys(toolMembers(false)))
	}
	if kind == "search" {
		return slices.Sorted(maps.Keys(toolMembers(true)))
	}
	return slices.Sorted(maps.Keys(blocks(role)[kind]))
}
