package anthropic

import "unitask/internal/door/inbound"

// unknownHere is the problem of a member that nothing takes the place of.
const unknownHere = "can't be honoured here; leave it out"

// taken members have a place in a task.
func taken([]byte) string { return "" }

// noEffect members change no answer: they are for caches, or bookkeeping of Anthropic's.
func noEffect([]byte) string { return "" }

// messageMembers has a decision for each member of a message's request.
func messageMembers() inbound.Rules {
	return inbound.Rules{
		"model": taken, "messages": taken, "max_tokens": taken, "system": taken, "temperature": taken, "top_p": taken,
		"stop_sequences": taken, "tools": taken, "tool_choice": taken, "thinking": taken, "output_config": taken, "output_format": taken,
		"stream": taken, "metadata": taken,

		"cache_control": noEffect,

		"service_tier": inbound.Only(`"auto"`, `"standard_only"`),
		"top_k":        inbound.Refused(unknownHere), "container": inbound.Refused(unknownHere), "inference_geo": inbound.Refused(unknownHere),

		// Members that came later than the document.
		"speed":       inbound.Only(`"standard"`),
		"diagnostics": inbound.Refused(unknownHere), "user_profile_id": inbound.Refused(unknownHere), "workspace_id": inbound.Refused(unknownHere),

		// Members of betas, in the forms that change no answer.
		"mcp_servers":        inbound.Only(`[]`),
		memberThread:         inbound.Refused("can't be kept here; send the whole conversation"),
		"context_management": inbound.Only(`{"edits":[]}`, `{"edits":[{"keep":"all","type":"clear_thinking_20251015"}]}`),
	}
}

// countMembers are those of a count's request: the same without those that a count doesn't need.
func countMembers() inbound.Rules {
	members := messageMembers()
	for _, name := range []string{
		"max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "stream", "metadata", "service_tier", "container", "inference_geo",
		"diagnostics", "user_profile_id", "workspace_id",
	} {
		delete(members, name)
	}
	return members
}

// direct is who may call a tool: the model, and not code that it runs.
const direct = `{"type":"direct"}`

// blocks are the members of a block of content, by who says it and its type.
func blocks(role string) map[string]inbound.Rules {
	text := inbound.Rules{"type": taken, "text": taken, "cache_control": noEffect, "citations": noEffect}
	if role == roleAssistant {
		return map[string]inbound.Rules{
			"text":              text,
			"thinking":          {"type": taken, "thinking": noEffect, "signature": taken},
			"redacted_thinking": {"type": taken, "data": taken},
			"tool_use":          {"type": taken, "id": taken, "name": taken, "input": taken, "caller": inbound.Only(direct), "cache_control": noEffect},
		}
	}
	text["citations"] = inbound.Only(`[]`)
	if role == roleSystem {
		return map[string]inbound.Rules{"text": text}
	}
	result := map[string]inbound.Rules{"text": text}
	if role == roleTool {
		return result
	}
	result["image"] = inbound.Rules{"type": taken, "source": taken, "cache_control": noEffect}
	result["document"] = inbound.Rules{
		"type": taken, "source": taken, "cache_control": noEffect, "citations": inbound.Only(`{"enabled":false}`, `{}`),
		"title": inbound.Refused(unknownHere), "context": inbound.Refused(unknownHere),
	}
	result["tool_result"] = inbound.Rules{"type": taken, "tool_use_id": taken, "content": taken, "is_error": taken, "cache_control": noEffect}
	return result
}

// sources are the members of a medium's source, by its type.
func sources(kind string) map[string]inbound.Rules {
	data, address := inbound.Rules{"type": taken, "media_type": taken, "data": taken}, inbound.Rules{"type": taken, "url": taken}
	if kind == "document" {
		return map[string]inbound.Rules{"base64": data, "url": address, "text": data}
	}
	return map[string]inbound.Rules{"base64": data, "url": address}
}

// toolMembers are those of a tool, by whether it is the caller's own or a search.
func toolMembers(search bool) inbound.Rules {
	callers, not := inbound.Only(`["direct"]`), inbound.Only(`false`)
	if search {
		return inbound.Rules{
			"type": taken, "name": taken, "cache_control": noEffect, "allowed_callers": callers, "defer_loading": not, "strict": not,
			"max_uses": inbound.Refused(unknownHere), "allowed_domains": inbound.Refused(unknownHere),
			"blocked_domains": inbound.Refused(unknownHere), "user_location": inbound.Refused(unknownHere),
		}
	}
	return inbound.Rules{
		"type": taken, "name": taken, "description": taken, "input_schema": taken, "cache_control": noEffect, "eager_input_streaming": noEffect,
		"allowed_callers": callers, "defer_loading": not, "strict": taken, "input_examples": inbound.Only(`[]`),
	}
}

// isSearch reports whether a type of tool is Anthropic's web search.
func isSearch(kind string) bool {
	return kind == "web_search_20250305" || kind == "web_search_20260209"
}

// Beta reports whether a beta of the header anthropic-beta is known to change no answer by itself: it allows members of
// the body, each of which is taken or refused on its own, or a way that answers have here anyhow.
func Beta(name string) bool {
	switch name {
	case "claude-code-20250219", "oauth-2025-04-20", "interleaved-thinking-2025-05-14", "fine-grained-tool-streaming-2025-05-14",
		"prompt-caching-2024-07-31", "extended-cache-ttl-2025-04-11", "prompt-caching-scope-2026-01-05", "token-counting-2024-11-01",
		"pdfs-2024-09-25", "tools-2024-04-04", "tools-2024-05-16", "messages-2023-12-15", "structured-outputs-2025-11-13",
		"structured-outputs-2025-12-15", "effort-2025-11-24", "adaptive-thinking-2026-01-28", "context-management-2025-06-27", "web-search-2025-03-05",
		"token-efficient-tools-2025-02-19", "advanced-tool-use-2025-11-20", "message-threads-2026-08-12", "mcp-client-2025-04-04", "mcp-client-2025-11-20":
		return true
	}
	return false
}
