package console

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"slices"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/form"
	"unitask/internal/gateway"
	"unitask/internal/snippet"
	"unitask/internal/task"
)

// trialView is the data of the trial.
type trialView struct {
	Mode         task.Mode
	Capabilities []choice
	Chosen       api.Capability // its Name is "" if no capability is open in this mode
	Peers        []peer         // to compare it with
	Shown, Rest  []group
	Snippets     []code
	API          string // the address of the script's requests, before their mode
	Tasks        string // that of the mode's
	Uploads      string // that of its large files
	Estimates    string // that of prices, "" if it is free
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
	v := trialView{Mode: mode, API: c.path("/api/"), Tasks: c.path("/api/" + string(mode) + "/tasks"), Uploads: c.path("/api/" + string(mode) + "/uploads")}
	if mode == task.Live {
		v.Estimates = c.path("/api/live/estimates")
	}
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
		v.Peers = peersOf(offers, at)
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
