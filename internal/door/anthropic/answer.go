package anthropic

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Write writes the message that a task which succeeded is.
func (c *Call) Write(w *jsonwrite.Writer, t *task.Task) error {
	p, err := partsOf(t)
	if err != nil {
		return err
	}
	w.Begin('{')
	c.head(w, t)
	w.Name("content")
	w.Begin('[')
	if p.Reasoning != "" {
		c.thought(w, p.Reasoning)
	}
	if *p.Text != "" || len(p.Citations) > 0 || len(p.ToolCalls) == 0 {
		said(w, *p.Text, p.Citations)
	}
	for _, call := range p.ToolCalls {
		used(w, call.ID, call.Name, objectOf(call))
	}
	if p.State != "" {
		remembered(w, p.State)
	}
	w.End(']')
	ends(w, reasonOf(p.FinishReason))
	w.Name("usage")
	writeUsage(w, t.Usage, true)
	w.End('}')
	return nil
}

// head writes the members that a message begins with.
func (c *Call) head(w *jsonwrite.Writer, t *task.Task) {
	named(w, "id", t.ID)
	named(w, "type", "message")
	named(w, "role", roleAssistant)
	named(w, "model", c.Model)
}

// partsOf reads the output of a task that succeeded.
func partsOf(t *task.Task) (p task.Parts, err error) {
	if t.Output != nil {
		err = json.Unmarshal(t.Output.JSON, &p)
	}
	if err != nil || p.Text == nil {
		return p, fault.Wrap(fault.Internal, err, "the task's output is of another form").WithTask(t.ID)
	}
	return p, nil
}

// thought writes a block of thoughts, empty if they aren't to be told. It has no signature: the
// state that the model is to remember is only known later, and has a block of its own.
func (c *Call) thought(w *jsonwrite.Writer, text string) {
	if c.omitThoughts {
		text = ""
	}
	w.Begin('{')
	named(w, "type", "thinking")
	named(w, "thinking", text)
	named(w, "signature", "")
	w.End('}')
}

// remembered writes the block that brings a task's state back with the next request.
func remembered(w *jsonwrite.Writer, state string) {
	w.Begin('{')
	named(w, "type", "redacted_thinking")
	named(w, "data", state)
	w.End('}')
}

func said(w *jsonwrite.Writer, text string, citations []task.Citation) {
	w.Begin('{')
	named(w, "type", "text")
	named(w, "text", text)
	w.Name("citations")
	if len(citations) == 0 {
		w.Null()
	} else {
		w.Begin('[')
		for _, c := range citations {
			cited(w, c)
		}
		w.End(']')
	}
	w.End('}')
}

// cited writes a citation of a page, which has no place in an index of Anthropic's.
func cited(w *jsonwrite.Writer, c task.Citation) {
	const mostTitle = 512 // characters
	w.Begin('{')
	named(w, "type", "web_search_result_location")
	named(w, "url", c.URL)
	w.Name("title")
	if title := []rune(c.Title); len(title) > 0 {
		w.String(string(title[:min(len(title), mostTitle)]))
	} else {
		w.Null()
	}
	named(w, "cited_text", c.Text)
	named(w, "encrypted_index", "")
	w.End('}')
}

// used writes a call of a tool.
func used(w *jsonwrite.Writer, id, name string, input []byte) {
	w.Begin('{')
	named(w, "type", "tool_use")
	named(w, "id", id)
	named(w, "name", name)
	w.Name("input")
	w.JSON(input)
	w.Name("caller")
	w.JSON([]byte(direct))
	w.End('}')
}

// objectOf returns the arguments of a call as the object that they must be here; words that are none become its one
// member.
func objectOf(c task.ToolCall) []byte {
	if words, ok := inbound.TextOf(c.Arguments); ok {
		w := jsonwrite.New(len(words) + 32)
		w.Begin('{')
		named(w, "arguments", string(words))
		w.End('}')
		object, _ := w.Bytes() // it has no number, which alone can fail
		return object
	}
	return c.Arguments
}

// reasonOf returns Anthropic's word for why an answer ends. A stop sequence isn't told from the answer's own end.
func reasonOf(finish string) string {
	switch finish {
	case "length":
		return "max_tokens"
	case "tool_calls":
		return "tool_use"
	case "content_filter":
		return "refusal"
	default:
		return "end_turn"
	}
}

