package openai

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// Refuses says why this server can't honour the request, as it is configured; "" when it can. Kind.Refuses has
// excluded requests that its format can't do.
func (s settings) Refuses(r supplier.Request) string {
	switch catalog.Name(r.Capability) {
	case catalog.TextChat:
		return s.refusesChat(r)
	case catalog.ImageGenerate, catalog.ImageEdit:
		return s.refusesImage(r)
	case catalog.AudioSpeech:
		return s.refusesSpeech(r)
	case catalog.AudioTranscribe:
		return s.refusesTranscript(r)
	default:
		return ""
	}
}

// partFeatures maps the types of a message's parts to the features that they take.
var partFeatures = map[string]string{
	upstream.PartImage: featureImages, upstream.PartAudio: featureAudio, upstream.PartDocument: featureDocuments,
}

// refusesChat names the member that the server's chat can't honour.
func (s settings) refusesChat(r supplier.Request) string {
	for _, kind := range upstream.PartTypes(r) {
		if feature := partFeatures[kind]; feature != "" && !slices.Contains(s.features, feature) {
			return unknownFeature(feature, "take "+feature+" in a chat")
		}
	}
	if !slices.Contains(s.features, featureTools) && upstream.HasToolCalls(r) {
		return unknownFeature(featureTools, "call tools")
	}
	in := jsonread.New(r.Parameters)
	for m := in.Among(catalog.OutputSchema, catalog.Tools, catalog.Reasoning, catalog.WebSearch); m.Next(); {
		value := in.Value()
		asked := memberFeatures[m.Name]
		if m.Name == catalog.OutputSchema && catalog.IsAnyObject(value) {
			asked = anyObject
		}
		if string(value) != "false" && !slices.Contains(s.features, asked.feature) {
			return unknownFeature(asked.feature, asked.ability)
		}
		if m.Name == catalog.WebSearch && string(value) == "true" {
			return s.refusesSearch(r)
		}
	}
	return ""
}

// refusesSearch knows the models that search the web by the Responses API alone.
func (s settings) refusesSearch(r supplier.Request) string {
	switch {
	case catalog.IsAnyObject(upstream.Members(r.Parameters)[catalog.OutputSchema]):
		return "the format searches the web beside no JSON of any form"
	case !ownModel(r.Model) || strings.Contains(r.Model, "-search") || s.api(r) == responses:
		return ""
	case s.chatAPI == responses:
		return "the model searches the web by the Responses API alone, which has no counterpart for another member of the request"
	default:
		return "the model doesn't search the web in this format"
	}
}

// ability is a feature, and in words.
type ability struct{ feature, ability string }

// anyObject is the ability that an output schema of any object takes.
var anyObject = ability{featureObject, "answer with JSON of any form"}

// memberFeatures maps parameters of a chat to the features that they take.
var memberFeatures = map[string]ability{
	catalog.OutputSchema: {featureSchema, "answer with the JSON of a schema"},
	catalog.Tools:        {featureTools, "call tools"},
	catalog.Reasoning:    {featureReasoning, "reason more or less"},
	catalog.WebSearch:    {featureSearch, "search the web"},
}

func unknownFeature(feature, ability string) string {
	return "the server isn't known to " + ability + " (features: " + feature + " says that it does)"
}

func (s settings) refusesImage(r supplier.Request) string {
	var p imageParameters
	if upstream.Decode(r.Parameters, &p) != nil {
		return unread
	}
	takes := func(field string) bool { return slices.Contains(s.imageFields, field) }
	size := p.Size
	if p.AspectRatio != "" && !takes("aspect_ratio") {
		size = sizes[p.AspectRatio]
	}
	switch {
	case p.N != nil && *p.N != 1 && !takes("n"):
		return "the server makes one image at a time"
	case size != "" && !takes("size"):
		return "the server takes no size"
	case p.Quality != "" && !takes("quality"):
		return "the server takes no quality"
	case p.Format != "" && p.Format != s.imageFormat && !takes("output_format"):
		return "the server makes " + s.imageFormat + " only"
	}
	return cmp.Or(s.backgroundRefused(r.Model, p), s.fidelityRefused(r.Model, p), sizeRefused(r.Model, size))
}

const transparent = "transparent"

