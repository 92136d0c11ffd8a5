package server

import (
	"net/http"
	"slices"
	"strings"

	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

// openAI is the door for programs that were written for OpenAI's interface. Its requests are behind the same key, rates
// and holds as the API's, and become tasks as the API's do.
type openAI struct{ *doorway }

func (o *openAI) route() {
	for pattern, m := range map[string]methods{
		openai.PathModels:              {http.MethodGet: plain(o.handleModels)},
		openai.PathModels + "/{model}": {http.MethodGet: plain(o.handleModel)},
		openai.PathChat:                {http.MethodPost: o.calling(openai.Chat)},
		openai.PathEmbeddings:          {http.MethodPost: o.calling(openai.Embeddings)},
		openai.PathModerations:         {http.MethodPost: o.calling(openai.Moderations)},
		openai.PathImages:              {http.MethodPost: o.calling(openai.Images)},
		openai.PathImageEdits:          {http.MethodPost: o.callingByForm(openai.ImageEditForm, openai.ImageEdits)},
		openai.PathSpeech:              {http.MethodPost: o.calling(openai.Speech)},
		openai.PathTranscriptions:      {http.MethodPost: o.callingByForm(openai.Transcription, nil)},
		openai.PathTranslations:        {http.MethodPost: o.callingByForm(openai.Translation, nil)},
		openai.PathResponses:           {http.MethodPost: o.handleResponseCreate},
	} {
		o.handle(pattern, o.limited(o.keyHolder, gate.Creates, m.dispatch))
	}
	o.routeResponses()
}

// failForeign answers an error below openai.Root in OpenAI's shape.
func (o *openAI) failForeign(x *exchange, e *fault.Error, status int) bool {
	if !strings.HasPrefix(x.r.URL.Path, openai.Root) {
		return false
	}
	o.advise(x, e)
	o.respond(x, status, openai.ErrorOf(e, x.id))
	return true
}

func (o *openAI) handleModels(x *exchange) error {
	o.respond(x, http.StatusOK, openai.Models{Object: "list", Data: o.models(x)})
	return nil
}

func (o *openAI) handleModel(x *exchange) error {
	for _, m := range o.models(x) {
		if m.ID == x.r.PathValue("model") {
			o.respond(x, http.StatusOK, m)
			return nil
		}
	}
	return openai.UnknownModel(x.r.PathValue("model"))
}

func (o *openAI) models(x *exchange) []openai.Model {
	all := []openai.Model{}
	for name := range o.callable(x, openai.Callable) {
		all = append(all, openai.ModelOf(name))
	}
	return all
}

// calling returns the handler of calls that read translates.
func (o *openAI) calling(read openai.Reader) handler {
	return func(x *exchange) error {
		sub, err := o.submission(x, optionalKey)
		if err != nil {
			return err
		}
		call, err := read(sub.Body)
		return o.take(x, sub, "", call, err)
	}
}

// take creates the task of a call that was read, or returns why it couldn't be. boundary: of a form, "" of JSON.
func (o *openAI) take(x *exchange, sub gateway.Submission, boundary string, call openai.Call, err error) error {
	if err == nil {
		err = o.name(&call)
	}
	if err != nil {
		sub.Release()
		return err
	}
	content := slices.Values([][]byte{sub.Body})
	if boundary != "" {
		content = openai.Content(sub.Body, boundary)
	}
	o.create(x, sub, content, &doorCall{
		Call: &call, body: call.Body, stream: call.Stream, background: call.Background,
		answer: func(x *exchange, t *task.Task) error { return o.answer(x, &call, t) },
	})
	return nil
}

// name finds the capability of the call's kind that its model names.
func (o *openAI) name(call *openai.Call) error {
	name, ok := o.capability(call.Model, call.Base)
	if !ok {
		return openai.UnknownModel(call.Model)
	}
	call.As(name)
	return nil
}

// answer answers with a task in the form of its call.
func (o *openAI) answer(x *exchange, call *openai.Call, t *task.Task) error {
	if call.HasAnswer() {
		return o.answerMedia(x, call, t)
	}
	return o.write(x, call, t)
}