// ends writes why a message ends; "" while it goes on.
func ends(w *jsonwrite.Writer, reason string) {
	w.Name("stop_reason")
	if reason == "" {
		w.Null()
	} else {
		w.String(reason)
	}
	for _, name := range []string{"stop_sequence", "stop_details", "container"} {
		w.Name(name)
		w.Null()
	}
}

// writeUsage writes the usage of a message, or the shorter one of a stream's end. Tokens of a cache aren't among
// Anthropic's input tokens.
func writeUsage(w *jsonwrite.Writer, u *task.Usage, whole bool) {
	if u == nil {
		u = &task.Usage{}
	}
	w.Begin('{')
	count(w, "input_tokens", max(0, u.InputTokens-u.CachedInputTokens-u.CacheWriteTokens))
	count(w, "cache_creation_input_tokens", u.CacheWriteTokens)
	count(w, "cache_read_input_tokens", u.CachedInputTokens)
	count(w, "output_tokens", u.OutputTokens)
	w.Name("server_tool_use")
	if u.Searches > 0 {
		w.Begin('{')
		count(w, "web_search_requests", u.Searches)
		count(w, "web_fetch_requests", 0)
		w.End('}')
	} else {
		w.Null()
	}
	if whole {
		for _, name := range []string{"cache_creation", "inference_geo", "service_tier"} {
			w.Name(name)
			w.Null()
		}
	}
	w.End('}')
}

func named(w *jsonwrite.Writer, name, value string) {
	w.Name(name)
	w.String(value)
}

func count(w *jsonwrite.Writer, name string, n int64) {
	w.Name(name)
	w.Int(n)
}

// TokenCount is the answer to a count.
type TokenCount struct {
	InputTokens int64 `json:"input_tokens"`
}

// Models is a page of the list of models.
type Models struct {
	Data    []Model `json:"data"`
	FirstID *string `json:"first_id"`
	HasMore bool    `json:"has_more"`
	LastID  *string `json:"last_id"`
}

// Model is a capability that is called as a model. It has no time of its making, and tells no abilities of its routes.
type Model struct {
	Type           string    `json:"type"`
	ID             string    `json:"id"`
	DisplayName    string    `json:"display_name"`
	CreatedAt      string    `json:"created_at"`
	Capabilities   *struct{} `json:"capabilities"`
	MaxInputTokens *int64    `json:"max_input_tokens"`
	MaxTokens      *int64    `json:"max_tokens"`
}

// ModelOf returns the model of a name.
func ModelOf(name string) Model {
	return Model{Type: "model", ID: name, DisplayName: name, CreatedAt: "1970-01-01T00:00:00Z"}
}

// Callable reports whether a message calls the capability.
func Callable(c catalog.Capability) bool { return c.Base() == Base }

// The bounds of a page of models.
const (
	pageByDefault = 20
	pageAtMost    = 1000
)

// ModelsOf returns the page of the models of these names that a query asks for: the first, or the one next to a model.
func ModelsOf(names []string, query string) (Models, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return Models{}, fault.Invalid("query", "can't be read")
	}
	limit := pageByDefault
	if said := values.Get("limit"); said != "" {
		if limit, err = strconv.Atoi(said); err != nil || limit < 1 || limit > pageAtMost {
			return Models{}, fault.Invalid("limit", "must be from 1 to "+strconv.Itoa(pageAtMost))
		}
	}
	after, before := values.Get("after_id"), values.Get("before_id")
	from, end := 0, min(limit, len(names))
	switch {
	case after != "" && before != "":
		return Models{}, fault.Invalid("before_id", "must not be given together with after_id")
	case after != "":
		i := slices.Index(names, after)
		if i < 0 {
			return Models{}, fault.Invalid("after_id", "names no model of the list")
		}
		from, end = i+1, min(i+1+limit, len(names))
	case before != "":
		if end = slices.Index(names, before); end < 0 {
			return Models{}, fault.Invalid("before_id", "names no model of the list")
		}
		from = max(0, end-limit)
	}
	page := Models{Data: make([]Model, 0, end-from), HasMore: end < len(names)}
	if before != "" {
		page.HasMore = from > 0
	}
	for _, name := range names[from:end] {
		page.Data = append(page.Data, ModelOf(name))
	}
	if n := len(page.Data); n > 0 {
		page.FirstID, page.LastID = &page.Data[0].ID, &page.Data[n-1].ID
	}
	return page, nil
}
