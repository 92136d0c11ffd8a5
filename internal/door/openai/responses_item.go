package openai

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// The prefixes of the ids of a response and of its items, before the letters of the task's own.
const (
	prefixResponse  = "resp_"
	prefixMessage   = "msg_"
	prefixReasoning = "rs_"
	prefixCall      = "fc_"
	prefixSearch    = "ws_"
)

// responseID returns the id of the response that a task is.
func responseID(t *task.Task) string { return itemID(prefixResponse, t.ID, 0) }

// TaskOf returns the id of the task that a response is; false if the id is no response's.
func TaskOf(id string) (taskID string, ok bool) {
	body, ok := strings.CutPrefix(id, prefixResponse)
	taskID = task.PrefixTask + body
	return taskID, ok && task.ValidID(task.PrefixTask, taskID)
}

// itemID returns the id of a response's item: those of a kind but for the first have a number.
func itemID(prefix, taskID string, number int) string {
	id := prefix + strings.TrimPrefix(taskID, task.PrefixTask)
	if number > 0 {
		id += "_" + strconv.Itoa(number)
	}
	return id
}

// itemName names an item of a response: its kind, by the prefix, and which of them.
type itemName struct {
	prefix string
	number int
}

// responseOf returns the id of the task whose response an item is of, by the item's id, and which item it is; "" if it
// isn't one of a response here.
func responseOf(id string) (taskID string, which itemName) {
	prefix, rest, _ := strings.Cut(id, "_")
	body, number, numbered := strings.Cut(rest, "_")
	which.prefix = prefix + "_"
	if taskID = task.PrefixTask + body; !task.ValidID(task.PrefixTask, taskID) {
		return "", itemName{}
	}
	if numbered {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || strconv.Itoa(n) != number {
			return "", itemName{}
		}
		which.number = n
	}
	return taskID, which
}

// outputItem is an item of a response.
type outputItem struct {
	kind, id  string
	text      []byte          // of a message
	citations []task.Citation // of a message, and of a search
	summary   [][]byte        // thoughts
	state     []byte          // beside thoughts, JSON; nil without
	call      *task.ToolCall  // of a function
	arguments []byte          // of the call, as text
}

// itemOf returns the item of an answer that a reference names; false if there is none.
func itemOf(p task.Parts, which itemName) (referred, bool) {
	switch {
	case which.prefix == prefixCall && which.number < len(p.ToolCalls):
		return referred{call: &p.ToolCalls[which.number]}, true
	case which.prefix == prefixMessage && which.number == 0 && *p.Text != "":
		return referred{text: *p.Text}, true
	case which.prefix == prefixReasoning && which.number == 0 && p.State != "":
		return referred{state: jsonOf(p.State)}, true
	case which.prefix == prefixReasoning && which.number == 0 || which.prefix == prefixSearch && which.number == 0:
		return referred{}, true // it has no effect
	default:
		return referred{}, false
	}
}

// referred is an item that a request refers to: one of its members is set, or it has no effect.
type referred struct {
	call  *task.ToolCall
	text  string
	state []byte
}

// size returns the bytes that the item adds to a request.
func (r referred) size() int {
	n := len(r.text) + len(r.state)
	if r.call != nil {
		n += len(r.call.Arguments)
	}
	return n
}

// itemsOf returns the items of an answer.
func itemsOf(t *task.Task, p task.Parts) (items []*outputItem) {
	if p.Reasoning != "" || p.State != "" {
		i := &outputItem{kind: itemReasoning, id: itemID(prefixReasoning, t.ID, 0)}
		if p.Reasoning != "" {
			i.summary = [][]byte{[]byte(p.Reasoning)}
		}
		if p.State != "" {
			i.state = jsonOf(p.State)
		}
		items = append(items, i)
	}
	if *p.Text != "" {
		items = append(items, &outputItem{kind: itemMessage, id: itemID(prefixMessage, t.ID, 0), text: []byte(*p.Text), citations: p.Citations})
	}
	for i := range p.ToolCalls {
		c := &p.ToolCalls[i]
		items = append(items, &outputItem{kind: itemCall, id: itemID(prefixCall, t.ID, i), call: c, arguments: []byte(argumentsOf(*c))})
	}
	if len(p.Citations) > 0 {
		items = append(items, &outputItem{kind: itemSearch, id: itemID(prefixSearch, t.ID, 0), citations: p.Citations})
	}
	return items
}

// write writes the item, as one that is done or as one that goes on. A message of an answer that was cut is incomplete.
func (i *outputItem) write(w *jsonwrite.Writer, status string) {
	w.Begin('{')
	named(w, "type", i.kind)
	named(w, "id", i.id)
	switch i.kind {
	case itemMessage:
		named(w, "role", "assistant")
		named(w, "status", status)
		w.Name("content")
		w.Begin('[')
		if status != statusRuns {
			i.writePart(w)
		}
		w.End(']')
	case itemReasoning:
		i.writeThoughts(w)
	case itemCall:
		named(w, "status", status)
		named(w, "call_id", i.call.ID)
		named(w, "name", i.call.Name)
		w.Name("arguments")
		w.JSON(jsonOf(string(i.arguments)))
	case itemSearch:
		named(w, "status", statusCompleted)
		i.writeSearch(w)
	}
	w.End('}')
}

func (i *outputItem) writeThoughts(w *jsonwrite.Writer) {
	w.Name("summary")
	w.Begin('[')
	for _, text := range i.summary {
		writeSummary(w, text)
	}
	w.End(']')
	w.Name("encrypted_content")
	if i.state == nil {
		w.Null()
	} else {
		w.JSON(i.state)
	}
}

func writeSummary(w *jsonwrite.Writer, text []byte) {
	w.Begin('{')
	named(w, "type", "summary_text")
	named(w, "text", string(text))
	w.End('}')
}

// writeSearch writes the model's search as far as it is known: the pages that the answer cites.
func (i *outputItem) writeSearch(w *jsonwrite.Writer) {
	w.Name("action")
	w.Begin('{')
	named(w, "type", "search")
	w.Name("sources")
	w.Begin('[')
	told := map[string]bool{}
	for _, c := range i.citations {
		if !told[c.URL] {
			told[c.URL] = true
			w.Begin('{')
			named(w, "type", "url")
			named(w, "url", c.URL)
			w.End('}')
		}
	}
	w.End(']')
	w.End('}')
}

// writePart writes the one part of a message.
func (i *outputItem) writePart(w *jsonwrite.Writer) {
	w.Begin('{')
	named(w, "type", "output_text")
	named(w, "text", string(i.text))
	w.Name("annotations")
	w.Begin('[')
	for _, c := range i.citations {
		i.writeCitation(w, c)
	}
	w.End(']')
	w.Name("logprobs")
	w.Begin('[')
	w.End(']')
	w.End('}')
}

// writeCitation writes a citation with the place of the words that it is for, 0 and 0 if they aren't of the message.
func (i *outputItem) writeCitation(w *jsonwrite.Writer, c task.Citation) {
	start, end := 0, 0
	if before, _, found := strings.Cut(string(i.text), c.Text); found && c.Text != "" {
		start = utf8.RuneCountInString(before)
		end = start + utf8.RuneCountInString(c.Text)
	}
	w.Begin('{')
	named(w, "type", "url_citation")
	named(w, "url", c.URL)
	named(w, "title", c.Title)
	count(w, "start_index", int64(start))
	count(w, "end_index", int64(end))
	w.End('}')
}
