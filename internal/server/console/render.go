package console

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/task"
)

//go:embed templates/*.html
var templates embed.FS

// pages are the templates of all pages, in sets of which a page that is being written has one to itself, for the zone of
// its times. A set is a megabyte of small objects, through which the garbage collector looks each time: none is made
// before somebody asks for a page, which takes 3 ms, and the collector may have those that rest.
type pages struct {
	words   template.FuncMap // with this console's addresses and clock
	resting sync.Pool
}

// write writes a page with the layout around it, and its times in a zone.
func (p *pages) write(to io.Writer, one page, zone *time.Location) error {
	set, ok := p.resting.Get().(*template.Template)
	if !ok {
		var err error
		if set, err = p.set(); err != nil {
			return err
		}
	}
	set.Funcs(template.FuncMap{
		"moment": func(at any) string { return moment(at, zone) },
		"zone":   zone.String,
	})
	err := set.ExecuteTemplate(to, "layout", one)
	p.resting.Put(set)
	return err
}

// set parses all templates. The layout finds the parts of a page by the page's name.
func (p *pages) set() (*template.Template, error) {
	set := template.New("").Funcs(p.words)
	set.Funcs(template.FuncMap{"inside": func(part string, one page) (template.HTML, error) {
		name := one.Name + "/" + part
		if part == "head" && set.Lookup(name) == nil {
			return "", nil
		}
		var said strings.Builder
		err := set.ExecuteTemplate(&said, name, one)
		return template.HTML(said.String()), err //nolint:gosec // the template escaped it
	}})
	return set.ParseFS(templates, "templates/*.html")
}

// page is the data of a template.
type page struct {
	Name    string // of the template, without .html
	Section string // of the navigation that it belongs to
	Title   string
	Visitor *operator.Visitor // nil: not signed in
	Data    any

	Done      string // the action of the form that led here, in words; "" without one
	Webhooks  bool   // there are such pages
	Follows   bool   // the browser's time zone is to be followed
	Root      string // of the console's addresses
	RequestID string
}

// Operator reports whether the visitor is one.
func (p page) Operator() bool { return p.Visitor != nil && operates(*p.Visitor) }

// Person is an id of the visitor, under which a browser keeps things for that person alone; "" without one.
func (p page) Person() string {
	if p.Visitor == nil {
		return ""
	}
	return personOf(*p.Visitor)
}

func personOf(v operator.Visitor) string { return v.Key(task.Test).ID }

// Admin reports whether the visitor is an admin of an account.
func (p page) Admin() bool { return p.Visitor != nil && p.Visitor.Session.Role == account.RoleAdmin }

func functions(f files, base string, now func() time.Time) template.FuncMap {
	all := words(now)
	all["file"] = func(name string) string { return base + Root + "/static/" + name + "?" + f[name].sum }
	all["root"] = func() string { return base + Root }
	return all
}

// render answers with a page, whole or not at all.
func (c *Console) render(w http.ResponseWriter, r *http.Request, status int, p page) {
	p.Webhooks = c.endpoints != nil
	p.Root, p.RequestID = c.path(""), w.Header().Get(api.HeaderRequestID)
	var zone *time.Location
	zone, p.Follows = zoneOf(r)
	var body bytes.Buffer
	if err := c.pages.write(&body, p, zone); err != nil {
		c.log.LogAttrs(r.Context(), slog.LevelError, "a page can't be written",
			slog.String("page", p.Name), slog.String("request_id", p.RequestID), slog.Any("err", err))
		http.Error(w, "the page can't be shown; the request is "+p.RequestID, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a browser that is gone is no fault of ours
}

// show answers somebody with a page.
func (c *Console) show(x exchange, p page) error { return c.showWith(x, http.StatusOK, p) }

func (c *Console) showWith(x exchange, status int, p page) error {
	p.Visitor, p.Done = &x.visitor, deeds[x.r.URL.Query().Get("done")]
	c.render(x, x.r, status, p)
	return nil
}

// deeds are the reports of actions, by the word in the page's address.
var deeds = map[string]string{
	"saved": "Saved. It holds from the next request on.", "revoked": "The key is revoked.", "created": "The account is there.",
	"kept": "Saved. It holds for new tasks; what was to be erased is gone for readers.", "changed": "Saved. It holds for the ends from now on.", "enabled": "The webhook is enabled.", "disabled": "The webhook is disabled.",
	"deleted": "The webhook is deleted.", "replayed": "The event is sent again.",
	"paused": "The supplier is paused: no work is sent there, at other nodes from two seconds on.", "resumed": "It is resumed.",
	"reset":   "Its failures are forgotten: the next request that prefers it is sent there.",
	"renamed": "The account has the new name.", "suspended": "The account is suspended: its keys are refused from now on.",
	"closed": "The account is closed.", "zone": "Saved. Times are shown so in this browser.",
	"ended": "The session is ended.", "ended-others": "The other sessions are ended.",
	"removed": "The member is removed, and signed out. To undo it, invite them again.",
}

// refuse answers with the page of an error. The cause goes to the log alone.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, v *operator.Visitor, err error) {
	e := c.fault(w, r, err)
	c.render(w, r, api.Status(e), page{Name: "error", Title: "Error", Visitor: v, Data: e})
}

// fault returns the visitor's view of an error, and logs the cause of an internal one.
func (c *Console) fault(w http.ResponseWriter, r *http.Request, err error) *fault.Error {
	e := fault.From(err)
	if e.Code == fault.Internal {
		c.log.LogAttrs(r.Context(), slog.LevelError, "internal fault",
			slog.String("request_id", w.Header().Get(api.HeaderRequestID)), slog.Any("err", e))
	}
	return e
}

// goTo sends a browser to another page.
func (c *Console) goTo(w http.ResponseWriter, r *http.Request, below string) {
	http.Redirect(w, r, c.path(below), http.StatusSeeOther)
}

// formBytes bounds a posted form.
const formBytes = 64 << 10

func parseForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, formBytes)
	if err := r.ParseForm(); err != nil {
		return fault.Wrap(fault.InvalidRequest, err, "the form didn't arrive whole, or is too large")
	}
	return nil
}
