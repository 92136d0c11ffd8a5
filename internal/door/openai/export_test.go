package openai

import (
	"maps"
	"slices"

	"unitask/internal/door/inbound"
)

// Decided returns the members of requests that there is a decision about, sorted, by the schemas of OpenAI's document.
func Decided() map[string][]string {
	all := map[string][]string{}
	for name, members := range map[string]inbound.Rules{
		"CreateChatCompletionRequest": chatMembers, "CreateEmbeddingRequest": embeddingMembers, "CreateModerationRequest": moderationMembers,
		"CreateImageRequest": imagesMembers, "CreateImageEditRequest": editFormMembers, "EditImageBodyJsonParam": editsMembers,
		"CreateSpeechRequest": speechMembers, "CreateTranscriptionRequest": transcriptionMembers, "CreateTranslationRequest": translationMembers,
	} {
		all[name] = slices.Sorted(maps.Keys(members))
	}
	return all
}

// Part is a part of a form.
type Part struct{ Name, Kind, Data string }

// Parted splits a form, or says what is wrong with it.
func Parted(body []byte, boundary string) (all []Part, problem string) {
	parts, problem := parted(body, boundary)
	for _, p := range parts {
		all = append(all, Part{p.name, p.kind, string(p.data)})
	}
	return all, problem
}
