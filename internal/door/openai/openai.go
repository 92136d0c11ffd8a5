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
	"unitask/internal/fault"
	"unitask/internal/jsonread"
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
	oneText   bool      // the input of embeddings is one text, not a list
	response  *response // of a call that is answered with a response; nil for the others
}

// Reader translates the body of a request. Its errors name the caller's own members.
type Reader func(body []byte) (Call, error)

// request is a body that is read.
type request struct {
	values   map[string][]byte // the members of the body that aren't null
	files    map[string][]part // those of a form that are files
	problems []fault.Detail
}

// read checks a body as JSON and its members by the rules, and hands them over to be translated. A body of many bytes
// is worked on in turn.
func read(body []byte, rules rules, translate func(*request) Call) (Call, error) {
	defer bulk.Turn(len(body))()
	if refused := catalog.CheckJSON(body, catalog.Limits{}); refused != nil {
		return Call{}, refusal(nil, refused)
	}
	r := &request{}
	in := jsonread.Sound(body)
	if in.Peek() != '{' {
		return Call{}, fault.Invalid("body", "must be a JSON object")
	}
	r.values = r.members(body, "", rules)
	c := translate(r)
	if len(r.problems) > 0 {
		return Call{}, invalid(r.problems)
	}
	return c, nil
}

// row notes what is wrong with a member.
func (r *request) row(field, problem string) {
	if len(r.problems) < mostProblems {
		r.problems = append(r.problems, fault.Detail{Field: field, Message: problem})
	}
}

// mostProblems is the most rows of one error.
const mostProblems = 20

// members returns the members of an object, those that are null left out, and notes those that break a rule; nil if the
// value is no object.
func (r *request) members(object []byte, at string, rules rules) map[string][]byte {
	in := jsonread.Sound(object)
	if in.Peek() != '{' {
		r.row(at, "must be an object")
		return nil
	}
	all := map[string][]byte{}
	in.Open('{')
	for in.More('}') {
		name := string(in.Name())
		value := in.Value()
		if len(value) == 0 || value[0] == 'n' {
			continue // null is absent
		}
		rule, known := rules[name]
		if !known {
			r.row(under(at, name), "is not known here")
		} else if problem := rule(value); problem != "" {
			r.row(under(at, name), problem)
		} else {
			all[name] = value
		}
	}
	return all
}

// elements calls each with the elements of a list; false if the value is no list.
func elements(list []byte, each func(i int, value []byte)) bool {
	in := jsonread.Sound(list)
	if in.Peek() != '[' {
		return false
	}
	in.Open('[')
	for i := 0; in.More(']'); i++ {
		each(i, in.Value())
	}
	return true
}

// text returns the text of a required member that is a string, and notes it otherwise.
func (r *request) text(values map[string][]byte, at, name string) []byte {
	value, ok := values[name]
	if !ok {
		r.row(under(at, name), "is required")
		return nil
	}
	said, ok := textOf(value)
	if !ok {
		r.row(under(at, name), "must be a string")
	}
	return said
}

// flag returns a member that is true or false; false without it.
func (r *request) flag(values map[string][]byte, at, name string) bool {
	switch string(values[name]) {
	case "true":
		return true
	case "false", "":
	default:
		r.row(under(at, name), "must be true or false")
	}
	return false
}

// textOf returns the text of a JSON string, which shares memory with it unless it has escapes.
func textOf(value []byte) (said []byte, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return nil, false
	}
	in := jsonread.Sound(value)
	_, said = in.Text()
	return said, true
}

// copied writes a member under a name of the service's if the request has it.
func copied(w *jsonwrite.Writer, values map[string][]byte, name, as string) {
	if value, ok := values[name]; ok {
		w.Name(as)
		w.JSON(value)
	}
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
