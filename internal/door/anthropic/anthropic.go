// Package anthropic translates between Anthropic's interface and the service's: messages, the count of their tokens and
// the list of models, as Anthropic's published document has them.
//
// A request becomes the body of a task's creation, which the gateway checks as any other: this package makes only the
// checks that the translation needs. A member that the service can't honour is refused by its name; docs/doors.md has a decision
// for every member that Anthropic's document lists. A task becomes a message, or the events of a stream, and an error
// one of Anthropic's shape with the service's own code beside.
//
// Invariants: a translated body shares no memory with the request; a field that an error names is one of the caller's
// request; no answer names a supplier.
package anthropic

import (
	"bytes"
	"strconv"

	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
)

// The paths, relative to the base URL. Whatever else is below Root is unknown.
const (
	Root         = "/anthropic/"
	PathMessages = Root + "v1/messages"
	PathCount    = Root + "v1/messages/count_tokens"
	PathModels   = Root + "v1/models"
)

// The headers of Anthropic's interface.
const (
	HeaderKey       = "X-Api-Key"
	HeaderVersion   = "Anthropic-Version"
	HeaderBeta      = "Anthropic-Beta"
	HeaderRequestID = "Request-Id"
)

// Versions are those of the interface that are taken. They differ in members of requests, each of which is decided on
// whichever version the caller names, and in answers that no task has.
func Versions() []string { return []string{"2023-06-01", "2026-10-21"} }

// Base is the capability of the messages; that of one is this or a tier of it.
const Base = catalog.TextChat

// The roles of messages here and there.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
	roleTool      = "tool"
)

// Call is a request in the service's own terms.
type Call struct {
	Model  string
	Stream bool

	input, parameters []byte
	paths             paths
	omitThoughts      bool
}

// Body returns the body of the creation of a task of the capability.
func (c *Call) Body(capability catalog.Name) []byte {
	w := jsonwrite.New(len(c.input) + len(c.parameters) + len(capability) + 64)
	w.Begin('{')
	w.Name("capability")
	w.String(string(capability))
	w.Name(catalog.GroupInput)
	w.JSON(c.input)
	w.Name(catalog.GroupParameters)
	w.JSON(c.parameters)
	w.End('}')
	whole, _ := w.Bytes() // it has no number, which alone can fail
	return whole
}

// request is a body that is read.
type request struct {
	inbound.Body
	values map[string][]byte
	paths  paths
	omit   bool // the thoughts aren't told
}

// Messages reads the request of a message. Its errors name the caller's own members.
func Messages(body []byte) (Call, error) { return read(body, messageMembers(), true) }

// Count reads the request of a count of tokens.
func Count(body []byte) (Call, error) { return read(body, countMembers(), false) }

func read(body []byte, rules inbound.Rules, bounded bool) (Call, error) {
	defer bulk.Turn(len(body))()
	r := &request{}
	values, err := r.Object(body, rules)
	if err != nil {
		return Call{}, err
	}
	r.values = values
	if _, ok := values["max_tokens"]; bounded && !ok {
		r.Row("max_tokens", "is required")
	}
	c := Call{Model: string(r.Text(values, "", "model"))}
	input, parameters := jsonwrite.New(1<<10), jsonwrite.New(1<<8)
	r.input(input)
	r.parameters(parameters)
	c.Stream = r.Flag(values, "", "stream")
	if user, ok := values["metadata"]; ok {
		r.Members(user, "metadata", inbound.Rules{"user_id": noEffect})
	}
	if err := r.Err(); err != nil {
		return Call{}, err
	}
	c.input, _ = input.Bytes()
	c.parameters, _ = parameters.Bytes()
	c.paths, c.omitThoughts = r.paths, r.omit
	return c, nil
}

func (r *request) parameters(w *jsonwrite.Writer) {
	w.Begin('{')
	inbound.Copy(w, r.values, "max_tokens", "max_output_tokens")
	inbound.Copy(w, r.values, "temperature", "temperature")
	inbound.Copy(w, r.values, "top_p", "top_p")
	if stops := r.values["stop_sequences"]; !isEmptyList(stops) {
		inbound.Copy(w, r.values, "stop_sequences", "stop")
	}
	r.tools(w)
	effort := r.output(w)
	if reasoning := r.thinking(effort); reasoning != "" {
		w.Name(catalog.Reasoning)
		w.String(reasoning)
	}
	w.End('}')
}

