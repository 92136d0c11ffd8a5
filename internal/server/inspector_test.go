package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/goccy/go-yaml"

	"unitask/docs"
	"unitask/internal/api"
	"unitask/internal/door/anthropic"
	"unitask/internal/door/openai"
	"unitask/internal/sse"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
)

// inspector judges every response of the suite: the published document, the request's id, the caching and the error's
// shape, and that no text names a supplier.
type inspector struct {
	t    testing.TB
	next http.RoundTripper
}

// contract is the published document, ready to validate with.
var contract = sync.OnceValues(func() (validator.Validator, error) {
	doc, err := libopenapi.NewDocument(docs.OpenAPI)
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(doc)
	return v, errors.Join(errs...)
})

// schemas are the document's, by name, for answers at unlisted paths and for the events of streams.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	raw, err := yaml.YAMLToJSON(docs.OpenAPI)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://unitask.invalid/openapi.json", doc); err != nil {
		return nil, err
	}
	all := map[string]*jsonschema.Schema{}
	for _, name := range []string{"ErrorResponse", "Task"} {
		if all[name], err = c.Compile("https://unitask.invalid/openapi.json#/components/schemas/" + name); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// RoundTrip makes the call and judges the answer.
func (i *inspector) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := i.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	where := req.Method + " " + req.URL.Path + " " + resp.Status
	judged := asAPI(req)
	problems := leaks(req, resp, body)
	if strings.HasPrefix(req.URL.Path, openai.Root) {
		problems = append(problems, ofOpenAI(req, resp, body)...)
	} else if strings.HasPrefix(req.URL.Path, anthropic.Root) {
		problems = append(problems, ofAnthropic(req, resp, body)...)
	} else {
		problems = slices.Concat(problems, common(judged, resp, body), valid(judged, resp, body))
	}
	for _, problem := range problems {
		i.t.Errorf("%s: %s\n%s", where, problem, clip(body))
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

var pageRoute = regexp.MustCompile("^/console/api/(live|test)/")

// asAPI returns a request of a page as one to the API: the document describes it.
func asAPI(req *http.Request) *http.Request {
	if !pageRoute.MatchString(req.URL.Path) {
		return req
	}
	same := req.Clone(req.Context())
	same.URL.Path = pageRoute.ReplaceAllLiteralString(req.URL.Path, strings.TrimSuffix(api.PathTasks, "tasks"))
	return same
}

var requestID = regexp.MustCompile(`^req_[0-9a-z]{26}$`)

// common checks the properties of every response.
func common(req *http.Request, resp *http.Response, body []byte) []string {
	var problems []string
	id := resp.Header.Get(api.HeaderRequestID)
	if !requestID.MatchString(id) {
		problems = append(problems, "no request id in the header")
	}
	isDocument := req.URL.Path == api.PathOpenAPIJSON || req.URL.Path == api.PathOpenAPIYAML
	isBytes := strings.HasPrefix(req.URL.Path, api.PathArtifacts) && resp.StatusCode < http.StatusBadRequest
	if isDocument || isBytes {
		return problems
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		problems = append(problems, "Cache-Control is "+got)
	}
	if len(body) == 0 {
		return problems
	}
	if resp.Header.Get("Content-Type") == sse.ContentType {
		return append(problems, invalidEvents(id, body)...)
	}
	if bytes.HasPrefix(body, []byte(`{"id":"task_`)) && resp.Header.Get("ETag") == "" {
		problems = append(problems, "a task without an ETag")
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		problems = append(problems, "Content-Type is "+got)
	}
	var members struct {
		RequestID string     `json:"request_id"`
		Error     *api.Error `json:"error"`
		State     task.State `json:"state"`
	}
	if err := json.Unmarshal(body, &members); err != nil || members.RequestID != id {
		problems = append(problems, "request_id isn't the header's")
	}
	if e := members.Error; e != nil && members.State == "" && (e.RetryAfterSeconds > 0) != (resp.Header.Get("Retry-After") != "") {
		problems = append(problems, "Retry-After is "+resp.Header.Get("Retry-After"))
	}
	return problems
}

// invalidEvents holds a stream's events against the document.
func invalidEvents(id string, body []byte) []string {
	var problems []string
	for e, err := range sse.Read(bytes.NewReader(body), 64<<20) {
		var members struct {
			RequestID string `json:"request_id"`
			Text      string `json:"text"`
		}
		switch {
		case err != nil:
			return append(problems, err.Error())
		case json.Unmarshal([]byte(e.Data), &members) != nil:
			problems = append(problems, "an event isn't JSON")
		case e.Name == api.EventDelta && members.Text == "" || e.Name == api.EventTask && members.RequestID != id:
			problems = append(problems, "an event without text, or with another request_id")
		case e.Name == api.EventWebhook:
		case e.Name == api.EventTask:
			problems = append(problems, invalid("Task", []byte(e.Data))...)
		case e.Name != api.EventDelta:
			problems = append(problems, "an event named "+e.Name)
		}
	}
	return problems
}

// leaks reports supplier's names in anything that a caller without an operator key can read.
func leaks(req *http.Request, resp *http.Response, body []byte) []string {
	if strings.HasPrefix(req.URL.Path, adminRoot) && resp.StatusCode < http.StatusBadRequest {
		return nil
	}
	var problems []string
	var header bytes.Buffer
	_ = resp.Header.Write(&header)
	text := strings.ToLower(header.String() + string(body))
	for _, secret := range []string{upstreamName, upstreamModel, upstreamHost, upstreamJob, "zaphod", sandbox.Cheap, sandbox.Dear} {
		if strings.Contains(text, strings.ToLower(secret)) {
			problems = append(problems, "names a supplier: "+secret)
		}
	}
	return problems
}

// valid holds the response against the published document. An answer at an unlisted path is an error, and is
// validated by the error's schema.
func valid(req *http.Request, resp *http.Response, body []byte) []string {
	switch {
	case resp.Header.Get("Content-Type") == sse.ContentType: // common judged its events
		return nil
	case listed(req):
	case req.URL.Path == "/" && resp.StatusCode == http.StatusSeeOther: // for people
		return nil
	case req.Method == http.MethodHead: // GET's, without a body to judge
		return nil
	case resp.StatusCode < http.StatusBadRequest:
		return []string{"succeeded, and the document doesn't list it"}
	default:
		return invalid("ErrorResponse", body)
	}
	v, err := contract()
	if err != nil {
		return []string{err.Error()}
	}
	copied := *resp
	copied.Body = io.NopCloser(bytes.NewReader(body))
	ok, errs := v.ValidateHttpResponse(req, &copied)
	if ok {
		return nil
	}
	var problems []string
	for _, e := range errs {
		problems = append(problems, e.Message+": "+e.Reason)
		for _, s := range e.SchemaValidationErrors {
			problems = append(problems, s.Reason+" at "+s.FieldPath)
		}
	}
	return problems
}

// invalid holds JSON against a schema of the document.
func invalid(name string, body []byte) []string {
	all, err := schemas()
	if err != nil {
		return []string{err.Error()}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = all[name].Validate(value)
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}

// adminRoot is the root of the operator's paths.
const adminRoot = "/admin/"

// operations are the document's, by path pattern.
var operations = map[string][]*regexp.Regexp{
	http.MethodGet: {
		regexp.MustCompile(`^/api/ai/v1/(capabilities|uploads|tasks|tasks/task_[0-9a-z]{26}(/input|/timeline)?)$`),
		regexp.MustCompile(`^(/api/ai/v1)?/uploads/art_[0-9a-z]{26}$`),
		regexp.MustCompile(`^/api/ai/v1/webhooks(/whe_[0-9a-z]{26}(/deliveries)?)?$`),
		regexp.MustCompile(`^/artifacts/art_[0-9a-z]{26}$`),
		regexp.MustCompile(`^/(healthz|readyz|openapi\.yaml|openapi\.json)$`),
		regexp.MustCompile(`^/admin/v1/(keys|accounts(/[a-z]+(/sessions)?)?|usage|suppliers|requests|log|info)$`),
	},
	http.MethodPost: {
		regexp.MustCompile(`^/api/ai/v1/(estimates|tasks(/task_[0-9a-z]{26}/cancel)?|uploads)$`),
		regexp.MustCompile(`^/api/ai/v1/webhooks(/whe_[0-9a-z]{26}/(rotate|test|deliveries/task_[0-9a-z]{26}\.0/(replay|outcome)))?$`),
		regexp.MustCompile(`^/admin/v1/(keys(/key_[0-9a-z]{26}/(revoke|rotate))?|accounts(/[a-z]+/(links|suspend|resume|close|sessions/end))?|suppliers/[a-z-]+/(pause|resume|reset|test))$`),
	},
	http.MethodPatch: {
		regexp.MustCompile(`^/admin/v1/(keys/key_[0-9a-z]{26}|accounts/[a-z]+)$`),
		regexp.MustCompile(`^/api/ai/v1/webhooks/whe_[0-9a-z]{26}$`),
	},
	http.MethodPut: {regexp.MustCompile(`^/uploads/art_[0-9a-z]{26}$`)},
	http.MethodDelete: {
		regexp.MustCompile(`^/api/ai/v1/uploads/art_[0-9a-z]{26}$`),
		regexp.MustCompile(`^/api/ai/v1/webhooks/whe_[0-9a-z]{26}$`),
	},
	http.MethodHead: {regexp.MustCompile(`^/artifacts/art_[0-9a-z]{26}$`)},
}

func listed(req *http.Request) bool {
	return slices.ContainsFunc(operations[req.Method], func(p *regexp.Regexp) bool { return p.MatchString(req.URL.Path) })
}

func clip(body []byte) string {
	if len(body) > 600 {
		return string(body[:600]) + "…"
	}
	return string(body)
}
