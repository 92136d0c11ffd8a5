package openai

import (
	"slices"
	"strings"

	"unitask/internal/jsonread"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// chatAPI is one of the two APIs that a chat may go by.
type chatAPI string

const (
	completions chatAPI = "chat_completions"
	responses   chatAPI = "responses"

	leastBound   = 16 // tokens, below which the Responses API takes no bound
	mostSearches = 32 // for one answer: so many does the gateway reserve money for
)

func (a chatAPI) path() string {
	if a == responses {
		return "/responses"
	}
	return chatPath
}

// conversation is the member that holds the messages, the system's among them: as instructions of the Responses API they
// would be repeated in the answer.
func (a chatAPI) conversation() string {
	if a == responses {
		return "input"
	}
	return "messages"
}

// text is the type of a text that the model is to read.
func (a chatAPI) text() string {
	if a == responses {
		return "input_text"
	}
	return "text"
}

// file is the type of a file.
func (a chatAPI) file() string {
	if a == responses {
		return "input_file"
	}
	return "file"
}

// api returns the API that a chat goes by: the server's, unless it has no counterpart for a member of the request or
// doesn't serve the model. A seed has none either, but may have no effect.
func (s settings) api(r supplier.Request) chatAPI {
	if s.chatAPI != responses || completionsOnly(r.Model) || slices.Contains(upstream.PartTypes(r), upstream.PartAudio) {
		return completions
	}
	in := jsonread.New(r.Parameters)
	for m := in.Among("max_output_tokens", "stop"); m.Next(); {
		if m.Name == "stop" {
			return completions
		}
		if _, most, known := in.Number(); known && most < leastBound {
			return completions
		}
	}
	return responses
}

// completionsOnly reports whether model is one of the author's that only chat completions serve: those that search by
// themselves, and those that hear.
func completionsOnly(model string) bool {
	name := family(model)
	return ownModel(name) && (strings.Contains(name, "-search") || strings.Contains(name, "-audio")) || strings.HasPrefix(name, "gpt-audio")
}

// limit returns the most bytes that the answer may have. The Responses API repeats the request's tools and schema in it,
// and in three events of a stream.
func (a chatAPI) limit(r supplier.Request) int64 {
	n := upstream.TextLimit(r.Parameters)
	if a == responses {
		n += 4 * int64(len(r.Parameters))
	}
	return n
}