func isEmptyList(value []byte) bool {
	return len(value) > 1 && value[0] == '[' && len(bytes.TrimSpace(value[1:len(value)-1])) == 0
}

// output writes the form of the answer, and returns the effort that is asked for.
func (r *request) output(w *jsonwrite.Writer) (effort string) {
	const config, format = "output_config", "output_format"
	at, value := format, r.values[format]
	if given, ok := r.values[config]; ok {
		members := r.Members(given, config, inbound.Rules{"effort": taken, "format": taken})
		if members["effort"] != nil {
			effort = string(r.Text(members, config, "effort"))
		}
		if inner := members["format"]; inner != nil {
			if value != nil {
				r.Row(format, "must not be given together with output_config.format")
			}
			at, value = inbound.Under(config, "format"), inner
		}
	}
	if value == nil {
		return effort
	}
	members := r.Members(value, at, inbound.Rules{"type": inbound.Only(`"json_schema"`), "schema": taken})
	for _, name := range []string{"type", "schema"} {
		if _, ok := members[name]; !ok && members != nil {
			r.Row(inbound.Under(at, name), "is required")
		}
	}
	r.paths.schema = inbound.Under(at, "schema")
	inbound.CopySchema(w, members, "schema", "output_schema")
	return effort
}

// leastThinking is the least budget of thoughts that Anthropic's document allows.
const leastThinking = 1024

// thinking returns how much the model is to think, in the service's terms; "" if the request leaves it open.
func (r *request) thinking(effort string) string {
	const at, high = "thinking", "high"
	r.paths.reasoning = at
	value, ok := r.values[at]
	kind := ""
	if ok {
		if kind, ok = r.Kind(value, at, "type", false); !ok {
			return ""
		}
	}
	if kind != "adaptive" && effort != "" && effort != high {
		r.Row("output_config.effort", "is only taken beside thinking of type adaptive")
	}
	switch kind {
	case "":
		return ""
	case "disabled":
		r.Members(value, at, inbound.Rules{"type": taken})
		return "none"
	case "adaptive":
		r.omit = r.display(r.Members(value, at, inbound.Rules{"type": taken, "display": taken}))
		switch effort {
		case "":
			return high
		case "low", "medium", high:
			r.paths.reasoning = "output_config.effort"
			return effort
		}
		r.Row("output_config.effort", "must be low, medium or high here")
		return ""
	case "enabled":
		given := r.Members(value, at, inbound.Rules{"type": taken, "budget_tokens": taken, "display": taken})
		r.omit = r.display(given)
		return r.budget(given["budget_tokens"])
	}
	r.Row(inbound.Under(at, "type"), "must be enabled, disabled or adaptive")
	return ""
}

func (r *request) display(thinking map[string][]byte) (omit bool) {
	if thinking["display"] == nil {
		return false
	}
	switch string(r.Text(thinking, "thinking", "display")) {
	case "omitted":
		return true
	case "summarized":
	default:
		r.Row("thinking.display", "must be summarized or omitted")
	}
	return false
}

// budget returns the level that a budget of thoughts comes closest to, as a share of all tokens.
func (r *request) budget(value []byte) string {
	const at = "thinking.budget_tokens"
	tokens, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || tokens < leastThinking {
		r.Row(at, "must be a whole number of at least "+strconv.Itoa(leastThinking))
		return ""
	}
	most, err := strconv.ParseInt(string(r.values["max_tokens"]), 10, 64)
	switch {
	case err != nil:
		return "high" // a count without a bound
	case tokens >= most:
		r.Row(at, "must be less than max_tokens")
		return ""
	case tokens*20 <= most*7:
		return "low"
	case tokens*20 <= most*13:
		return "medium"
	}
	return "high"
}

// UnknownModel refuses a model that isn't a capability which can be called here.
func UnknownModel(model string) *fault.Error {
	e := fault.Newf(fault.NotFound, "the model %q doesn't exist, or isn't callable here with this key", inbound.Under("", model))
	return e.WithDetails(fault.Detail{Field: "model", Message: "names no such model"})
}
