package catalog

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const unknownMember = "is not a known member"

// foreignNames maps other APIs' names of members to the names in this directory.
var foreignNames = map[string]string{
	"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens", "max_new_tokens": "max_output_tokens",
	"maxOutputTokens": "max_output_tokens", "num_predict": "max_output_tokens",
	"topP": "top_p", "stop_sequences": "stop", "stopSequences": "stop", "random_seed": "seed",
	"system_prompt": "system", "system_instruction": "system", "systemInstruction": "system", "instructions": "system",
	"num_images": "n", "number_of_images": "n", "numberOfImages": "n", "aspectRatio": "aspect_ratio",
	"image_size": "size", "output_format": "format", "response_format": "format",
	"image_url": "image", "image_urls": "images", "voice_id": "voice", "duration": "duration_seconds",
	"video_url": "video", "upscale_factor": "factor", "audio_url": "audio", "file": "audio", "timestamp_granularities": "timestamps",
	"encoding_format": "encoding", "task_type": "input_type", "taskType": "input_type",
	"diarize": "speakers", "diarization": "speakers", "initial_prompt": "hints", "keywords": "hints", "target_language": "translate_to",
}

// The members of the built-in capabilities, for hints at the top level of a body, before the capability is known.
var (
	commonInputs     = []string{"prompt", "messages", "system", "text", "texts", "query", "documents", "image", "images", "mask", "audio", "video", "hints", "authorization"}
	commonParameters = []string{
		"max_output_tokens", "temperature", "top_p", "stop", "seed", "dimensions", "input_type", "encoding", "n", "size", "aspect_ratio", "format",
		"quality", "background", "input_fidelity", "voice", "speed", "language", "timestamps", "translate_to", "speakers", "duration_seconds", "resolution",
		"top_n", "factor",
	}
)

// hint returns the problem of a member that a group doesn't have, with a replacement if there is one. The group is
// "" for the top level of a body. inputs and parameters are the capability's members.
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
	for _, target := range []struct {
		group   string
		members []string
	}{{GroupInput, inputs}, {GroupParameters, parameters}} {
		if slices.Contains(target.members, own) && (own != name || target.group != group) {
			return unknownMember + "; use " + target.group + "." + own
		}
	}
	return unknownMember
}

// enumProblem returns the problem of a value outside an enum. It points the roles of instructions to the
// member system.
func (r *report) enumProblem(path []string, k *kind.Enum) string {
	got, _ := k.Got.(string)
	if len(path) == 3 && path[0] == "messages" && path[2] == "role" && (got == "system" || got == "developer") &&
		slices.Contains(r.inputs, "system") {
		return "must be one of " + valueList(k.Want) + "; put what the model is to be into input.system"
	}
	return phrase(k)
}

// joinedProblems joins the problems of one field.
func joinedProblems(problems []string) string {
	if slices.Contains(problems, "must not be blank") { // an empty text is blank too
		problems = slices.DeleteFunc(problems, func(p string) bool { return p == "must not be empty" })
	}
	return strings.Join(problems, "; ")
}
