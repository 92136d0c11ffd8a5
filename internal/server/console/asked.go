package console

import (
	"cmp"
	"encoding/json"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/task"
)

// asked is a task's request on its page, as far as its account keeps it.
type asked struct {
	Kept  bool
	Keeps bool // the account keeps the requests of new tasks
	Until time.Time
	AsIs  bool   // JSON is wanted
	JSON  string // of the request
	Made  string // JSON of the result, "" without one
	Parts []askedPart
	Again template.URL // the trial's form, filled with it; "" without one
}

// askedPart is a value of a request that is read: a text or a file.
type askedPart struct {
	Name string // "prompt", "User", "User image"
	Text string
	Long bool
	File *askedFile
}

// askedFile is a media value of a request.
type askedFile struct {
	Name        string // its id or address
	Link        string // "" without one that a browser may follow
	Picture     bool   // that Link is one
	ContentType string
	Bytes       int64
	SHA256      string
	Gone        bool // the artifact or the upload is deleted or has expired
	Omitted     bool // it was too large to be kept
}

// mostParts bounds the parts of a request on a page; its JSON has all.
const mostParts = 200

// longText is how many characters of a text stand on a line of their own.
const longText = 60

// askedOf returns the request of a task of the visitor's account.
func (c *Console) askedOf(x exchange, t task.Task) (*asked, error) {
	caller := callerOf(x.visitor, t.Scope.Mode)
	a := &asked{AsIs: x.r.URL.Query().Get("request") == "json", Keeps: caller.Account.KeepInputs > 0}
	kept, err := c.gateway.Recall(x.r.Context(), caller, t)
	if fault.CodeOf(err) == fault.NotFound {
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	a.Kept, a.Until = true, kept.Until
	request := api.CreateRequest{Capability: kept.Capability, Input: kept.Input, Parameters: kept.Parameters}
	if a.JSON, err = indented(request); err != nil {
		return nil, err
	}
	if out := api.FromTask(t, c.linkOf).Output; a.AsIs && out != nil {
		if out, err = out.Read(); err == nil {
			a.Made, err = indented(out.JSON)
		}
		if err != nil {
			return nil, err
		}
	}
	a.Again = c.inTrial(caller, request)
	r := reading{c: c, x: x, caller: caller}
	r.object("", kept.Input)
	if string(kept.Parameters) != "{}" {
		r.object("", kept.Parameters)
	}
	a.Parts = r.parts
	return a, nil
}

// indented returns a value as JSON for people, in which marks of HTML stay as they are.
func indented(v any) (string, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return strings.TrimSpace(out.String()), err
}

// reading collects the parts of a request.
type reading struct {
	c      *Console
	x      exchange
	caller gate.Caller
	parts  []askedPart
}

func (r *reading) add(p askedPart) {
	if len(r.parts) < mostParts {
		r.parts = append(r.parts, p)
	}
}

// first are the members of an input that are read before the others.
var first = []string{"system", "messages", "prompt", "query", "text", "texts", "documents"}

// object reads the members of an object.
func (r *reading) object(name string, raw json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return
	}
	names := make([]string, 0, len(members))
	for n := range members {
		names = append(names, n)
	}
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	for _, n := range names {
		r.value(strings.TrimSpace(name+" "+n), members[n])
	}
}

// value reads any value.
func (r *reading) value(name string, raw json.RawMessage) {
	switch raw[0] {
	case '"':
		var text string
		_ = json.Unmarshal(raw, &text)
		r.text(name, text)
	case '[':
		var items []json.RawMessage
		_ = json.Unmarshal(raw, &items)
		for i, item := range items {
			r.item(name+" "+strconv.Itoa(i+1), item)
		}
	case '{':
		if f := r.file(raw); f != nil {
			r.add(askedPart{Name: name, File: f})
			return
		}
		r.object(name, raw)
	default:
		r.text(name, string(raw))
	}
}

// item reads an element of an array: of messages the role is the name, and of the parts of a content the type.
func (r *reading) item(name string, raw json.RawMessage) {
	var members map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		r.value(name, raw)
		return
	}
	var role, kind string
	_ = json.Unmarshal(members["role"], &role)
	_ = json.Unmarshal(members["type"], &kind)
	content, main := members["content"], members[kind]
	switch {
	case role != "" && content != nil:
		delete(members, "role")
		delete(members, "content")
		r.content(capital(role), content)
		name = capital(role)
	case kind != "" && main != nil:
		delete(members, "type")
		delete(members, kind)
		r.value(strings.TrimSuffix(name+" "+kind, " text"), main)
	default:
		r.value(name, raw)
		return
	}
	if rest, err := json.Marshal(members); err == nil {
		r.object(name, rest)
	}
}

// content reads the content of a message: a text or its parts.
func (r *reading) content(role string, raw json.RawMessage) {
	var parts []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
		r.value(role, raw)
		return
	}
	for _, part := range parts {
		r.item(role, part)
	}
}

func (r *reading) text(name, text string) {
	r.add(askedPart{Name: name, Text: text, Long: len(text) > longText || strings.Contains(text, "\n")})
}

// file returns a media value; nil for another object.
func (r *reading) file(raw json.RawMessage) *askedFile {
	var m struct {
		URL         string `json:"url"`
		Artifact    string `json:"artifact"`
		Data        string `json:"data"`
		ContentType string `json:"content_type"`
		Omitted     *struct {
			ContentType string `json:"content_type"`
			Bytes       int64  `json:"bytes"`
			SHA256      string `json:"sha256"`
		} `json:"omitted"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	switch {
	case m.Artifact != "":
		return r.kept(m.Artifact)
	case m.Omitted != nil:
		return &askedFile{ContentType: m.Omitted.ContentType, Bytes: m.Omitted.Bytes, SHA256: m.Omitted.SHA256, Omitted: true}
	case m.Data != "":
		return &askedFile{ContentType: m.ContentType, Bytes: int64(len(m.Data)/4*3 - strings.Count(m.Data[max(0, len(m.Data)-2):], "="))}
	case strings.HasPrefix(m.URL, "http://"), strings.HasPrefix(m.URL, "https://"):
		return &askedFile{Name: m.URL, Link: m.URL}
	default:
		return nil
	}
}

// kept returns the file of an artifact's id.
func (r *reading) kept(id string) *askedFile {
	m, err := r.c.gateway.File(r.x.r.Context(), r.caller, id)
	if err != nil {
		return &askedFile{Name: id, Gone: true}
	}
	f := &askedFile{Name: id, ContentType: m.ContentType, Bytes: m.Bytes}
	if m.Upload { // a file that was sent ahead isn't for browsers
		return f
	}
	f.Link, f.Picture = r.c.linkOf(task.Artifact{ID: id, ExpiresAt: m.ExpiresAt}), strings.HasPrefix(m.ContentType, "image/")
	return f
}

// linkOf returns an artifact's address on this host, whatever its name.
func (c *Console) linkOf(a task.Artifact) string {
	return c.base.Path + api.PathArtifacts + a.ID + "?" + c.signer.Query(a, c.now())
}
