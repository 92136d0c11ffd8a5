package openai

import "unitask/internal/door/inbound"

// responseMembers has a decision for each member of a response's request.
var responseMembers = inbound.Rules{
	"model": translated, "input": translated, "instructions": translated, "tools": translated, "tool_choice": translated,
	"parallel_tool_calls": translated, "text": translated, "reasoning": translated, "max_output_tokens": translated,
	"temperature": translated, "top_p": translated, "stream": translated, "stream_options": translated, "background": translated,
	"include": translated, memberMetadata: translated,

	// A response can be read as long as its task's answer is kept, whatever store says.
	"store": noEffect,
	"user":  noEffect, "safety_identifier": noEffect, "prompt_cache_key": noEffect,

	"truncation": inbound.Only(`"disabled"`), "service_tier": inbound.Only(`"auto"`, `"default"`), "top_logprobs": inbound.Only("0"),
	"prompt_cache_retention": inbound.Only(`"in_memory"`),

	"previous_response_id": inbound.Refused("is not taken: the service keeps no input; send the whole conversation as input"),
	"conversation":         inbound.Refused("is not taken: the service keeps no input; send the whole conversation as input"),
	"prompt":               inbound.Refused(unknownHere), "max_tool_calls": inbound.Refused(unknownHere), "context_management": inbound.Refused(unknownHere),
	"moderation": inbound.Refused(unknownHere), "prompt_cache_options": inbound.Refused(unknownHere),
}

// retrievalMembers has a decision for each parameter of a response's retrieval, whose values are JSON.
var retrievalMembers = inbound.Rules{
	"include": translated, "stream": translated, "include_obfuscation": inbound.Only("false"),
	"starting_after": inbound.Refused("is not taken: a stream is told from its start"),
}

// itemMembers are the members of an item, by its type. Its id tells which response it comes from.
var itemMembers = map[string]inbound.Rules{
	itemMessage: {
		"type": translated, "role": translated, "content": translated, "id": translated, "status": noEffect, "phase": noEffect,
	},
	itemReasoning: {
		"type": translated, "id": translated, "encrypted_content": translated, "status": noEffect,
		"summary": noEffect, "content": noEffect, // thoughts, which a model that reads its state has there
	},
	itemCall: {
		"type": translated, "id": translated, "call_id": translated, "name": translated, "arguments": translated, "status": noEffect,
		"parsed_arguments": noEffect, // the same, as OpenAI's libraries read it of a strict tool
		"namespace":        inbound.Refused(unknownHere), "caller": inbound.Refused(unknownHere),
	},
	itemResult: {
		"type": translated, "call_id": translated, "output": translated, "id": noEffect, "status": noEffect,
		"name": noEffect, "namespace": inbound.Refused(unknownHere), "caller": inbound.Refused(unknownHere),
	},
	// A search of an earlier answer's, which stands in the answer.
	itemSearch:    {"type": translated, "id": noEffect, "status": noEffect, "action": noEffect},
	itemReference: {"type": translated, "id": translated},
}

// responseParts are the members of a message's part, by its type.
var responseParts = map[string]inbound.Rules{
	"input_text":  {"type": translated, "text": translated, "prompt_cache_breakpoint": noEffect},
	"output_text": {"type": translated, "text": translated, "annotations": noEffect, "logprobs": inbound.Only("[]"), "parsed": noEffect},
	"input_image": {
		"type": translated, "image_url": translated, "detail": inbound.Only(`"auto"`), "prompt_cache_breakpoint": noEffect,
		"file_id": inbound.Refused("is not taken; send the image as image_url"),
	},
	"input_file": {
		"type": translated, "file_data": translated, "file_url": translated, "filename": translated, "prompt_cache_breakpoint": noEffect,
		"detail": inbound.Only(`"auto"`), "file_id": inbound.Refused("is not taken; send the file as file_data or file_url"),
	},
	"input_audio": {"type": translated, "input_audio": translated},
}

var (
	reasoningMembers = inbound.Rules{
		"effort": translated, "summary": inbound.Only(`"auto"`), "generate_summary": inbound.Only(`"auto"`), "context": inbound.Only(`"auto"`), "mode": inbound.Refused(unknownHere),
	}
	responseStreamMembers = inbound.Rules{"include_obfuscation": inbound.Only("false")}

	textMembers         = inbound.Rules{"format": translated, "verbosity": inbound.Only(`"medium"`)}
	plainFormatMembers  = inbound.Rules{"type": translated}
	schemaFormatMembers = inbound.Rules{
		"type": translated, "name": noEffect, "schema": translated, "strict": noEffect,
		"description": inbound.Refused("is not taken; write it into the schema"),
	}

	responseToolMembers = inbound.Rules{
		"type": translated, "name": translated, "description": translated, "parameters": translated, "strict": translated,
		"defer_loading": inbound.Only("false"), "output_schema": inbound.Refused(unknownHere), "allowed_callers": inbound.Refused(unknownHere),
	}
	searchMembers = inbound.Rules{
		"type": translated, "search_context_size": inbound.Only(`"medium"`), "external_web_access": inbound.Only("true"),
		"search_content_types": inbound.Only(`["text"]`), "filters": inbound.Refused(unknownHere), "user_location": inbound.Refused(unknownHere),
	}
	responseChoiceMembers = inbound.Rules{"type": translated, "name": translated}
)
