// Package suppliertest is the conformance suite of the adapters: the promises of package supplier, each with an
// upstream that tempts the adapter to break it.
//
// An adapter's test states a Harness: its kind, its abilities, one canned success for each capability, and its own
// rows of the error table. Run does the rest: the rows that all share, the broken connections, the hostile answers.
// An adapter that speaks no HTTP leaves Upstream nil; its tests then run in a synctest bubble, so that waiting takes
// no time, and its jobs are canceled, found and submitted again as its abilities promise; for kinds with HTTP, whose
// upstream would have to play along, these are the adapter's own tests.
//
// A kind whose supplier publishes an OpenAPI document of its format has an excerpt of it in its testdata
// (package openapicheck). Every request of the suite is held against that, and RunPublished holds whole
// exchanges against it.
package suppliertest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// Harness describes one kind for the suite.
type Harness struct {
	Kind      supplier.Kind
	Config    supplier.Config // beyond the address, key and timeout, which the suite sets
	Abilities Abilities
	Cases     []Case     // at least one for each capability of Kind
	Faults    []Fault    // the kind's own rows of the error table
	Refusals  []Refusal  // the refusal that Kind.Refuses and the adapter must return
	ToolCalls []ToolCall // answers that call tools; at least one for a kind that chats, unless it is Toolless
	Toolless  bool       // the answers of its chats can't call tools
	Upstream  *Upstream  // nil: the adapter speaks no HTTP
}

// Abilities are the optional interfaces that the adapter implements; the suite holds it to exactly these, so that a
// part of the suite is left out only if the harness says so.
type Abilities struct {
	Poll, Cancel, Find, Stream, Probe, HonorKey bool
}

// Upstream describes the supplier's side of HTTP. Its zero value fits most kinds.
type Upstream struct {
	Key   func(r *http.Request) string // the key in a request; nil: that of Authorization: Bearer
	Probe http.Handler                 // answers Probe with success; required with Abilities.Probe
}

// Case is one request that succeeds.
type Case struct {
	Name    string // "": the capability
	Request supplier.Request
	Answer  http.Handler                             // the upstream's; may serve polls too
	Stream  http.Handler                             // the upstream's for Stream; nil: the case isn't streamed
	Sends   string                                   // the submission's body as JSON; "": not compared
	Want    *supplier.Result                         // compared whole; nil: only Check looks at it
	Check   func(t *testing.T, got *supplier.Result) // may be nil
	Opaque  bool                                     // the answer is bytes of any form, so no text in its place is malformed
	Alike   bool                                     // it fails in the code of a case before it: only its success is tested
}

// Fault is one request that fails.
type Fault struct {
	Name    string
	Request *supplier.Request // nil: that of the first case
	Answer  http.Handler      // the upstream's
	Stream  bool              // through Stream instead of Submit
	Want    Verdict
}

// Verdict is the part of a supplier.Error that the suite compares.
type Verdict struct {
	Code       fault.Code
	Sent       supplier.Sent
	Operator   bool
	RetryAfter time.Duration
}

// Refusal is one request that Kind.Refuses and the adapter must judge.
type Refusal struct {
	Name    string
	Request supplier.Request
	Refused bool
}

// unusedURL is an address that a test doesn't call.
const unusedURL = "http://127.0.0.1:1"

// Run runs the suite as subtests of t, one after another: over the direct transport, and again over the standard one.
func Run(t *testing.T, h Harness) {
	run(t, h)
	if h.Upstream != nil {
		h.Config.Standard = true
		t.Run("standard transport", func(t *testing.T) { run(t, h) })
	}
}

