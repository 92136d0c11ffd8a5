package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// routesView is the data of the page that explains where a request would go.
type routesView struct {
	Mode         task.Mode
	Capability   string
	Capabilities []string
	Account, Key string // "": open to all
	Accounts     []string
	Request      string // its JSON, without the capability
	Own          bool   // the request was posted; else it is the directory's example
	Problem      *fault.Error
	Refused      string
	Rules        string               // the content rules that refuse it
	Explained    *gateway.Explanation // nil with a Problem
	Rows         []routeRow
}

// routeRow is one route of an explanation.
type routeRow struct {
	routing.Explained
	Place int // among those that would be tried, from 1; 0: it would be passed over
}

// handleRoutes explains a capability's example request, or the posted one, whose content is in no address. It runs no task.
func (c *Console) handleRoutes(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	v := routesView{
		Mode: cmp.Or(task.Mode(x.r.FormValue("mode")), task.Live), Capability: cmp.Or(x.r.FormValue("capability"), string(catalog.TextChat)),
		Account: x.r.FormValue("account"), Key: x.r.FormValue("key"), Request: x.r.PostFormValue("request"), Own: x.r.PostForm.Has("request"),
	}
	if v.Mode != task.Live && v.Mode != task.Test {
		return fault.Invalid("mode", "must be live or test")
	}
	directory := c.operator.DirectoryFunc()
	for name := range directory.Names() {
		v.Capabilities = append(v.Capabilities, string(name))
	}
	slices.Sort(v.Capabilities)
	entry, ok := directory.Get(catalog.Name(v.Capability))
	if !ok {
		return fault.Invalid("capability", "names no capability of the directory")
	}
	accounts, err := c.operator.AccountNames(x.r.Context())
	if err != nil {
		return err
	}
	for _, a := range accounts {
		v.Accounts = append(v.Accounts, a.Name)
	}
	if !v.Own {
		v.Request = exampleOf(entry)
	}
	if err := c.explain(x, &v); err != nil {
		if fault.CodeOf(err) == fault.Internal {
			return err
		}
		v.Problem = c.fault(x, x.r, err)
	}
	return c.show(x, page{Name: "routes", Section: "routes", Title: "Routes", Data: v})
}

// explain fills in the explanation.
func (c *Console) explain(x exchange, v *routesView) error {
	caller, err := c.operator.CallerOf(x.r.Context(), v.Account, v.Key, v.Mode)
	if err != nil {
		return err
	}
	v.Mode, v.Account = caller.Key.Mode, caller.Account.Name // those of the key, if there is one
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(v.Request), &members); err != nil || members == nil {
		return fault.Invalid("request", "must be a JSON object with input, and perhaps parameters")
	}
	name, err := json.Marshal(v.Capability)
	if err != nil {
		return err
	}
	members["capability"] = name
	body, err := json.Marshal(members)
	if err != nil {
		return err
	}
	got, err := c.gateway.Explain(x.r.Context(), caller, body)
	if err != nil {
		return err
	}
	v.Explained, v.Rules = &got, strings.Join(got.Rules, ", ")
	if got.Refused != nil {
		v.Refused = fault.From(got.Refused).Message
	}
	place := 0
	for _, e := range got.Routes {
		row := routeRow{Explained: e}
		if e.Reason == "" {
			place++
			row.Place = place
		}
		v.Rows = append(v.Rows, row)
	}
	return nil
}

// exampleOf is a capability's example request in lines, without its name.
func exampleOf(entry catalog.Capability) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(entry.Example, &members) != nil {
		return ""
	}
	delete(members, "capability")
	raw, err := json.Marshal(members)
	var lines bytes.Buffer
	if err != nil || json.Indent(&lines, raw, "", "  ") != nil {
		return ""
	}
	return lines.String()
}
