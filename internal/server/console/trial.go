package console

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/form"
	"unitask/internal/gateway"
	"unitask/internal/snippet"
	"unitask/internal/task"
)

// trialBytes bounds a posted trial with its files. The API itself bounds it.
const trialBytes = 16 << 20

// trialView is the data of the trial.
type trialView struct {
	Mode         task.Mode
	Capabilities []choice
	Chosen       api.Capability // its Name is "" if no capability is open in this mode
	Shown, Rest  []group
	Snippets     []code
	Tasks        string // the address of the script's requests
	Uploads      string // that of its large files
}

// choice is a capability to choose.
type choice struct {
	Name, Title string
	Here        bool
}

// code is the request as it is run elsewhere.
type code struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// handleTrial shows the form of a capability, filled with its example.
func (c *Console) handleTrial(x exchange) error {
	mode := cmp.Or(task.Mode(x.r.URL.Query().Get("mode")), task.Test)
	if mode != task.Live && mode != task.Test {
		return fault.Invalid("mode", "must be live or test")
	}
	offers := c.gateway.Capabilities(callerOf(x.visitor, mode))
	v := trialView{Mode: mode, Tasks: c.path("/api/" + string(mode) + "/tasks"), Uploads: c.path("/api/" + string(mode) + "/uploads")}
	name := catalog.Name(x.r.URL.Query().Get("capability"))
	at := slices.IndexFunc(offers, func(o gateway.Offer) bool { return o.Capability.Name == cmp.Or(name, "text.chat") })
	if at < 0 && (name == "" || x.r.URL.Query().Has("mode")) {
		at = 0 // the other mode may lack it
	}
	if at < 0 {
		return fault.Invalid("capability", "names none that is callable here")
	}
	for i, o := range offers {
		v.Capabilities = append(v.Capabilities, choice{string(o.Capability.Name), o.Capability.Title, i == at})
	}
	if len(offers) > 0 {
		o := offers[at]
		if err := c.fillTrial(&v, o); err != nil {
			return err
		}
	}
	return c.show(x, page{Name: "trial", Section: "trial", Title: "Trial", Data: v})
}

func (c *Console) fillTrial(v *trialView, o gateway.Offer) error {
	v.Chosen = api.FromCapability(o.Capability, o.Price)
	var example api.CreateRequest
	if err := json.Unmarshal(o.Capability.Example, &example); err != nil {
		return err
	}
	fields := o.Capability.Fields()
	texts := form.Fill(fields, example.Input, example.Parameters)
	delete(texts, "input.authorization.person") // leaving a form as it is doesn't vouch
	v.Shown, v.Rest = groups(fields, texts)
	request, err := form.Posted{Texts: texts}.Values(fields).Request(example.Capability)
	if err != nil {
		return err
	}
	v.Snippets, err = c.snippets(fields, request)
	return err
}

// snippets writes the request as it is run elsewhere. The key is the reader's own, from the environment.
func (c *Console) snippets(fields []catalog.Field, req api.CreateRequest) ([]code, error) {
	short, _, err := snippet.Short(req)
	if err != nil {
		return nil, err
	}
	base := c.base.String()
	var all []code
	for _, one := range []struct {
		name  string
		write func() (string, error)
	}{
		{"CLI", func() (string, error) { return snippet.CommandAt(base, fields, req) }},
		{"curl", func() (string, error) { return snippet.Curl(base, rand.Text(), short, nil) }},
		{"Go", func() (string, error) { return snippet.Go(base, short) }},
		{"Python", func() (string, error) { return snippet.Python(base, short) }},
		{"JavaScript", func() (string, error) { return snippet.JavaScript(base, short) }},
	} {
		text, err := one.write()
		if err != nil {
			return nil, err
		}
		all = append(all, code{one.name, text})
	}
	return all, nil
}

// trialRequest is the result of a posted form: the body of a creation, which the page's script sends to the API's own
// handler, and the same elsewhere.
type trialRequest struct {
	Request   *api.CreateRequest `json:"request,omitempty"`
	Snippets  []code             `json:"snippets"`
	RequestID string             `json:"request_id"`
}

// handleTrialRequest reads a form and runs no task. The API alone judges the input.
func (c *Console) handleTrialRequest(x exchange) error {
	answer, err := c.trialRequest(x)
	if err != nil {
		e := c.fault(x, x.r, err)
		return respond(x, api.Status(e), api.ErrorResponse{Error: api.ErrorOf(e), RequestID: x.Header().Get(api.HeaderRequestID)})
	}
	return respond(x, http.StatusOK, answer)
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
	form, err := readTrial(x)
	if err != nil {
		return trialRequest{}, err
	}
	mode := task.Mode(form.one("mode"))
	name := catalog.Name(form.one("capability"))
	offers := c.gateway.Capabilities(callerOf(x.visitor, mode))
	at := slices.IndexFunc(offers, func(o gateway.Offer) bool { return o.Capability.Name == name })
	if at < 0 {
		return trialRequest{}, fault.Invalid("capability", "names none that is callable here")
	}
	fields := offers[at].Capability.Fields()
	req, err := form.Values(fields).Request(string(name))
	if err != nil {
		return trialRequest{}, err
	}
	answer := trialRequest{RequestID: x.Header().Get(api.HeaderRequestID)}
	if form.one("preview") == "" {
		answer.Request = &req
	}
	answer.Snippets, err = c.snippets(fields, req)
	return answer, err
}

// posted is a trial as a browser sent it.
type posted struct{ form.Posted }

func (p posted) one(name string) string {
	if all := p.Texts[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// readTrial reads a multipart form into memory: no file of it touches a disk here.
func readTrial(x exchange) (posted, error) {
	p := posted{form.Posted{Texts: map[string][]string{}, Files: map[string][][]byte{}}}
	x.r.Body = http.MaxBytesReader(x, x.r.Body, trialBytes)
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return p, fault.Invalid("Content-Type", "must be multipart/form-data").WithAspect(fault.AspectMediaType)
	}
	parts := multipart.NewReader(x.r.Body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		var raw []byte
		if err == nil {
			raw, err = io.ReadAll(part)
		}
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			return p, fault.Newf(fault.InvalidRequest, "the form is larger than %s", api.Size(trialBytes)).WithAspect(fault.AspectSize)
		}
		if err != nil {
			return p, fault.Wrap(fault.InvalidRequest, err, "the form didn't arrive whole")
		}
		if part.FileName() != "" {
			p.Files[part.FormName()] = append(p.Files[part.FormName()], raw)
		} else {
			p.Texts[part.FormName()] = append(p.Texts[part.FormName()], string(raw))
		}
	}
}
