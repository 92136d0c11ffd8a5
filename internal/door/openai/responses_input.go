package openai

import (
	"strconv"

	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/fault"
	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// The types of items.
const (
	itemMessage   = "message"
	itemReasoning = "reasoning"
	itemCall      = "function_call"
	itemResult    = "function_call_output"
	itemSearch    = "web_search_call"
	itemReference = "item_reference"
)

// place is the place of a message in the request: the items that it is made of. Places that it has no use for are 0.
type place struct {
	whole   bool // the input is one text
	content int
	said    string // the item's member that holds the content
	state   int
	calls   []int
}

// turn is the assistant's message that goes on from item to item: its thoughts, its words and its calls.
type turn struct {
	response string // the task that its items come from; "" if they don't say
	content  []byte // JSON; nil without
	at       string // the path of content
	state    []byte
	calls    []call
	place    place
}

type call struct {
	id, name  []byte // JSON
	arguments []byte
}

// conversation makes messages of a request's items. Where the service has one message, the assistant's thoughts, words
// and calls are items of their own.
type conversation struct {
	request *request
	find    Find
	found   map[string]answered // by task
	named   map[string]bool     // items that were referred to
	taken   int                 // bytes of them
	failed  error

	w      *jsonwrite.Writer
	turn   *turn // nil between the assistant's
	places []place
}

// answered is an answer that items refer to.
type answered struct {
	task.Parts

	kept bool
}

// The bounds of the items that one request refers to: they are kept elsewhere, so that its own size doesn't bound them.
const (
	mostReferred  = 256     // answers
	bytesReferred = 8 << 20 // of texts, arguments and states
)

// items writes the conversation: of one text, or of items.
func (t *conversation) items(w *jsonwrite.Writer) {
	const at = "input"
	value, ok := t.request.values[at]
	if !ok {
		t.request.Row(at, "is required")
		return
	}
	t.w = w
	w.Name("messages")
	w.Begin('[')
	defer w.End(']')
	if value[0] == '"' {
		t.message("user", value, "", place{whole: true})
		return
	}
	isList := inbound.Elements(value, func(i int, item []byte) { t.item(item, i, t.request.Element(at, i)) })
	t.flush()
	if !isList {
		t.request.Row(at, "must be a text or a list")
	}
}

func (t *conversation) item(item []byte, i int, at string) {
	kind := itemMessage
	if item[0] == '{' && !t.plain(item) {
		var ok bool
		if kind, ok = t.request.Kind(item, at, "type", false); !ok {
			return
		}
	}
	members, known := itemMembers[kind]
	if !known {
		t.request.Row(inbound.Under(at, "type"), "must be one of message, function_call, function_call_output, reasoning, web_search_call and item_reference")
		return
	}
	given := t.request.Members(item, at, members)
	if given == nil {
		return
	}
	switch kind {
	case itemMessage:
		t.said(given, i, at)
	case itemReasoning:
		t.thought(given, i)
	case itemCall:
		t.called(given, i, at)
	case itemResult:
		t.result(given, i, at)
	case itemReference:
		t.reference(given, i, at)
	}
}

// plain reports whether an item is a message that doesn't say its type.
func (t *conversation) plain(item []byte) bool {
	typed, isMessage := false, false
	in := jsonread.Sound(item)
	for m := in.Among("type", "role"); m.Next(); {
		if m.Name == "role" {
			in.Skip()
			isMessage = true
		} else {
			typed = in.Value()[0] != 'n'
		}
	}
	return isMessage && !typed
}

// said takes a message.
func (t *conversation) said(given map[string][]byte, i int, at string) {
	role, content := string(t.request.Text(given, at, "role")), given["content"]
	if content == nil {
		t.request.Row(inbound.Under(at, "content"), "is required")
		return
	}
	switch role {
	case "assistant":
		goes := t.goesOn(given["id"], func(o *turn) bool { return o.content == nil })
		if !saysNothing(content) {
			goes.content, goes.at = content, inbound.Under(at, "content")
			goes.place.content, goes.place.said = i, "content"
		}
	case "system", "developer":
		if t.flush(); !saysNothing(content) {
			t.message("system", content, inbound.Under(at, "content"), place{content: i, said: "content"})
		}
	case "user":
		t.flush()
		t.message(role, content, inbound.Under(at, "content"), place{content: i, said: "content"})
	case "":
	default:
		t.request.Row(inbound.Under(at, "role"), "must be one of user, assistant, system and developer")
	}
}

// thought takes a model's state. Without words or calls after it, it has no effect.
func (t *conversation) thought(given map[string][]byte, i int) {
	goes := t.goesOn(given["id"], func(o *turn) bool { return o.content == nil && o.calls == nil && o.state == nil })
	goes.state, goes.place.state = given["encrypted_content"], i
}

func (t *conversation) called(given map[string][]byte, i int, at string) {
	said := t.request.Text(given, at, "arguments")
	if said == nil {
		return
	}
	arguments, _ := catalog.Arguments(nil, "", string(said))
	goes := t.goesOn(given["id"], func(*turn) bool { return true })
	goes.calls = append(goes.calls, call{given["call_id"], given["name"], arguments})
	goes.place.calls = append(goes.place.calls, i)
}

// result takes the value that a function returned.
func (t *conversation) result(given map[string][]byte, i int, at string) {
	t.flush()
	output, ok := given["output"]
	if !ok {
		t.request.Row(inbound.Under(at, "output"), "is required")
		return
	}
	t.places = append(t.places, place{content: i, said: "output"})
	t.w.Begin('{')
	named(t.w, "role", "tool")
	inbound.Copy(t.w, given, "call_id", "tool_call_id")
	t.w.Name("content")
	t.request.itemContent(t.w, output, inbound.Under(at, "output"))
	t.w.End('}')
}

// goesOn returns the assistant's message that an item belongs to: the one before if both come from one response, or if
// an item doesn't say and fits, else a new one.
func (t *conversation) goesOn(id []byte, fits func(*turn) bool) *turn {
	said, _ := inbound.TextOf(id)
	from, _ := responseOf(string(said))
	known := t.turn != nil && t.turn.response != "" && from != ""
	if t.turn != nil && (known && t.turn.response != from || !known && !fits(t.turn)) {
		t.flush()
	}
	if t.turn == nil {
		t.turn = &turn{}
	}
	if from != "" {
		t.turn.response = from
	}
	return t.turn
}

// reference takes an item of a response whose answer is kept.
func (t *conversation) reference(given map[string][]byte, i int, at string) {
	id := string(t.request.Text(given, at, "id"))
	from, which := responseOf(id)
	if t.named[id] {
		t.request.Row(inbound.Under(at, "id"), "names an item that another one names already")
		return
	}
	t.named[id] = true
	parts, ok := t.partsOf(from)
	if !ok || t.failed != nil {
		t.request.Row(inbound.Under(at, "id"), "names no item of a response that is kept; send the item itself")
		return
	}
	item, ok := itemOf(parts, which)
	if !ok {
		t.request.Row(inbound.Under(at, "id"), "names no item of its response")
		return
	}
	if t.taken += item.size(); t.taken > bytesReferred {
		t.request.Row(inbound.Under(at, "id"), "is one item too many: those referred to are larger than "+strconv.Itoa(bytesReferred>>20)+" MiB together")
		return
	}
	goes := t.goesOn(jsonOf(id), func(*turn) bool { return true })
	switch {
	case item.call != nil:
		c := item.call
		goes.calls = append(goes.calls, call{jsonOf(c.ID), jsonOf(c.Name), c.Arguments})
		goes.place.calls = append(goes.place.calls, i)
	case item.text != "":
		goes.content, goes.place.content, goes.place.said = jsonOf(item.text), i, "id"
	case item.state != nil:
		goes.state, goes.place.state = item.state, i
	}
}

// partsOf returns the answer of a task; false if it isn't there.
func (t *conversation) partsOf(id string) (p task.Parts, ok bool) {
	if t.find == nil || id == "" || t.failed != nil {
		return p, false
	}
	one, known := t.found[id]
	if !known && len(t.found) < mostReferred {
		of, err := t.find(id)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			t.failed = err
		}
		if of != nil && of.State == task.Succeeded && err == nil {
			p, err := partsOf(of)
			one = answered{p, err == nil}
		}
		t.found[id] = one
	}
	return one.Parts, one.kept && t.failed == nil
}

// flush ends the assistant's message.
func (t *conversation) flush() {
	said := t.turn
	t.turn = nil
	if said == nil || said.content == nil && said.calls == nil {
		return
	}
	t.places = append(t.places, said.place)
	t.w.Begin('{')
	named(t.w, "role", "assistant")
	if said.content != nil {
		t.w.Name("content")
		t.request.itemContent(t.w, said.content, said.at)
	}
	if said.calls != nil {
		t.w.Name(catalog.OutputCalls)
		t.w.Begin('[')
		for _, c := range said.calls {
			t.w.Begin('{')
			writeIf(t.w, "id", c.id)
			writeIf(t.w, "name", c.name)
			writeIf(t.w, "arguments", c.arguments)
			t.w.End('}')
		}
		t.w.End(']')
	}
	writeIf(t.w, memberState, said.state)
	t.w.End('}')
}

func (t *conversation) message(role string, content []byte, at string, from place) {
	t.places = append(t.places, from)
	t.w.Begin('{')
	named(t.w, "role", role)
	t.w.Name("content")
	t.request.itemContent(t.w, content, at)
	t.w.End('}')
}
