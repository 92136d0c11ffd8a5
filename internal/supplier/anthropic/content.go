package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// block is one piece of content as it comes, or begins; and the piece of one that a stream adds.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      json.RawMessage `json:"data"`
	ID        json.RawMessage `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID json.RawMessage `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Caller    json.RawMessage `json:"caller"`
	Citations json.RawMessage `json:"citations"`

	// Of a piece alone.
	PartialJSON string          `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`
}

// citation is the place that a text rests on, of which those in pages of the web are told.
type citation struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Title string `json:"title"`
	Text  string `json:"cited_text"`
}

// growing is a block with what came of it so far.
type growing struct {
	block
	length  int             // bytes of a text
	thought strings.Builder // of thinking
	json    strings.Builder // of a call's input, in pieces
	call    int             // its index among the caller's, -1 of other blocks
	ended   bool
}

// input returns the arguments of a call: the pieces, or, without any, those that it began with.
func (t *growing) input() json.RawMessage {
	if t.json.Len() > 0 {
		return json.RawMessage(t.json.String())
	}
	return t.Input
}

// content gathers the blocks of one answer, whole ones and those of a stream alike.
type content struct {
	searches bool // the request asks for searches, whose calls are the server's own
	blocks   []*growing
	at       map[int]*growing // by the server's index, the last that began
	calls    int              // of the caller's tools
	called   bool             // a tool, whosoever's
	texts    bool
	mused    bool // a block of thoughts has been told
	cited    []supplier.Citation
}

// begin takes the beginning of a block, or a whole one.
func (c *content) begin(index int, b block) supplier.Delta {
	t := &growing{block: b, call: -1}
	c.blocks = append(c.blocks, t)
	if c.at == nil {
		c.at = map[int]*growing{}
	}
	c.at[index] = t
	switch {
	case b.Type == blockText:
		c.texts = true
		c.citeAll(b.Citations)
		return t.say(b.Text)
	case b.Type == blockThinking:
		return c.muse(t, b.Thinking)
	case b.Type == blockCall && b.Name != "":
		t.call = c.calls
		c.calls++
		c.called = true
		return t.piece("")
	case b.Type == blockCall, strings.HasSuffix(b.Type, stopTool) && !c.searches:
		c.called = true // of a tool that no request offers
	}
	return supplier.Delta{}
}

// add takes a piece of a block.
func (c *content) add(index int, b block) supplier.Delta {
	t := c.at[index]
	if t == nil { // the server left its beginning out
		t = &growing{call: -1}
	}
	switch b.Type {
	case "text_delta":
		return t.say(b.Text)
	case "thinking_delta":
		return c.muse(t, b.Thinking)
	case "signature_delta":
		t.Signature += b.Signature
	case "input_json_delta":
		t.json.WriteString(b.PartialJSON)
		if t.call >= 0 && b.PartialJSON != "" {
			return t.piece(b.PartialJSON)
		}
	case "citations_delta":
		var one citation
		if len(b.Citation) > 0 && upstream.Decode(b.Citation, &one) == nil {
			c.cite(one)
		}
	}
	return supplier.Delta{}
}

// end takes the end of a block: a call's input may have come with its beginning.
func (c *content) end(index int) supplier.Delta {
	t := c.at[index]
	if t == nil || t.ended || t.call < 0 || t.json.Len() > 0 || len(t.Input) == 0 || string(t.Input) == "null" {
		return supplier.Delta{}
	}
	t.ended = true
	return t.piece(string(t.Input))
}

// endAll ends the blocks whose end the server left out.
func (c *content) endAll() (all supplier.Delta) {
	for index := range c.at {
		all.Calls = append(all.Calls, c.end(index).Calls...)
	}
	slices.SortFunc(all.Calls, func(a, b supplier.CallPiece) int { return a.Index - b.Index })
	c.at = nil
	return all
}

func (t *growing) say(text string) supplier.Delta {
	t.length += len(text)
	return supplier.Delta{Text: text}
}

// muse tells a thought, the blocks of them apart from each other.
func (c *content) muse(t *growing, thought string) supplier.Delta {
	apart := ""
	if thought != "" && t.thought.Len() == 0 && c.mused {
		apart = "\n\n"
	}
	c.mused = c.mused || thought != ""
	t.thought.WriteString(thought)
	return supplier.Delta{Reasoning: apart + thought}
}

func (t *growing) piece(arguments string) supplier.Delta {
	return supplier.Delta{Calls: []supplier.CallPiece{{Index: t.call, Name: t.Name, Arguments: arguments}}}
}

// cite takes a citation, unless it has come before.
func (c *content) cite(s citation) {
	one := supplier.Citation{URL: s.URL, Title: s.Title, Text: s.Text}
	if s.Type == "web_search_result_location" && s.URL != "" && !slices.Contains(c.cited, one) {
		c.cited = append(c.cited, one)
	}
}

// citeAll takes a list of citations. Ones of another form aren't told.
func (c *content) citeAll(raw json.RawMessage) {
	var all []citation
	if len(raw) == 0 || upstream.Decode(raw, &all) != nil {
		return
	}
	for _, one := range all {
		c.cite(one)
	}
}
