package openai

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"unitask/internal/supplier"
)

// The options of this kind: how a server differs from the format's author.
const (
	// OptionChatAPI is the API of chats: responses, which the format's author has, or chat_completions, which all other
	// servers are assumed to have. A server of the former has the latter too, for requests that the former can't carry.
	OptionChatAPI = "chat_api"
	// OptionSummaries, set to "off", asks for no summaries of thoughts in the Responses API, whose author makes them for
	// verified organizations alone.
	OptionSummaries = "reasoning_summaries"
	// OptionStreamUsage, set to "off", keeps stream_options out of streamed requests, for servers
	// that refuse it; usage is then estimated.
	OptionStreamUsage = "stream_usage"
	// OptionReportedCost, set to "on", takes the "cost" in a usage report as US dollars charged.
	OptionReportedCost = "reported_cost"
	// OptionVectors is the encoding_format of embeddings: base64, a quarter of the bytes, which the
	// format's author knows, or float.
	OptionVectors = "vectors"
	// OptionFeatures lists what the server's chat can do beyond text, some of: json_schema, json_object, images, audio,
	// documents, tools, reasoning, web_search; or "none". The format's author can do all of it, of other servers none is assumed.
	OptionFeatures = "features"
	// OptionImageFields lists the fields that the server's images take beyond model and prompt: some
	// of n, size, aspect_ratio, quality, background, input_fidelity, output_format and seed, or "none".
	OptionImageFields = "image_fields"
	// OptionImageFormat is the format of the images if output_format isn't among their fields.
	OptionImageFormat = "image_format"
	// OptionImageAnswer, "b64_json" or "url", is asked for as response_format; "" omits it.
	OptionImageAnswer = "image_answer"
	// OptionSpeechFields lists the fields that the server's speech takes beyond model, input, voice
	// and response_format: some of instructions and speed, or "none".
	OptionSpeechFields = "speech_fields"
	// OptionSpeechFormats lists the formats that the server's speech can have.
	OptionSpeechFormats = "speech_formats"
	// OptionVoice is the default voice.
	OptionVoice = "voice"
	// OptionTranscripts is the response_format of a transcription: verbose_json, which has times, or
	// json. By default the model decides.
	OptionTranscripts = "transcripts"
	// OptionTranscriptFeatures lists what the server's transcription can do beyond text and times, some of: hints and
	// translation; or "none". The format's author can do both, of other servers neither is assumed.
	OptionTranscriptFeatures = "transcript_features"
)

const (
	on, off, none = "on", "off", "none"

	featureSchema    = "json_schema"
	featureObject    = "json_object"
	featureImages    = "images"
	featureAudio     = "audio"
	featureDocuments = "documents"
	featureTools     = "tools"
	featureReasoning = "reasoning"
	featureSearch    = "web_search"

	featureHints       = "hints"
	featureTranslation = "translation"

	defaultVoice = "alloy"
	authorHost   = "api.openai.com"
)

var allFeatures = []string{
	featureSchema, featureObject, featureImages, featureAudio, featureDocuments, featureTools, featureReasoning, featureSearch,
}

// imageFields are the fields of images that every server is taken to know, and chosenFields those of the format's author.
var (
	imageFields  = slices.Clip([]string{"n", "size", "quality", "output_format"})
	chosenFields = slices.Clip([]string{"background", "input_fidelity"})
)

// settings are a server's ways, from its configuration.
type settings struct {
	chatAPI       chatAPI
	summaries     bool
	maxTokens     string // the field that bounds the output
	streamUsage   bool
	reportedCost  bool
	vectors       string // their encoding_format
	features      []string
	imageFields   []string
	imageFormat   string
	imageAnswer   string
	speechFields  []string
	speechFormats []string
	voice         string
	transcripts   string // "": as the model

	transcriptFeatures []string
}

// newSettings reads c; its errors are about the configuration.
func newSettings(c supplier.Config, host string) (settings, error) {
	o := options{given: c.Options}
	s := settings{
		maxTokens:     c.MaxTokensField,
		summaries:     o.one(OptionSummaries, on, off) == on,
		streamUsage:   o.one(OptionStreamUsage, on, off) == on,
		imageFormat:   o.one(OptionImageFormat, "png", "jpeg", "webp"),
		imageAnswer:   o.one(OptionImageAnswer, "", "b64_json", "url"),
		speechFields:  o.some(OptionSpeechFields, []string{"instructions", "speed"}),
		speechFormats: o.some(OptionSpeechFormats, []string{"wav", "mp3", "opus", "aac", "flac"}),
		voice:         o.any(OptionVoice, defaultVoice),
		transcripts:   o.one(OptionTranscripts, "", "json", "verbose_json"),
	}
	if host == "openrouter.ai" {
		s.reportedCost = o.one(OptionReportedCost, on, off) == on
	} else {
		s.reportedCost = o.one(OptionReportedCost, off, on) == on
	}
	if host == authorHost {
		s.vectors = o.one(OptionVectors, "base64", "float")
		s.features = o.some(OptionFeatures, allFeatures)
		s.imageFields = o.some(OptionImageFields, append(imageFields, chosenFields...), "aspect_ratio", "seed")
		s.transcriptFeatures = o.some(OptionTranscriptFeatures, []string{featureHints, featureTranslation})
		s.chatAPI = chatAPI(o.one(OptionChatAPI, string(responses), string(completions)))
	} else {
		s.transcriptFeatures = o.some(OptionTranscriptFeatures, nil, featureHints, featureTranslation)
		s.chatAPI = chatAPI(o.one(OptionChatAPI, string(completions), string(responses)))
		s.features = o.some(OptionFeatures, nil, allFeatures...)
		s.imageFields = o.some(OptionImageFields, imageFields, append(chosenFields, "aspect_ratio", "seed")...)
		s.vectors = o.one(OptionVectors, "float", "base64")
	}
	switch s.maxTokens {
	case fieldMaxTokens, fieldMaxCompletionTokens:
	case "":
		s.maxTokens = defaultMaxTokens(host)
	default:
		o.fail(fmt.Errorf("max_tokens_field must be %s or %s", fieldMaxTokens, fieldMaxCompletionTokens))
	}
	return s, o.err
}

// defaultMaxTokens returns the newer field for the format's author, the one that every compatible
// server knows for the rest: some ignore the newer.
func defaultMaxTokens(host string) string {
	if host == authorHost {
		return fieldMaxCompletionTokens
	}
	return fieldMaxTokens
}

// options reads the operator's options and keeps the first error.
type options struct {
	given map[string]string
	err   error
}

func (o *options) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *options) any(name, otherwise string) string {
	if v := o.given[name]; v != "" {
		return v
	}
	return otherwise
}

// one returns one of the values; the first is the default.
func (o *options) one(name string, values ...string) string {
	v := o.any(name, values[0])
	if !slices.Contains(values, v) {
		known := slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" })
		o.fail(fmt.Errorf("option %s must be %s", name, strings.Join(known, " or ")))
	}
	return v
}

// some returns a list of words, which are among usual, the default, and more.
func (o *options) some(name string, usual []string, more ...string) []string {
	v := o.any(name, "")
	switch v {
	case "":
		return usual
	case none:
		return nil
	}
	list, known := strings.Fields(strings.ReplaceAll(v, ",", " ")), slices.Concat(usual, more)
	for _, word := range list {
		if !slices.Contains(known, word) {
			o.fail(errors.New("option " + name + " must be none or some of " + strings.Join(known, ", ")))
		}
	}
	return list
}
