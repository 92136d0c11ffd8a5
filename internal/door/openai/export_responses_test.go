package openai

import (
	"maps"
	"slices"
)

// DecidedForResponses returns the members of a response's request that there is a decision about, sorted, by the names
// of their schemas in OpenAI's document.
func DecidedForResponses() map[string][]string {
	all := map[string][]string{}
	for name, rules := range map[string]rules{
		"CreateResponse": responseMembers,
		"EasyInputMessage InputMessage OutputMessage": itemMembers[itemMessage],
		"ReasoningItem":                      itemMembers[itemReasoning],
		"FunctionToolCall":                   itemMembers[itemCall],
		"FunctionCallOutputItemParam":        itemMembers[itemResult],
		"WebSearchToolCall":                  itemMembers[itemSearch],
		"ItemReferenceParam":                 itemMembers[itemReference],
		"InputTextContent":                   responseParts["input_text"],
		"OutputTextContent":                  responseParts["output_text"],
		"InputImageContent":                  responseParts["input_image"],
		"InputFileContent":                   responseParts["input_file"],
		"Reasoning":                          reasoningMembers,
		"ResponseTextParam":                  textMembers,
		"TextResponseFormatJsonSchema":       schemaFormatMembers,
		"ResponseFormatText":                 plainFormatMembers,
		"FunctionTool":                       responseToolMembers,
		"WebSearchTool WebSearchPreviewTool": searchMembers,
		"ToolChoiceFunction":                 responseChoiceMembers,
		"ResponseStreamOptions":              responseStreamMembers,
	} {
		all[name] = slices.Sorted(maps.Keys(rules))
	}
	return all
}

// RetrievalDecided returns the parameters of a retrieval that there is a decision about, sorted.
func RetrievalDecided() []string { return slices.Sorted(maps.Keys(retrievalMembers)) }
