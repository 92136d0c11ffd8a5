package httpmap

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/jq"
	"unitask/internal/supplier/modelmap"
	"unitask/internal/supplier/upstream"
)

// plan is a compiled map.
type plan struct {
	capability catalog.Name
	name       string // of the model at the supplier
	format     upstream.Format

	method    string
	path      template
	headers   map[string]template
	honorsKey bool
	honours   upstream.Honours
	body      *jq.Program // of the body or of the form; nil: by rules
	form      bool
	rules     modelmap.Rules

	answer string // "" for JSON
	output *jq.Program
	usage  []counted
	errors []rule

	job, state            *jq.Program // nil: no jobs
	poll, outcome, cancel *request    // nil: the map has none
}

// counted is one number of a usage report.
type counted struct {
	set     func(u *supplier.Usage, n float64)
	program *jq.Program
}

// request is a method and a path of a question about a job.
type request struct {
	method string
	path   template
}

type rule struct {
	errorRule
	match *regexp.Regexp
}

// The variables of the programs that read answers.
const (
	theStatus     = "$status"     // the HTTP status
	theHeaders    = "$headers"    // by the names that the program asks for
	theParameters = "$parameters" // of the request
)

// codes are those that a map may give an error.
var codes = []fault.Code{
	fault.InvalidRequest, fault.ContentPolicyViolation, fault.CapacityExhausted, fault.ProviderTimeout, fault.ProviderUnavailable,
}

var mediaForm = regexp.MustCompile(`^[a-z]+/[a-z0-9.+*-]+$`)

// reserved are the headers that belong to the connection, the body or the key.
var reserved = []string{
	"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}

// compiler makes a plan, and keeps the first fault.
type compiler struct{ err error }

func (c *compiler) fail(member string, err error) {
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("%s: %w", member, err)
	}
}

func newPlan(m *model, keyHeader string) (*plan, error) {
	c := &compiler{}
	p := &plan{capability: m.Capability, name: cmp.Or(m.Name, m.Model)}
	c.submission(p, m, keyHeader)
	c.answers(p, m)
	c.jobs(p, m)
	c.honours(p, m)
	for i, e := range m.Errors {
		p.errors = append(p.errors, c.rule(fmt.Sprintf("errors[%d]", i), e))
	}
	return p, c.err
}

func (c *compiler) submission(p *plan, m *model, keyHeader string) {
	s := m.Submit
	p.method = cmp.Or(s.Method, http.MethodPost)
	if !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, p.method) {
		c.fail("submit.method", errors.New("must be POST, PUT or PATCH"))
	}
	var err error
	p.path, err = newTemplate(s.Path, theModel)
	c.fail("submit.path", err)
	p.honorsKey, p.rules, p.form, p.headers = s.HonorsKey, s.Rules, s.Form != "", map[string]template{}
	ways := 0
	for _, has := range []bool{s.Body != "", s.Form != "", len(s.Input)+len(s.Fixed) > 0} {
		if has {
			ways++
		}
	}
	if ways != 1 {
		c.fail("submit", errors.New("needs one of body, form, and input with fixed"))
	}
	if s.Body != "" || s.Form != "" {
		p.body = c.program("submit."+cond(p.form, "form", "body"), s.Body+s.Form)
	} else {
		c.fail("submit", s.Check())
	}
	keyed := p.body != nil && p.body.Uses("key")
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		value, at := s.Headers[name], "submit.headers."+name
		canonical := http.CanonicalHeaderKey(name)
		if !isToken(name) || slices.Contains(reserved, canonical) || strings.EqualFold(name, keyHeader) {
			c.fail(at, errors.New("is no header that a map may set"))
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
			c.fail(at, errors.New("has a character that no header can carry"))
		}
		c.fail(at, checkPlaces(value, []string{theModel, theKey}))
		if canonical == "Idempotency-Key" && !s.HonorsKey {
			c.fail(at, errors.New("needs honors_key: true; no other supplier may get this header"))
		}
		keyed = keyed || strings.Contains(value, theKey)
		p.headers[canonical] = template(value)
	}
	if s.HonorsKey && !keyed {
		c.fail("submit.honors_key", errors.New("needs the key in a header, as {key}, or in the body, as .key"))
	}
}

