package openai

import "unitask/internal/door/inbound"

// translated members have a place in a task.
func translated([]byte) string { return "" }

// noEffect members say nothing about the answer: they are read by OpenAI's own bookkeeping.
func noEffect([]byte) string { return "" }

// unknownHere is the problem of a member that nothing takes the place of.
const unknownHere = "can't be honoured here; leave it out"

const noFunctions = "is not taken; tools takes its place"

// chatMembers has a decision for each member of a chat completion's request.
var chatMembers = inbound.Rules{
	"model": translated, "messages": translated, "temperature": translated, "top_p": translated, "seed": translated, "stop": translated,
	"max_tokens": translated, "max_completion_tokens": translated, "reasoning_effort": translated, "response_format": translated,
	"tools": translated, "tool_choice": translated, "parallel_tool_calls": translated, "stream": translated, "stream_options": translated,
	memberMetadata: translated,

	"user": noEffect, "safety_identifier": noEffect, "prompt_cache_key": noEffect,

	"n": inbound.Only("1"), "store": inbound.Only("false"), "logprobs": inbound.Only("false"), "frequency_penalty": inbound.Only("0"), "presence_penalty": inbound.Only("0"),
	"logit_bias": inbound.Only("{}"), "modalities": inbound.Only(`["text"]`), "service_tier": inbound.Only(`"auto"`, `"default"`),
	"verbosity": inbound.Only(`"medium"`), "prompt_cache_retention": inbound.Only(`"in_memory"`),

	"functions": inbound.Refused(noFunctions), "function_call": inbound.Refused(noFunctions), "audio": inbound.Refused(unknownHere), "prediction": inbound.Refused(unknownHere),
	"top_logprobs": inbound.Refused(unknownHere), "web_search_options": inbound.Refused(unknownHere), "moderation": inbound.Refused(unknownHere),
	"prompt_cache_options": inbound.Refused(unknownHere),
}

// embeddingMembers has a decision for each member of an embedding's request.
var embeddingMembers = inbound.Rules{
	"model": translated, "input": translated, "dimensions": translated, "encoding_format": translated, "user": noEffect,
}

// roles are the members of a message, by its role.
var roles = map[string]inbound.Rules{
	"system": plainMembers, "developer": plainMembers, "user": plainMembers,
	"assistant": {
		"role": translated, "content": translated, "tool_calls": translated, memberState: translated,
		// What answers have, as programs send them back.
		memberReasoning: noEffect, "parsed": noEffect, "annotations": inbound.Only("[]"), "refusal": inbound.Refused(unknownHere),
		"audio": inbound.Refused(unknownHere), "name": inbound.Refused(unknownHere), "function_call": inbound.Refused(noFunctions),
	},
	"tool": {"role": translated, "content": translated, "tool_call_id": translated, "name": noEffect},
}

var plainMembers = inbound.Rules{"role": translated, "content": translated, "name": inbound.Refused(unknownHere)}

// parts are the members of a message's part, by its type.
var parts = map[string]inbound.Rules{
	"text":        partMembers("text"),
	"image_url":   partMembers("image_url"),
	"input_audio": partMembers("input_audio"),
	"file":        partMembers("file"),
}

func partMembers(name string) inbound.Rules {
	return inbound.Rules{"type": translated, name: translated, "prompt_cache_breakpoint": noEffect}
}

var (
	imageMembers = inbound.Rules{"url": translated, "detail": inbound.Only(`"auto"`)}
	audioMembers = inbound.Rules{"data": translated, "format": translated}
	fileMembers  = inbound.Rules{"file_data": translated, "filename": translated, "file_id": inbound.Refused("is not taken; send the file as file_data")}

	toolMembers     = inbound.Rules{"type": translated, "function": translated}
	functionMembers = inbound.Rules{"name": translated, "description": translated, "parameters": translated, "strict": translated}
	callMembers     = inbound.Rules{"id": translated, "type": translated, "function": translated, "index": noEffect}
	calledMembers   = inbound.Rules{"name": translated, "arguments": translated, "parsed_arguments": noEffect} // as OpenAI's libraries read them
	choiceMembers   = inbound.Rules{"type": translated, "function": translated}
	chosenMembers   = inbound.Rules{"name": translated}

	formatMembers = inbound.Rules{"type": translated, "json_schema": translated}
	// An answer is held to its schema, strict or not; the schema's name is for OpenAI's models.
	schemaMembers = inbound.Rules{"name": noEffect, "schema": translated, "strict": noEffect, "description": inbound.Refused("is not taken; write it into the schema")}
	streamMembers = inbound.Rules{"include_usage": translated, "include_obfuscation": inbound.Only("false")}
)
