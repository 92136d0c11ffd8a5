package openai

import (
	"cmp"
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// responseTalk is one streamed answer of the Responses API.
type responseTalk struct {
	adapter *adapter
	asked   int
	reply   reply            // of the items that are done
	items   int              // that are done
	begun   map[int]*telling // items, by their number in the output
	calls   int
	spoken  bool
	thought *place // of the last piece of thoughts
	reason  string // once it has ended
	usage   json.RawMessage
}

// telling is what was told of an item.
type telling struct {
	call int    // its number among the calls
	name string // of the tool that it calls
	told bool   // a piece of its text or arguments
}

// place is where a piece of thoughts stands.
type place struct{ output, summary, content int }

// responseEvent is an event of a stream. Types that are unknown are passed over.
type responseEvent struct {
	upstream.Envelope
	Type     string          `json:"type"`
	Delta    text            `json:"delta"`
	Output   int             `json:"output_index"`
	Summary  int             `json:"summary_index"`
	Content  int             `json:"content_index"`
	Item     json.RawMessage `json:"item"`
	Response json.RawMessage `json:"response"`
}

// Whole takes an answer that isn't a stream.
func (t *responseTalk) Whole(a upstream.Answer) (supplier.Outcome, error) {
	return t.adapter.decodeResponse(a, t.asked)
}

// Event takes the data of one event.
func (t *responseTalk) Event(status int, e upstream.Event) (supplier.Delta, error) {
	var none supplier.Delta
	answer := upstream.Answer{Status: status, Body: []byte(e.Data)}
	var body responseEvent
	err := upstream.Decode(answer.Body, &body)
	if body.Type == "error" {
		body.Object = body.Type
	}
	if err = t.adapter.format.Problem(answer, body.Envelope, err); err != nil {
		return none, err
	}
	var said supplier.Delta
	switch body.Type {
	case "response.output_text.delta":
		said = t.say(t.telling(body.Output), body.Delta.Value)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		said = t.think(place{body.Output, body.Summary, body.Content}, body.Delta.Value)
	case "response.refusal.delta":
		t.reply.refusal = cmp.Or(t.reply.refusal, body.Delta.Value)
	case "response.output_item.added":
		said = t.begin(body)
	case "response.function_call_arguments.delta":
		said = t.argue(t.telling(body.Output), body.Delta.Value)
	case "response.output_item.done":
		said = t.finish(body.Output, body.Item)
	case "response.completed", "response.incomplete", "response.failed":
		return t.end(upstream.Answer{Status: status, Body: body.Response})
	}
	if e := (choice{}).failure(status, piece{Refusal: t.reply.refusal}); e != nil {
		return none, e
	}
	return said, nil
}

// telling returns what was told of the n-th item.
func (t *responseTalk) telling(n int) *telling {
	if t.begun == nil {
		t.begun = map[int]*telling{}
	}
	if t.begun[n] == nil {
		t.begun[n] = &telling{}
	}
	return t.begun[n]
}

func (t *responseTalk) say(i *telling, text string) supplier.Delta {
	i.told = i.told || text != ""
	t.spoken = true
	return supplier.Delta{Text: text}
}

// think returns a piece of thoughts; a blank line parts those of two places.
func (t *responseTalk) think(at place, text string) supplier.Delta {
	if text == "" {
		return supplier.Delta{}
	}
	t.telling(at.output).told = true
	piece := supplier.Delta{Reasoning: text}
	if t.thought != nil && *t.thought != at {
		piece.Reasoning = gap + text
	}
	t.thought = &at
	return piece
}

// begin takes an item that begins, which may be a call.
func (t *responseTalk) begin(e responseEvent) supplier.Delta {
	delete(t.begun, e.Output)
	var i item
	if upstream.Decode(e.Item, &i) != nil || i.Type != "function_call" {
		return supplier.Delta{}
	}
	return t.call(t.telling(e.Output), i.Name)
}

// call begins a call of a tool; one without a name is left out.
func (t *responseTalk) call(i *telling, name string) supplier.Delta {
	if name == "" {
		return supplier.Delta{}
	}
	i.call, i.name = t.calls, name
	t.calls++
	return supplier.Delta{Calls: []supplier.CallPiece{{Index: i.call, Name: name}}}
}

func (t *responseTalk) argue(i *telling, arguments string) supplier.Delta {
	if i.name == "" || arguments == "" {
		return supplier.Delta{}
	}
	i.told = true
	return supplier.Delta{Calls: []supplier.CallPiece{{Index: i.call, Name: i.name, Arguments: arguments}}}
}

// finish takes the n-th item, which is done, and returns all of it if no piece of it was told.
func (t *responseTalk) finish(n int, raw json.RawMessage) supplier.Delta {
	whole, now := t.reply.take(raw), t.telling(n)
	t.items++
	var piece supplier.Delta
	switch {
	case whole.Type == "function_call" && now.name == "":
		piece = t.call(now, whole.Name)
		piece.Calls = append(piece.Calls, t.argue(now, whole.text()).Calls...)
	case now.told:
	case whole.Type == "function_call":
		piece = t.argue(now, whole.text())
	case whole.Type == "message" && len(whole.Content) > 0:
		piece = t.say(now, whole.words())
	case whole.Type == "reasoning":
		piece = t.think(place{output: n}, whole.thoughts())
	}
	return piece
}

// end takes the answer as it ended.
func (t *responseTalk) end(answer upstream.Answer) (supplier.Delta, error) {
	var none supplier.Delta
	body, err := t.adapter.readResponse(answer)
	if err != nil {
		return none, err
	}
	rest := t.rest(body.Output)
	reason, err := body.ended(answer.Status, t.reply.refusal, t.calls > 0, t.spoken)
	if err != nil {
		return none, err
	}
	t.reason, t.usage = reason, body.Usage
	if rest.Size() > 0 {
		return rest, nil
	}
	return none, upstream.ErrDone
}

// rest takes the items of a server that told of none that was done, and returns what they say if no piece of it was told.
func (t *responseTalk) rest(items []json.RawMessage) (all supplier.Delta) {
	if t.items > 0 {
		return all
	}
	mute := !t.spoken && t.calls == 0 && t.thought == nil
	for n, raw := range items {
		if !mute {
			t.reply.take(raw)
			continue
		}
		said := t.finish(n, raw)
		all.Text += said.Text
		all.Reasoning += said.Reasoning
		all.Calls = append(all.Calls, said.Calls...)
	}
	return all
}

// Complete reports whether the answer has ended.
func (t *responseTalk) Complete(bool) bool { return t.reason != "" }

// Outcome is the result of all pieces.
func (t *responseTalk) Outcome(told *supplier.Told) supplier.Outcome {
	r := t.reply.result(t.reason, told.Text.String(), told.Reasoning.String(), told.Calls())
	return t.adapter.measured(r, t.usage, t.asked)
}
