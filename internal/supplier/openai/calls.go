package openai

import (
	"encoding/json"
	"slices"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// call is a tool call of a message, or a piece of one.
type call struct {
	Index    *int            `json:"index"`
	ID       string          `json:"id"`
	Function function        `json:"function"`
	Custom   json.RawMessage `json:"custom"` // of a tool that no request offers
}

type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// text returns the arguments as text: some servers give the object itself.
func (f function) text() string {
	var text string
	if len(f.Arguments) == 0 || string(f.Arguments) == "null" || json.Unmarshal(f.Arguments, &text) == nil {
		return text
	}
	return string(f.Arguments)
}

// callsOf returns the calls in a message, or the pieces of them; nil for none that can be read.
func (p piece) callsOf() []call {
	var calls []call
	if len(p.ToolCalls) > 0 && upstream.Decode(p.ToolCalls, &calls) != nil {
		return nil
	}
	var former function
	if len(calls) == 0 && len(p.Function) > 0 && upstream.Decode(p.Function, &former) == nil && former.Name != "" {
		return []call{{Function: former}}
	}
	return slices.DeleteFunc(calls, func(c call) bool { return c.Custom != nil })
}

// callPieces tells which call a piece of a stream belongs to.
type callPieces struct {
	ids    []string
	names  []string
	places map[int]int // by the server's index: where the call stands
}

// take returns the pieces of the calls in a delta. A new id under an index begins another call: some servers number
// each call 0. One without a name, before any, is left out.
func (t *callPieces) take(p piece) []supplier.CallPiece {
	var pieces []supplier.CallPiece
	for i, c := range p.callsOf() {
		if c.Index != nil {
			i = *c.Index
		}
		at, known := t.places[i]
		if !known || c.ID != "" && c.Function.Name != "" && c.ID != t.ids[at] {
			if c.Function.Name == "" {
				continue
			}
			if t.places == nil {
				t.places = map[int]int{}
			}
			at = len(t.ids)
			t.ids, t.names, t.places[i] = append(t.ids, c.ID), append(t.names, c.Function.Name), at
		}
		pieces = append(pieces, supplier.CallPiece{Index: at, Name: t.names[at], Arguments: c.Function.text()})
	}
	return pieces
}

// page is a page that a text rests on.
type page struct {
	URL     string `json:"url"`
	Title   string `json:"title"`
	Content string `json:"content"`
}

// citations reads the annotations of a text, those of pages.
func citations(raw json.RawMessage) []supplier.Citation {
	var notes []struct {
		Type string `json:"type"`
		page        // of the Responses API
		Page page   `json:"url_citation"`
	}
	if len(raw) == 0 || upstream.Decode(raw, &notes) != nil {
		return nil
	}
	var all []supplier.Citation
	for _, n := range notes {
		p := n.Page
		if p.URL == "" {
			p = n.page
		}
		if n.Type == "url_citation" && p.URL != "" {
			all = append(all, supplier.Citation{URL: p.URL, Title: p.Title, Text: p.Content})
		}
	}
	return all
}

// keep returns the state of an answer that calls tools; nil if the server gives no thoughts to send back.
func keep(k kept) json.RawMessage {
	if k.Thoughts == "" && len(k.Details) == 0 && len(k.Items) == 0 {
		return nil
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return nil // what isn't JSON can't be sent back
	}
	return raw
}