// backgroundRefused says why the background can't be chosen; a model's own choice needs no field.
func (s settings) backgroundRefused(model string, p imageParameters) string {
	name, format := family(model), p.Format
	if !slices.Contains(s.imageFields, "output_format") {
		format = s.imageFormat
	}
	switch {
	case p.Background == "" || p.Background == "auto":
		return ""
	case !slices.Contains(s.imageFields, "background"):
		return "the server takes no background"
	case p.Background != transparent:
		return ""
	case name == "gpt-image-2" || strings.HasPrefix(name, "gpt-image-2-"):
		return "the model makes no transparent images"
	case format == "jpeg":
		return "a JPEG has no transparent background"
	}
	return ""
}

// fidelityRefused says why the fidelity can't be chosen.
func (s settings) fidelityRefused(model string, p imageParameters) string {
	switch {
	case p.Fidelity == "", p.Fidelity == "high" && alwaysFaithful(model):
		return ""
	case alwaysFaithful(model):
		return "the model always keeps to the images given"
	case strings.HasPrefix(family(model), "gpt-image-1-mini"), !slices.Contains(s.imageFields, "input_fidelity"):
		return "the server or the model takes no fidelity"
	}
	return ""
}

// alwaysFaithful knows the models whose fidelity is high without a choice.
func alwaysFaithful(model string) bool { return strings.HasPrefix(family(model), "gpt-image-2") }

func (s settings) refusesSpeech(r supplier.Request) string {
	var in speechInput
	var p speechParameters
	if upstream.Decode(r.Input, &in) != nil || upstream.Decode(r.Parameters, &p) != nil {
		return unread
	}
	takes := func(field string) bool { return slices.Contains(s.speechFields, field) }
	switch {
	case in.Instructions != "" && (!takes("instructions") || strings.HasPrefix(family(r.Model), "tts-1")):
		return "the server or the model takes no instructions"
	case utf8.RuneCountInString(in.Text) > mostSpoken && ownSpeech(r.Model):
		return "the model speaks no text of this length"
	case p.Speed != nil && *p.Speed != 1 && !takes("speed"):
		return "the server takes no speed"
	case p.Format != "" && !slices.Contains(s.speechFormats, p.Format):
		return "the server doesn't speak in this format"
	default:
		return ""
	}
}

// mostSpoken is the longest text that the models of the format's author speak, in characters.
const mostSpoken = 4096

func ownSpeech(model string) bool {
	name := family(model)
	return strings.HasPrefix(name, "tts-1") || strings.HasPrefix(name, "gpt-4o-mini-tts")
}

// mostHinted is how many bytes of hints the Whisper models heed: 224 tokens at four bytes each.
const mostHinted = 4 * 224

func (s settings) refusesTranscript(r supplier.Request) string {
	var in transcribeInput
	var p transcribeParameters
	if upstream.Decode(r.Input, &in) != nil || upstream.Decode(r.Parameters, &p) != nil {
		return unread
	}
	format := s.transcriptFormat(r.Model, p)
	can := func(feature string) bool { return slices.Contains(s.transcriptFeatures, feature) }
	switch {
	case p.Speakers && format != diarizedJSON:
		return "the model doesn't tell speakers"
	case p.words() && format != verboseJSON:
		return "the model gives no times of words"
	case p.lines() && format == plainJSON:
		return "the model gives no times"
	case in.Hints != nil && namesSpeakers(r.Model):
		return "the model takes no hints"
	case in.Hints != nil && !can(featureHints):
		return "the server isn't known to take hints (transcript_features: hints says that it does)"
	case format == verboseJSON && len(prompt(in.Hints)) > mostHinted:
		return "the model doesn't heed so many hints"
	case p.TranslateTo != "":
		return translationRefused(r.Model, format, p, can(featureTranslation))
	}
	return ""
}

// translationRefused says why a recording can't be translated; the models that can write English alone, of a language
// that they find out.
func translationRefused(model, format string, p transcribeParameters, can bool) string {
	switch {
	case primary(p.TranslateTo) != english:
		return "the format translates into English alone"
	case format != verboseJSON || strings.Contains(model, "turbo"):
		return "the model doesn't translate"
	case !can:
		return "the server isn't known to translate (transcript_features: translation says that it does)"
	case p.Language != "":
		return "a translation takes no language of the recording"
	case p.words():
		return "a translation has no times of words"
	}
	return ""
}

const unread = "the request doesn't fit this kind"
