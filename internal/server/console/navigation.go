package console

import (
	"encoding/json"
	"html/template"
	"strings"

	"unitask/internal/fault"
	"unitask/internal/notify"
	"unitask/internal/task"
)

// link is one entry of the navigation.
type link struct {
	Path, Text string
	Here       bool
	Icon       template.HTML
}

// Nav is the pages of the visitor's own account, in the order of the navigation.
func (p page) Nav() []link {
	var all []link
	add := func(ok bool, section, path, text string) {
		if ok {
			all = append(all, link{path, text, p.Section == section, icons[section]})
		}
	}
	add(p.Operator(), "home", "/", "All accounts")
	add(p.Operator(), "overview", "/overview", "Own account")
	add(!p.Operator(), "overview", "/", "Overview")
	add(true, "trial", "/trial", "Trial")
	add(true, "tasks", "/tasks", "Tasks")
	add(true, "keys", "/keys", "Keys")
	add(p.Webhooks, "webhooks", "/webhooks", "Webhooks")
	add(true, "usage", "/usage", "Usage")
	add(true, "lookup", "/lookup", "Lookup")
	add(p.Admin(), "people", "/people", "People")
	add(true, "sessions", "/sessions", "Sessions")
	return all
}

// NavOperator is the pages that operators alone have; empty for others.
func (p page) NavOperator() []link {
	if !p.Operator() {
		return nil
	}
	all := []link{
		{"/suppliers", "Suppliers", p.Section == "suppliers", icons["suppliers"]},
		{"/routes", "Routes", p.Section == "routes", icons["routes"]},
		{"/accounts", "Accounts", p.Section == "accounts", icons["accounts"]},
	}
	if p.Webhooks {
		all = append(all, link{"/webhooks/all", "All webhooks", p.Section == "webhooks-all", icons["webhooks-all"]})
	}
	return all
}

// command is one entry of the palette.
type command struct {
	Text string `json:"text"`
	Kind string `json:"kind"`           // such as "Page"
	Href string `json:"href,omitempty"` // where it leads
	Act  string `json:"act,omitempty"`  // or what the page's script does
}

// mostNamed is how many accounts the palette offers by name; one of more is found by its whole name.
const mostNamed = 500

// handleCommands answers the palette with that which this visitor may do.
func (c *Console) handleCommands(x exchange) error {
	p := page{Visitor: &x.visitor, Webhooks: c.endpoints != nil}
	var all []command
	add := func(kind, text, path string) { all = append(all, command{Text: text, Kind: kind, Href: c.path(path)}) }
	for _, l := range p.Nav() {
		add("Page", l.Text, l.Path)
	}
	for _, l := range p.NavOperator() {
		add("Page", l.Text, l.Path)
	}
	if p.Operator() {
		add("Page", "Tasks of all accounts", "/tasks?account=*")
		add("Page", "Keys of all accounts", "/keys?account=*")
		add("Page", "Usage of all accounts", "/usage?account=*")
	}
	add("Action", "New key", "/keys/new")
	if p.Webhooks {
		add("Action", "New webhook", "/webhooks/new")
	}
	add("Action", "Keep requests", "/memory")
	add("Action", "Time zone", "/time-zone")
	for _, act := range [][2]string{{"Switch between light and dark", "theme"}, {"Keyboard shortcuts", "shortcuts"}, {"Sign out", "sign-out"}} {
		all = append(all, command{Text: act[0], Kind: "Action", Act: act[1]})
	}
	c.addTrials(x, add)
	if p.Operator() {
		names, err := c.operator.AccountNames(x.r.Context())
		if err != nil {
			return err
		}
		for _, a := range names[:min(len(names), mostNamed)] {
			add("Account", a.Name, "/accounts/"+a.ID)
		}
	}
	body, err := json.Marshal(all)
	if err != nil {
		return err
	}
	x.Header().Set("Content-Type", "application/json")
	_, _ = x.Write(body)
	return nil
}

// addTrials adds the capabilities that the visitor may try: in test mode, or live where no supplier serves tests.
func (c *Console) addTrials(x exchange, add func(kind, text, path string)) {
	seen := map[string]bool{}
	for _, mode := range []task.Mode{task.Test, task.Live} {
		for _, o := range c.gateway.Capabilities(callerOf(x.visitor, mode)) {
			name := string(o.Capability.Name)
			if !seen[name] {
				seen[name] = true
				add("Trial", name+" · "+o.Capability.Title, "/trial?capability="+name+"&mode="+string(mode))
			}
		}
	}
}

// handleGo leads to that which an id, or for operators an account's name, stands for; else to the lookup, which says more.
func (c *Console) handleGo(x exchange) error {
	to := strings.TrimSpace(x.r.URL.Query().Get("to"))
	below := ""
	switch {
	case task.ValidID(task.PrefixKey, to):
		below = "/keys/" + to
	case task.ValidID(notify.PrefixEndpoint, to) && c.endpoints != nil:
		below = "/webhooks/" + to
	case to != "" && operates(x.visitor) && !task.ValidID(task.PrefixTask, to) && !task.ValidID(task.PrefixRequest, to):
		a, err := c.operator.GetAccount(x.r.Context(), to)
		if err == nil {
			below = "/accounts/" + a.ID
		} else if fault.CodeOf(err) != fault.NotFound {
			return err
		}
	}
	if below == "" {
		return c.findTask(x, to)
	}
	c.goTo(x, x.r, below)
	return nil
}
