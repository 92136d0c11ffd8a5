package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// The API's limits.
const (
	mostTexts      = 100
	mostDimensions = 3072
	mostReferences = 3
	longVideo      = 8 // seconds, of whatever goes beyond the simplest
)

// honours lists the members that have a counterpart, or can do without: a seed of a video, and the declaration about
// a person, which is the gateway's matter.
var honours = upstream.Honours{
	catalog.TextChat: {
		Input:      []string{"prompt", "messages", "system"},
		Parameters: upstream.ChatMembers(),
	},
	catalog.TextEmbed: {Input: []string{"texts"}, Parameters: []string{"dimensions", "input_type"}},
	catalog.ImageGenerate: {
		Input: []string{"prompt"}, Parameters: []string{"n", "aspect_ratio", "size", "format", "background", "seed"},
	},
	catalog.ImageEdit: {
		Input:      []string{"prompt", "images", "authorization"},
		Parameters: []string{"n", "aspect_ratio", "size", "format", "seed"},
	},
	catalog.AudioSpeech: {Input: []string{"text", "instructions"}, Parameters: []string{"voice", "format", "speed"}},
	catalog.VideoGenerate: {
		Input:      []string{"prompt", "image", "last_image", "reference_images", "authorization"},
		Parameters: []string{"duration_seconds", "aspect_ratio", "resolution", "audio", "seed"},
	},
}

// refuses says why a request can't be honoured, for the router and the operator.
func refuses(r supplier.Request) string {
	if why := honours.Refuses(r); why != "" {
		return why
	}
	switch catalog.Name(r.Capability) {
	case catalog.TextChat:
		return chatRefused(r)
	case catalog.TextEmbed:
		return embedRefused(r)
	case catalog.ImageGenerate, catalog.ImageEdit:
		return imageRefused(r)
	case catalog.AudioSpeech:
		return speechRefused(r)
	case catalog.VideoGenerate:
		return videoRefused(r)
	default:
		return ""
	}
}

// chatRefused knows what the models can't do. The format takes a web search beside tools too, but only from callers that
// send each part of an answer back, to the last member: a state may be left out.
func chatRefused(r supplier.Request) string {
	calls := upstream.HasToolCalls(r)
	if !calls && !asksMore(r.Parameters) {
		return ""
	}
	var p upstream.ChatParameters
	if upstream.Decode(r.Parameters, &p) != nil {
		return ""
	}
	t, tools := traitsOf(r.Model), len(p.Tools) > 0
	switch {
	case (tools || calls) && !t.tools:
		return "the model calls no tools"
	case p.WebSearch && !t.search:
		return "the model doesn't search the web"
	case p.ParallelToolCalls != nil && !*p.ParallelToolCalls:
		return "the format can't ask for one tool call at a time"
	case tools && p.WebSearch:
		return "the format takes no web search beside tools"
	case (tools || p.WebSearch) && len(p.OutputSchema) > 0 && !t.third:
		return "the model takes no output_schema beside tools or a web search"
	}
	_, why := newThinking(r.Model, p.Reasoning, p.MaxOutputTokens)
	return why
}

// asksMore reports whether there may be one of the parameters that most chats don't have.
func asksMore(parameters []byte) bool {
	for _, name := range []string{catalog.Tools, catalog.Reasoning, catalog.WebSearch} {
		if bytes.Contains(parameters, []byte(`"`+name+`"`)) {
			return true
		}
	}
	return false
}

func embedRefused(r supplier.Request) string {
	var in struct {
		Texts []json.RawMessage `json:"texts"`
	}
	var p embedParameters
	switch {
	case upstream.Decode(r.Input, &in) != nil || upstream.Decode(r.Parameters, &p) != nil:
		return "" // a request like that is refused when it is made
	case len(in.Texts) > mostTexts:
		return fmt.Sprintf("the format takes %d texts at once", mostTexts)
	case p.Dimensions != nil && *p.Dimensions > mostDimensions:
		return fmt.Sprintf("the models have vectors of %d dimensions at most", mostDimensions)
	}
	return ""
}

func imageRefused(r supplier.Request) string {
	var p imageParameters
	if upstream.Decode(r.Parameters, &p) != nil {
		return ""
	}
	if p.N != nil && *p.N > 1 {
		return "the format makes one image at a time"
	}
	if p.Background == "transparent" {
		return "the models make opaque images alone"
	}
	if p.Format == "webp" {
		return "the format makes no image/webp"
	}
	_, why := newImageConfig(r.Model, p)
	return why
}

func speechRefused(r supplier.Request) string {
	var p speechParameters
	if upstream.Decode(r.Parameters, &p) != nil {
		return ""
	}
	if p.Format != "" && p.Format != "wav" {
		return "the format makes WAV alone"
	}
	if len(p.Speed) > 0 && !upstream.IsNumber(p.Speed, 1) {
		return "the format knows no speed"
	}
	return ""
}

func videoRefused(r supplier.Request) string {
	var in struct {
		Image      upstream.Passed   `json:"image"`
		References []upstream.Passed `json:"reference_images"`
	}
	var p videoParameters
	if upstream.Decode(r.Input, &in) != nil || upstream.Decode(r.Parameters, &p) != nil {
		return ""
	}
	large := p.Resolution != "" && p.Resolution != "720p"
	switch {
	case p.Audio != nil && !*p.Audio:
		return "the models' videos always have sound"
	case p.AspectRatio != "" && p.AspectRatio != "16:9" && p.AspectRatio != "9:16":
		return "the models make videos of 16:9 and 9:16 alone"
	case p.Seconds != nil && !slices.Contains([]int{4, 6, longVideo}, *p.Seconds):
		return "the models make videos of 4, 6 and 8 seconds alone"
	case (large || len(in.References) > 0) && p.Seconds != nil && *p.Seconds != longVideo:
		return "the models make 8 seconds alone where the resolution is above 720p or there are reference images"
	case p.Resolution == "4k" && strings.Contains(r.Model, "-lite"):
		return "the model makes no 4k"
	case len(in.References) > mostReferences:
		return fmt.Sprintf("the format takes %d reference images", mostReferences)
	case len(in.References) > 0 && (bool(in.Image) || strings.Contains(r.Model, "-lite")):
		return "the model takes no reference images, or none beside a first frame"
	}
	return ""
}
