// Package openai translates between OpenAI's interface and the service's: chat completions, responses, embeddings,
// images, audio, moderations and the list of models, as OpenAI's published document has them.
//
// A request becomes the body of a task's creation, which the gateway checks as any other: this package checks only what
// the translation needs. A member that the service can't honour is refused by its name; docs/doors.md has a decision
// for every member that OpenAI's document lists, and none is dropped that would change the answer. A task becomes an
// answer, or the chunks of a stream, and an error one of OpenAI's shape with the service's own code beside. An answer
// of media is told as pieces, among them files, which whoever sends it reads from the store.
//
// Invariants: a translated body shares no memory with the request; a field that an error names is one of the caller's
// request; no answer names a supplier.
package openai

import (
	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// The paths, relative to the base URL. Whatever else is below Root is unknown.
const (
	Root           = "/openai/"
	PathModels     = Root + "v1/models"
	PathChat       = Root + "v1/chat/completions"
	PathResponses  = Root + "v1/responses"
	PathEmbeddings = Root + "v1/embeddings"

	PathImages         = Root + "v1/images/generations"
	PathImageEdits     = Root + "v1/images/edits"
	PathSpeech         = Root + "v1/audio/speech"
	PathTranscriptions = Root + "v1/audio/transcriptions"
	PathTranslations   = Root + "v1/audio/translations"
	PathModerations    = Root + "v1/moderations"
)

// The headers beside the API's own.
const (
	HeaderTaskID      = "X-Task-Id"
	HeaderShouldRetry = "X-Should-Retry"          // obeyed by OpenAI's libraries before the status
	HeaderRetryCount  = "X-Stainless-Retry-Count" // sent by them: 0, and more with each retry
)

// Members of a task's creation.
const (
	memberMetadata   = "metadata" // called alike here and there
	memberCapability = "capability"
)

// The capabilities that the paths need, or tiers of them.
const (
	chatBase  catalog.Name = "text.chat"
	embedBase catalog.Name = "text.embed"

	imageBase      catalog.Name = "image.generate"
	editBase       catalog.Name = "image.edit"
	speechBase     catalog.Name = "audio.speech"
	transcribeBase catalog.Name = "audio.transcribe"
	moderateBase   catalog.Name = "text.moderate"
)

// Call is a request in the service's own terms.
type Call struct {
	Model string       // a capability
	Base  catalog.Name // that the capability must be, or extend
	Body  []byte       // of a task's creation

	Stream       bool
	IncludeUsage bool // a last chunk tells the usage
	Background   bool // the answer is the task as it is accepted, and however it ends

	answer  func(*Call, *task.Task, Link) (Answer, error) // nil: Write answers
	renamed []renaming                                    // before those of all calls

	maxTokens string    // the caller's name of max_output_tokens
	silent    []int     // messages of the request that have no place in the task's conversation
	oneText   bool      // the input of embeddings is one text, not a list
	response  *response // of a call that is answered with a response; nil for the others
}

// Reader translates the body of a request. Its errors name the caller's own members.
type Reader func(body []byte) (Call, error)

// request is a body that is read.
type request struct {
	inbound.Body

	values map[string][]byte // the members of the body that aren't null
	files  map[string][]part // those of a form that are files
	silent []int             // messages without a place in the conversation
}

// read checks a body as JSON and its members by the rules, and hands them over to be translated. A body of many bytes
// is worked on in turn.
func read(body []byte, rules inbound.Rules, translate func(*request) Call) (Call, error) {
	defer bulk.Turn(len(body))()
	r := &request{Body: inbound.Body{Brackets: true}}
	values, err := r.Object(body, rules)
	if err != nil {
		return Call{}, refusal(nil, fault.From(err))
	}
	r.values = values
	c := translate(r)
	if err := r.Err(); err != nil {
		return Call{}, err
	}
	return c, nil
}

// body returns the body of a creation; metadata: nil for none.
func body(model string, input, parameters *jsonwrite.Writer, metadata []byte) []byte {
	in, err := input.Bytes()
	given, wrong := parameters.Bytes()
	if err != nil || wrong != nil {
		return nil // neither has a number, which alone can fail
	}
	w := jsonwrite.New(len(in) + len(given) + len(metadata) + len(model) + 128)
	w.Begin('{')
	w.Name(catalog.GroupInput)
	w.JSON(in)
	w.Name(catalog.GroupParameters)
	w.JSON(given)
	if metadata != nil {
		w.Name(memberMetadata)
		w.JSON(metadata)
	}
	w.Name(memberCapability)
	w.String(model)
	w.End('}')
	whole, _ := w.Bytes()
	return whole
}

// As makes the call one of the named capability, which the caller's model is another name of.
func (c *Call) As(name catalog.Name) {
	if string(name) == c.Model {
		return
	}
	last := jsonwrite.New(len(c.Model) + 2)
	last.String(c.Model)
	said, _ := last.Bytes()
	w := jsonwrite.Append(c.Body[:len(c.Body)-len(said)-1]) // body writes the capability last, so that no body is copied for it
	w.String(string(name))
	w.End('}')
	c.Body, _ = w.Bytes()
}
