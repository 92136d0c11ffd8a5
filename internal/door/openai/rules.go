package openai

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// rule decides about a member's value, which isn't null: the problem, "" if it is taken.
type rule func(value []byte) (problem string)

// rules are the members that an object may have.
type rules map[string]rule

// translated members have a place in a task.
func translated([]byte) string { return "" }

// noEffect members say nothing about the answer: they are read by OpenAI's own bookkeeping.
func noEffect([]byte) string { return "" }

// refused members ask for an answer that the service can't give.
func refused(problem string) rule { return func([]byte) string { return problem } }

// unknownHere is the problem of a member that nothing takes the place of.
const unknownHere = "can't be honoured here; leave it out"

// only takes the values, in JSON, that ask for no other answer than the service gives anyhow.
func only(values ...string) rule {
	return func(value []byte) string {
		plain := jsontext.Value(append([]byte(nil), value...))
		if plain.Canonicalize() == nil {
			for _, v := range values {
				if string(plain) == v {
					return ""
				}
			}
		}
		return "can't be honoured here; only " + strings.Join(values, " or ") + " is taken"
	}
}

const noFunctions = "is not taken; tools takes its place"

// chatMembers has a decision for each member of a chat completion's request.
var chatMembers = rules{
	"model": translated, "messages": translated, "temperature": translated, "top_p": translated, "seed": translated, "stop": translated,
	"max_tokens": translated, "max_completion_tokens": translated, "reasoning_effort": translated, "response_format": translated,
	"tools": translated, "tool_choice": translated, "parallel_tool_calls": translated, "stream": translated, "stream_options": translated,
	memberMetadata: translated,

	"user": noEffect, "safety_identifier": noEffect, "prompt_cache_key": noEffect,

	"n": only("1"), "store": only("false"), "logprobs": only("false"), "frequency_penalty": only("0"), "presence_penalty": only("0"),
	"logit_bias": only("{}"), "modalities": only(`["text"]`), "service_tier": only(`"auto"`, `"default"`),
	"verbosity": only(`"medium"`), "prompt_cache_retention": only(`"in_memory"`),

	"functions": refused(noFunctions), "function_call": refused(noFunctions), "audio": refused(unknownHere), "prediction": refused(unknownHere),
	"top_logprobs": refused(unknownHere), "web_search_options": refused(unknownHere), "moderation": refused(unknownHere),
	"prompt_cache_options": refused(unknownHere),
}

// embeddingMembers has a decision for each member of an embedding's request.
var embeddingMembers = rules{
	"model": translated, "input": translated, "dimensions": translated, "encoding_format": translated, "user": noEffect,
}

// roles are the members of a message, by its role.
var roles = map[string]rules{
	"system": plainMembers, "developer": plainMembers, "user": plainMembers,
	"assistant": {
		"role": translated, "content": translated, "tool_calls": translated, memberState: translated,
		// What answers have, as programs send them back.
		memberReasoning: noEffect, "parsed": noEffect, "annotations": only("[]"), "refusal": refused(unknownHere),
		"audio": refused(unknownHere), "name": refused(unknownHere), "function_call": refused(noFunctions),
	},
	"tool": {"role": translated, "content": translated, "tool_call_id": translated},
}

var plainMembers = rules{"role": translated, "content": translated, "name": refused(unknownHere)}

// parts are the members of a message's part, by its type.
var parts = map[string]rules{
	"text":        partMembers("text"),
	"image_url":   partMembers("image_url"),
	"input_audio": partMembers("input_audio"),
	"file":        partMembers("file"),
}

func partMembers(name string) rules {
	return rules{"type": translated, name: translated, "prompt_cache_breakpoint": noEffect}
}

var (
	imageMembers = rules{"url": translated, "detail": only(`"auto"`)}
	audioMembers = rules{"data": translated, "format": translated}
	fileMembers  = rules{"file_data": translated, "filename": translated, "file_id": refused("is not taken; send the file as file_data")}

	toolMembers     = rules{"type": translated, "function": translated}
	functionMembers = rules{"name": translated, "description": translated, "parameters": translated, "strict": translated}
	callMembers     = rules{"id": translated, "type": translated, "function": translated, "index": noEffect}
	calledMembers   = rules{"name": translated, "arguments": translated, "parsed_arguments": noEffect} // as OpenAI's libraries read them
	choiceMembers   = rules{"type": translated, "function": translated}
	chosenMembers   = rules{"name": translated}

	formatMembers = rules{"type": translated, "json_schema": translated}
	// An answer is held to its schema, strict or not; the schema's name is for OpenAI's models.
	schemaMembers = rules{"name": noEffect, "schema": translated, "strict": noEffect, "description": refused("is not taken; write it into the schema")}
	streamMembers = rules{"include_usage": translated, "include_obfuscation": only("false")}
)
