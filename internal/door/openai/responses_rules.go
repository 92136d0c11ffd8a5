package openai

// responseMembers has a decision for each member of a response's request.
var responseMembers = rules{
	"model": translated, "input": translated, "instructions": translated, "tools": translated, "tool_choice": translated,
	"parallel_tool_calls": translated, "text": translated, "reasoning": translated, "max_output_tokens": translated,
	"temperature": translated, "top_p": translated, "stream": translated, "stream_options": translated, "background": translated,
	"include": translated, memberMetadata: translated,

	// A response can be read as long as its task's answer is kept, whatever store says.
	"store": noEffect,
	"user":  noEffect, "safety_identifier": noEffect, "prompt_cache_key": noEffect,

	"truncation": only(`"disabled"`), "service_tier": only(`"auto"`, `"default"`), "top_logprobs": only("0"),
	"prompt_cache_retention": only(`"in_memory"`),

	"previous_response_id": refused("is not taken: the service keeps no input; send the whole conversation as input"),
	"conversation":         refused("is not taken: the service keeps no input; send the whole conversation as input"),
	"prompt":               refused(unknownHere), "max_tool_calls": refused(unknownHere), "context_management": refused(unknownHere),
	"moderation": refused(unknownHere), "prompt_cache_options": refused(unknownHere),
}

// retrievalMembers has a decision for each parameter of a response's retrieval, whose values are JSON.
var retrievalMembers = rules{
	"include": translated, "stream": translated, "include_obfuscation": only("false"),
	"starting_after": refused("is not taken: a stream is told from its start"),
}

// itemMembers are the members of an item, by its type. Its id tells which response it comes from.
var itemMembers = map[string]rules{
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
		"namespace":        refused(unknownHere), "caller": refused(unknownHere),
	},
	itemResult: {
		"type": translated, "call_id": translated, "output": translated, "id": noEffect, "status": noEffect,
		"name": noEffect, "namespace": refused(unknownHere), "caller": refused(unknownHere),
	},
	// A search of an earlier answer's, which stands in the answer.
	itemSearch:    {"type": translated, "id": noEffect, "status": noEffect, "action": noEffect},
	itemReference: {"type": translated, "id": translated},
}

// responseParts are the members of a message's part, by its type.
var responseParts = map[string]rules{
	"input_text":  {"type": translated, "text": translated, "prompt_cache_breakpoint": noEffect},
	"output_text": {"type": translated, "text": translated, "annotations": noEffect, "logprobs": only("[]"), "parsed": noEffect},
	"input_image": {
		"type": translated, "image_url": translated, "detail": only(`"auto"`), "prompt_cache_breakpoint": noEffect,
		"file_id": refused("is not taken; send the image as image_url"),
	},
	"input_file": {
		"type": translated, "file_data": translated, "file_url": translated, "filename": translated, "prompt_cache_breakpoint": noEffect,
		"detail": only(`"auto"`), "file_id": refused("is not taken; send the file as file_data or file_url"),
	},
	"input_audio": {"type": translated, "input_audio": translated},
}

var (
	reasoningMembers = rules{
		"effort": translated, "summary": only(`"auto"`), "generate_summary": only(`"auto"`), "context": only(`"auto"`), "mode": refused(unknownHere),
	}
	responseStreamMembers = rules{"include_obfuscation": only("false")}

	textMembers         = rules{"format": translated, "verbosity": only(`"medium"`)}
	plainFormatMembers  = rules{"type": translated}
	schemaFormatMembers = rules{
		"type": translated, "name": noEffect, "schema": translated, "strict": noEffect,
		"description": refused("is not taken; write it into the schema"),
	}

	responseToolMembers = rules{
		"type": translated, "name": translated, "description": translated, "parameters": translated, "strict": translated,
		"defer_loading": only("false"), "output_schema": refused(unknownHere), "allowed_callers": refused(unknownHere),
	}
	searchMembers = rules{
		"type": translated, "search_context_size": only(`"medium"`), "external_web_access": only("true"),
		"search_content_types": only(`["text"]`), "filters": refused(unknownHere), "user_location": refused(unknownHere),
	}
	responseChoiceMembers = rules{"type": translated, "name": translated}
)
