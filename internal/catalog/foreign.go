package catalog

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const unknownMember = "is not a known member"

// foreignNames maps the names that other APIs have for a member to the name that it has here.
var foreignNames = map[string]string{
	"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens", "max_new_tokens": "max_output_tokens",
	"maxOutputTokens": "max_output_tokens", "num_predict": "max_output_tokens",
	"topP": "top_p", "stop_sequences": "stop", "stopSequences": "stop", "random_seed": "seed",
	"system_prompt": "system", "system_instruction": "system", "systemInstruction": "system", "instructions": "system",
	"num_images": "n", "number_of_images": "n", "numberOfImages": "n", "aspectRatio": "aspect_ratio",
	"image_size": "size", "output_format": "format", "response_format": "format",
	"image_url": "image", "image_urls": "images", "voice_id": "voice", "duration": "duration_seconds",
	"audio_url": "audio", "file": "audio", "timestamp_granularities": "timestamps",
}

// The members that the built-in capabilities take, for hints at the top level of a body, before the capability is
// known.
var (
	commonInputs     = []string{"prompt", "messages", "system", "text", "texts", "image", "images", "mask", "audio", "authorization"}
	commonParameters = []string{
		"max_output_tokens", "temperature", "top_p", "stop", "seed", "dimensions", "n", "size", "aspect_ratio", "format",
		"quality", "voice", "speed", "language", "timestamps", "duration_seconds", "resolution",
	}
)

// hint names the member to use instead of an unknown one in a group, "" for the top level of a body. inputs and
// parameters are the members that there are.
func hint(name, group string, inputs, parameters []string) string {
	switch name {
	case "model":
		return unknownMember + "; the service chooses the model by the capability"
	case "stream":
		return unknownMember + "; send the header Accept: text/event-stream instead"
	case "idempotency_key":
		return unknownMember + "; send the header Idempotency-Key instead"
	}
	own := name
	if ours, foreign := foreignNames[name]; foreign {
		own = ours
	}
	for _, place := range []struct {
		group   string
		members []string
	}{{GroupInput, inputs}, {GroupParameters, parameters}} {
		if slices.Contains(place.members, own) && (own != name || place.group != group) {
			return unknownMember + "; use " + place.group + "." + own
		}
	}
	return unknownMember
}

// enumProblem is the message for a value outside an enum. A conversation's instructions are a member of their own.
func (r *report) enumProblem(path []string, k *kind.Enum) string {
	said, _ := k.Got.(string)
	if len(path) == 3 && path[0] == "messages" && path[2] == "role" && (said == "system" || said == "developer") &&
		slices.Contains(r.inputs, "system") {
		return "must be one of " + valueList(k.Want) + "; put what the model is to be into input.system"
	}
	return phrase(k)
}

// joinedProblems makes one problem of all those of one field.
func joinedProblems(problems []string) string {
	if slices.Contains(problems, "must not be blank") { // an empty text is blank too
		problems = slices.DeleteFunc(problems, func(p string) bool { return p == "must not be empty" })
	}
	return strings.Join(problems, "; ")
}
