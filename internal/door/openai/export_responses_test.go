package openai

import (
	"encoding/json"
	"maps"
	"slices"

	"unitask/internal/door/inbound"
	"unitask/internal/task"
)

// DecidedForResponses returns the members of a response's request that there is a decision about, sorted, by the names
// of their schemas in OpenAI's document.
func DecidedForResponses() map[string][]string {
	all := map[string][]string{}
	for name, rules := range map[string]inbound.Rules{
		"CreateResponse": responseMembers,
		"EasyInputMessage InputMessage OutputMessage": itemMembers[itemMessage],
		"ReasoningItem":                               itemMembers[itemReasoning],
		"FunctionToolCall":                            itemMembers[itemCall],
		"FunctionCallOutputItemParam":                 itemMembers[itemResult],
		"WebSearchToolCall":                           itemMembers[itemSearch],
		"ItemReferenceParam":                          itemMembers[itemReference],
		"InputTextContent":                            responseParts["input_text"],
		"OutputTextContent":                           responseParts["output_text"],
		"InputImageContent":                           responseParts["input_image"],
		"InputFileContent":                            responseParts["input_file"],
		"Reasoning":                                   reasoningMembers,
		"ResponseTextParam":                           textMembers,
		"TextResponseFormatJsonSchema":                schemaFormatMembers,
		"ResponseFormatText ResponseFormatJsonObject": plainFormatMembers,
		"FunctionTool":                                responseToolMembers,
		"WebSearchTool WebSearchPreviewTool":          searchMembers,
		"ToolChoiceFunction":                          responseChoiceMembers,
		"ResponseStreamOptions":                       responseStreamMembers,
	} {
		all[name] = slices.Sorted(maps.Keys(rules))
	}
	return all
}

// RetrievalDecided returns the parameters of a retrieval that there is a decision about, sorted.
func RetrievalDecided() []string { return slices.Sorted(maps.Keys(retrievalMembers)) }

// ReadParts returns what readParts makes of an output and what encoding/json does, as Go writes them; false if the
// former doesn't take it.
func ReadParts(output []byte) (fast, plain string, taken bool) {
	p, taken := readParts(output)
	var q task.Parts
	err := json.Unmarshal(output, &q)
	q.Data = nil // which the door doesn't read
	said := func(p task.Parts) string {
		raw, _ := json.Marshal(p)
		return string(raw)
	}
	if err != nil {
		return said(p), err.Error(), taken
	}
	return said(p), said(q), taken
}