// honours takes the list of members, each of which a program must use.
func (c *compiler) honours(p *plan, m *model) {
	if p.body == nil {
		if len(m.Submit.Honours) > 0 {
			c.fail("submit.honours", errors.New("is for body and form; input says itself what it honours"))
		}
		return
	}
	known := upstream.Honoured{Input: []string{"authorization"}, Parameters: []string{"seed"}}
	for _, member := range m.Submit.Honours {
		part, name, ok := strings.Cut(member, ".")
		switch {
		case !ok || name == "" || strings.Contains(name, ".") || part != "input" && part != "parameters":
			c.fail("submit.honours", fmt.Errorf("%q must be input.NAME or parameters.NAME", member))
		case !p.body.Uses(name) && !p.body.Whole(part) && !p.answersUse(part, name):
			c.fail("submit.honours", fmt.Errorf("%s is honoured by no program", member))
		case part == "input":
			known.Input = append(known.Input, name)
		default:
			known.Parameters = append(known.Parameters, name)
		}
	}
	p.honours = upstream.Honours{p.capability: known}
}

// answersUse reports whether a program that reads the answer honours a parameter.
func (p *plan) answersUse(part, name string) bool {
	return part == "parameters" && p.output != nil && p.output.Uses(theParameters) && p.output.Uses(name)
}

func (c *compiler) answers(p *plan, m *model) {
	if p.answer = m.Answer; p.answer != "" {
		if kind, params, err := mime.ParseMediaType(p.answer); err != nil || len(params) > 0 || kind != p.answer || !mediaForm.MatchString(kind) {
			c.fail("answer", errors.New("must be a media type in lower case, such as audio/mpeg or audio/*"))
		}
		if m.Job != "" && m.Result == nil {
			c.fail("answer", errors.New("of a job needs result"))
		}
	}
	p.output = c.answerProgram("output", m.Output)
	for _, unit := range slices.Sorted(maps.Keys(m.Usage)) {
		set, known := units[unit]
		if !known {
			c.fail("usage."+unit, fmt.Errorf("is no unit; known: %s", strings.Join(slices.Sorted(maps.Keys(units)), ", ")))
			continue
		}
		p.usage = append(p.usage, counted{set, c.answerProgram("usage."+unit, m.Usage[unit])})
	}
}

func (c *compiler) jobs(p *plan, m *model) {
	if m.Job == "" {
		if m.State != "" || m.Poll != nil || m.Result != nil || m.Cancel != nil {
			c.fail("job", errors.New("is required with state, poll, result and cancel"))
		}
		return
	}
	if m.Poll == nil || m.State == "" {
		c.fail("job", errors.New("needs poll and state"))
		return
	}
	p.job, p.state = c.answerProgram("job", m.Job), c.answerProgram("state", m.State)
	p.poll = c.request("poll", m.Poll, http.MethodGet)
	p.outcome = c.request("result", m.Result, http.MethodGet)
	p.cancel = c.request("cancel", m.Cancel, http.MethodPost)
}

func (c *compiler) request(member string, a *address, method string) *request {
	if a == nil {
		return nil
	}
	path, err := newTemplate(a.Path, theModel, theJob)
	c.fail(member+".path", err)
	if !strings.Contains(a.Path, theJob) {
		c.fail(member+".path", errors.New("needs the place {job}"))
	}
	method = cmp.Or(a.Method, method)
	if !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method) {
		c.fail(member+".method", errors.New("must be GET, POST, PUT, PATCH or DELETE"))
	}
	return &request{method, path}
}

func (c *compiler) rule(member string, e errorRule) rule {
	r := rule{errorRule: e}
	if !slices.Contains(codes, e.Code) {
		c.fail(member+".code", fmt.Errorf("must be one of %v", codes))
	}
	if e.Status == 0 && e.Match == "" {
		c.fail(member, errors.New("needs status or match"))
	}
	if e.Match != "" {
		var err error
		r.match, err = regexp.Compile(e.Match)
		c.fail(member+".match", err)
	}
	return r
}

// program compiles a program that makes a request.
func (c *compiler) program(member, text string, variables ...string) *jq.Program {
	p, err := jq.Compile(text, variables...)
	c.fail(member, err)
	return p
}

// answerProgram compiles a program that reads an answer. Its errors are codes.
func (c *compiler) answerProgram(member, text string) *jq.Program {
	p := c.program(member, text, theStatus, theHeaders, theParameters)
	if p == nil {
		return nil
	}
	for _, text := range p.Errors() {
		if !slices.Contains(codes, fault.Code(text)) {
			c.fail(member, fmt.Errorf("ends with error(%q), which is none of %v", text, codes))
		}
	}
	return p
}

func cond(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
