package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/door/anthropic"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

// anthropicDoor is the door for programs that were written for Anthropic's interface. Its requests are behind the same
// key, rates and holds as the API's, and become tasks as the API's do.
type anthropicDoor struct{ *doorway }

func (a *anthropicDoor) route() {
	for pattern, route := range map[string]struct {
		class gate.Class
		methods
	}{
		anthropic.PathModels:              {gate.Reads, methods{http.MethodGet: a.handleModels}},
		anthropic.PathModels + "/{model}": {gate.Reads, methods{http.MethodGet: a.handleModel}},
		anthropic.PathMessages:            {gate.Creates, methods{http.MethodPost: a.handleMessages}},
		anthropic.PathCount:               {gate.Reads, methods{http.MethodPost: a.handleCount}},
	} {
		a.handle(pattern, a.limited(a.holder, route.class, checkedVersion(route.dispatch)))
	}
}

// holder is who calls: by x-api-key, as Anthropic's libraries send a key, or as at the API.
func (a *anthropicDoor) holder(x *exchange) (*gate.Caller, error) {
	x.Header().Set(anthropic.HeaderRequestID, x.id)
	if keys := x.r.Header[anthropic.HeaderKey]; len(keys) == 1 && strings.Join(x.r.Header["Authorization"], "") == "" {
		return a.authenticateBy(x, "Bearer "+keys[0], a.gate.Authenticate)
	}
	return a.keyHolder(x)
}

// checkedVersion refuses versions of the interface that aren't known, and betas that aren't known to change no answer.
func checkedVersion(h handler) handler {
	return func(x *exchange) error {
		if v := x.r.Header.Get(anthropic.HeaderVersion); v != "" && !slices.Contains(anthropic.Versions(), v) {
			return fault.Invalid("anthropic-version", "must be "+strings.Join(anthropic.Versions(), " or "))
		}
		for _, value := range x.r.Header[anthropic.HeaderBeta] {
			for name := range strings.SplitSeq(value, ",") {
				if name = strings.TrimSpace(name); name != "" && !anthropic.Beta(name) {
					return fault.Invalid("anthropic-beta", "names a beta that isn't known here: "+strconv.Quote(name[:min(len(name), 64)]))
				}
			}
		}
		return h(x)
	}
}

// failForeign answers an error below anthropic.Root in Anthropic's shape.
func (a *anthropicDoor) failForeign(x *exchange, e *fault.Error, status int) bool {
	if !strings.HasPrefix(x.r.URL.Path, anthropic.Root) {
		return false
	}
	x.Header().Set(anthropic.HeaderRequestID, x.id)
	a.advise(x, e)
	a.respond(x, status, anthropic.ErrorOf(e, x.id))
	return true
}

func (a *anthropicDoor) handleModels(x *exchange) error {
	page, err := anthropic.ModelsOf(slices.Collect(a.callable(x, anthropic.Callable)), x.r.URL.RawQuery)
	if err != nil {
		return err
	}
	a.respond(x, http.StatusOK, page)
	return nil
}

func (a *anthropicDoor) handleModel(x *exchange) error {
	for name := range a.callable(x, anthropic.Callable) {
		if name == x.r.PathValue("model") {
			a.respond(x, http.StatusOK, anthropic.ModelOf(name))
			return nil
		}
	}
	return anthropic.UnknownModel(x.r.PathValue("model"))
}

// read receives and translates a request, and finds the capability that its model names. Without an error the caller
// releases the submission.
func (a *anthropicDoor) read(x *exchange, read func([]byte) (anthropic.Call, error)) (gateway.Submission, anthropic.Call, catalog.Name, error) {
	var call anthropic.Call
	sub, err := a.submission(x, optionalKey)
	if err != nil {
		return sub, call, "", err
	}
	if call, err = read(sub.Body); err == nil {
		if name, ok := a.capability(call.Model, anthropic.Base); ok {
			return sub, call, name, nil
		}
		err = anthropic.UnknownModel(call.Model)
	}
	sub.Release()
	return sub, call, "", err
}

// handleCount answers with an upper bound: a model's own count is known to its supplier alone.
func (a *anthropicDoor) handleCount(x *exchange) error {
	sub, call, name, err := a.read(x, anthropic.Count)
	if err != nil {
		return err
	}
	defer sub.Release()
	size, err := a.gateway.Size(x.r.Context(), *x.caller, call.Body(name))
	if err != nil {
		return call.Explain(err)
	}
	a.respond(x, http.StatusOK, anthropic.TokenCount{InputTokens: size.InputTokens})
	return nil
}

func (a *anthropicDoor) handleMessages(x *exchange) error {
	sub, call, name, err := a.read(x, anthropic.Messages)
	if err != nil {
		return err
	}
	a.create(x, sub, slices.Values([][]byte{sub.Body}), &doorCall{
		Call: &call, body: call.Body(name), stream: call.Stream,
		answer: func(x *exchange, t *task.Task) error { return a.write(x, &call, t) },
	})
	return nil
}