func run(t *testing.T, h Harness) {
	t.Run("kind", func(t *testing.T) { testKind(t, h) })
	t.Run("abilities", func(t *testing.T) { testAbilities(t, h) })
	t.Run("tool calls", func(t *testing.T) { testToolCalls(t, h) })
	for _, r := range h.Refusals {
		t.Run("refuses/"+r.Name, func(t *testing.T) { testRefusal(t, h, r) })
	}
	for _, c := range h.Cases {
		name := c.Name
		if name == "" {
			name = c.Request.Capability
		}
		t.Run("succeeds/"+name, func(t *testing.T) { testSuccess(t, h, c) })
		if h.Upstream == nil {
			t.Run("job/"+name, func(t *testing.T) { testJobs(t, h, c) })
		} else if !c.Alike {
			t.Run("fails/"+name, func(t *testing.T) { testHTTP(t, h, c) })
		}
	}
	for _, f := range h.Faults {
		t.Run("fails/"+f.Name, func(t *testing.T) { testFault(t, h, f) })
	}
	if h.Upstream != nil && h.Abilities.Probe {
		t.Run("probe", func(t *testing.T) { testProbe(t, h) })
	}
}

func testKind(t *testing.T, h Harness) {
	if h.Kind.Name == "" || h.Kind.New == nil || len(h.Kind.Capabilities) == 0 {
		t.Fatalf("kind %+v lacks a name, a constructor or capabilities", h.Kind)
	}
	for _, name := range h.Kind.Capabilities {
		covered := slices.ContainsFunc(h.Cases, func(c Case) bool { return c.Request.Capability == name })
		if !covered {
			t.Errorf("no case for capability %s", name)
		}
	}
	for _, c := range h.Cases {
		if !slices.Contains(h.Kind.Capabilities, c.Request.Capability) {
			t.Errorf("a case for capability %s, which the kind doesn't name", c.Request.Capability)
		}
		a := newAdapter(t, h, unusedURL, fixedKey)
		if why := supplier.Refuses(h.Kind, a, filled(c.Request)); why != "" {
			t.Errorf("the kind refuses the case for %s: %s", c.Request.Capability, why)
		}
	}
}

func testAbilities(t *testing.T, h Harness) {
	a := newAdapter(t, h, unusedURL, fixedKey)
	var got Abilities
	_, got.Poll = a.(supplier.Poller)
	_, got.Cancel = a.(supplier.Canceler)
	_, got.Find = a.(supplier.Finder)
	_, got.Stream = a.(supplier.Streamer)
	_, got.Probe = a.(supplier.Prober)
	if k, ok := a.(supplier.KeyHonorer); ok {
		got.HonorKey = k.HonorsSubmitKey()
	}
	if got != h.Abilities {
		t.Errorf("abilities: got %+v, want %+v", got, h.Abilities)
	}
}

func testRefusal(t *testing.T, h Harness, r Refusal) {
	a := newAdapter(t, h, unusedURL, fixedKey)
	request := filled(r.Request)
	if why := supplier.Refuses(h.Kind, a, request); (why != "") != r.Refused {
		t.Errorf("refuses: got %q, want refused: %t", why, r.Refused)
	}
	bare := request
	bare.Input, bare.Parameters = json.RawMessage(`{}`), json.RawMessage(`{}`)
	fields, members := supplier.Unhonoured(h.Kind, a, request), r.Refused && supplier.Refuses(h.Kind, a, bare) == ""
	if (len(fields) > 0) != members {
		t.Errorf("for %v; refused for its members: %t", fields, members)
	}
	for _, field := range fields {
		group, name, _ := strings.Cut(field, ".")
		object := map[string]json.RawMessage{"input": request.Input, "parameters": request.Parameters}[group]
		if !bytes.Contains(object, []byte(strconv.Quote(name)+":")) {
			t.Errorf("%s isn't in the request", field)
		}
	}
}

// filled returns r with the members that every request has.
func filled(r supplier.Request) supplier.Request {
	if r.Model == "" {
		r.Model = "model-1"
	}
	if len(r.Parameters) == 0 {
		r.Parameters = json.RawMessage(`{}`)
	}
	if r.SubmitKey == "" {
		r.SubmitKey = "task_0/1"
	}
	return r
}
