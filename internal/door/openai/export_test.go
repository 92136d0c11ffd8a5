package openai

import (
	"maps"
	"slices"
)

// Decided returns the members of requests that there is a decision about, sorted.
func Decided() (chat, embeddings []string) {
	return slices.Sorted(maps.Keys(chatMembers)), slices.Sorted(maps.Keys(embeddingMembers))
}
