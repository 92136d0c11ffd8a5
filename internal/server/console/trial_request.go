package console

import (
	"bytes"
	"encoding/json"
	"net/http"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/form"
	"unitask/internal/task"
)

// trialRequest is the result of a posted form: the body of a creation, which the page's script sends to the API's own
// handler; of a preview the same as people read it, and elsewhere.
type trialRequest struct {
	Request   json.RawMessage `json:"request,omitempty"`
	JSON      string          `json:"json,omitempty"`     // of a preview: the request as people read it
	Snippets  []code          `json:"snippets,omitempty"` // of a preview, in which files stand by their names
	RequestID string          `json:"request_id"`
}

// trialShown is a request as the form of its capability shows it.
type trialShown struct {
	Capability string              `json:"capability"`
	Texts      map[string][]string `json:"texts"`
	Rest       string              `json:"rest"`  // that the form doesn't show, as JSON, whose numbers a browser would round; "" without any
	Names      []string            `json:"names"` // of the values in the rest
	RequestID  string              `json:"request_id"`
}

// handleTrialRequest reads a form and runs no task. The API alone judges the input.
func (c *Console) handleTrialRequest(x exchange) error { return answer(c, x, c.trialRequest) }

// handleTrialShow reads a request and answers with the texts that the form shows for it. It runs no task.
func (c *Console) handleTrialShow(x exchange) error { return answer(c, x, c.trialShow) }

// answer answers a posted trial in JSON, an error as the API does.
func answer[T any](c *Console, x exchange, make func(exchange) (T, error)) error {
	made, err := make(x)
	if err != nil {
		e := c.fault(x, x.r, err)
		return respond(x, api.Status(e), api.ErrorResponse{Error: api.ErrorOf(e), RequestID: x.Header().Get(api.HeaderRequestID)})
	}
	return respond(x, http.StatusOK, made)
}

func respond(x exchange, status int, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	x.Header().Set("Content-Type", "application/json; charset=utf-8")
	x.WriteHeader(status)
	_, _ = x.Write(raw) // a browser that is gone is no fault of ours
	return nil
}

func (c *Console) trialRequest(x exchange) (trialRequest, error) {
	posted, err := readTrial(x)
	if err != nil {
		return trialRequest{}, err
	}
	fields, err := c.offered(x, posted, posted.one("capability"))
	if err != nil {
		return trialRequest{}, err
	}
	req, err := posted.Values(fields).Request(posted.one("capability"))
	if err != nil {
		return trialRequest{}, err
	}
	answer := trialRequest{RequestID: x.Header().Get(api.HeaderRequestID)}
	whole, err := withRest(req, posted.one("rest"))
	if err != nil {
		return trialRequest{}, err
	}
	if posted.one("preview") == "" {
		answer.Request = whole
		return answer, nil
	}
	if answer.JSON, err = readable(whole); err != nil {
		return trialRequest{}, err
	}
	var all api.CreateRequest
	if json.Unmarshal(whole, &all) == nil {
		if answer.Snippets, err = c.snippets(fields, all); err == nil {
			return answer, nil
		}
	}
	answer.Snippets, err = c.snippets(fields, req) // the rest may be of any shape
	return answer, err
}

// offered returns the fields of a capability that is open to the visitor in the trial's mode.
func (c *Console) offered(x exchange, p posted, name string) ([]catalog.Field, error) {
	for _, o := range c.gateway.Capabilities(callerOf(x.visitor, task.Mode(p.one("mode")))) {
		if string(o.Capability.Name) == name {
			return o.Capability.Fields(), nil
		}
	}
	return nil, fault.Invalid("capability", "names none that is callable here")
}

// withRest returns the body of a request, and the rest that its form doesn't show.
func withRest(req api.CreateRequest, rest string) (json.RawMessage, error) {
	raw, err := json.Marshal(req)
	if err != nil || rest == "" {
		return raw, err
	}
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader([]byte(rest)))
	d.UseNumber()
	if err := d.Decode(&members); err != nil {
		return nil, fault.Invalid("rest", "must be a JSON object")
	}
	return form.Join(raw, members)
}

// readable writes JSON for people.
func readable(raw json.RawMessage) (string, error) {
	var plain, out bytes.Buffer
	var value any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return "", err
	}
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return "", err
	}
	err := json.Indent(&out, bytes.TrimSpace(plain.Bytes()), "", "  ")
	return out.String(), err
}

func (c *Console) trialShow(x exchange) (trialShown, error) {
	posted, err := readTrial(x)
	if err != nil {
		return trialShown{}, err
	}
	raw, err := form.ReadJSON(posted.one("request"))
	if err != nil {
		return trialShown{}, fault.Invalid("request", err.Error())
	}
	var named struct {
		Capability string `json:"capability"`
	}
	if err := json.Unmarshal(raw, &named); err != nil {
		return trialShown{}, fault.Invalid("request", "must be an object with a capability")
	}
	fields, err := c.offered(x, posted, named.Capability)
	if err != nil {
		return trialShown{}, err
	}
	texts, rest, err := form.Show(fields, raw)
	if err != nil {
		return trialShown{}, fault.Invalid("request", err.Error())
	}
	shown := trialShown{
		Capability: named.Capability, Texts: texts, Names: append([]string{}, form.Names(rest)...), // a list, never null
		RequestID: x.Header().Get(api.HeaderRequestID),
	}
	if len(rest) > 0 {
		raw, err = json.Marshal(rest)
		shown.Rest = string(raw)
	}
	return shown, err
}
