package upstream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"unitask/internal/fault"
	"unitask/internal/sse"
)

// words are the text of a stream, in its two pieces: forty bytes, which are the ten tokens that suppliers
// report here by the usual estimate too.
var words = [2]string{"Yes, all of them are", " here, and so we are"}

// parts are a stream as a supplier writes it: the part before the text, its first piece, the rest with the
// reason why it ends, and the end.
type parts [4]string

// until returns how many parts precede a moment.
func (p phase) until() int { return map[phase]int{opening: 1, middle: 2, ending: 3}[p] }

// textBefore returns how much of the text precedes the cell's moment.
func (c cell) textBefore() int {
	first, second := len(c.dialect.says[0]), len(c.dialect.says[1])
	return map[phase]int{middle: first, ending: first + second}[c.phase]
}

// write sends the first n parts, each on its own.
func (p parts) write(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Type", sse.ContentType)
	for _, part := range p[:n] {
		_, _ = io.WriteString(w, part)
		_ = http.NewResponseController(w).Flush() // a closed connection is noticed elsewhere
	}
}

// events writes data as events; those that are objects with a type are named by it.
func events(all ...string) string {
	var b strings.Builder
	for _, data := range all {
		var object struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal([]byte(data), &object)
		b.WriteString(named(object.Type, data))
	}
	return b.String()
}

// named writes data as an event with that name, unless it is "".
func named(name, data string) string {
	if name != "" {
		name = "event: " + name + "\n"
	}
	return name + "data: " + data + "\n\n"
}

// denied is an error as most formats have it.
var denied = fmt.Sprintf(`{"type":"error","error":{"type":"api_error","code":500,"status":"INTERNAL","message":%q}}`, leak)

func openaiStream() parts {
	piece := func(s string) string { return fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}]}`, s) }
	return parts{
		events(fmt.Sprintf(`{"model":%q,"choices":[{"delta":{"role":"assistant","content":""}}]}`, modelName)),
		events(piece(words[0])),
		events(piece(words[1]), `{"choices":[{"delta":{},"finish_reason":"stop"}]}`),
		events(`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10}}`, "[DONE]"),
	}
}

func anthropicStream() parts {
	piece := func(s string) string {
		return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, s)
	}
	return parts{
		events(fmt.Sprintf(`{"type":"message_start","message":{"id":%q,"model":%q,"usage":{"input_tokens":10,"output_tokens":1}}}`, jobID, modelName),
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		events(piece(words[0])),
		events(piece(words[1]), `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":10}}`),
		events(`{"type":"message_stop"}`),
	}
}

func geminiStream() parts {
	piece := func(s, more string) string {
		return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":%q}],"role":"model"}%s}]}`, s, more)
	}
	return parts{
		events(fmt.Sprintf(`{"modelVersion":%q,"usageMetadata":{"promptTokenCount":10}}`, modelName)),
		events(piece(words[0], "")),
		events(piece(words[1], `,"finishReason":"STOP"`)),
		events(`{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":10}}`),
	}
}

// unitaskStream has its reason and its end in one: the task as it is then, with all of the text.
func unitaskStream() parts {
	piece := func(s string) string { return named("delta", fmt.Sprintf(`{"text":%q}`, s)) }
	stands := func(state, more string) string {
		return named("task", fmt.Sprintf(`{"id":%q,"state":%q%s}`, jobID, state, more))
	}
	const done = `,"output":{"text":%q,"finish_reason":"stop"},"usage":{"input_tokens":10,"output_tokens":10}`
	return parts{
		stands("running", ""),
		piece(words[0]),
		piece(words[1]) + stands("succeeded", fmt.Sprintf(done, words[0]+words[1])),
		": the end\n\n",
	}
}

// cut continues a stream from a moment with a fault.
type cut func(w http.ResponseWriter, r *http.Request, d dialect, rest string)

// barrier is passed once the caller has received a number of bytes, so that no failure comes before.
type barrier struct {
	needs  int
	before func() // called before it opens; may be nil
	open   chan struct{}
	once   sync.Once
}

func newBarrier(needs int) *barrier {
	g := &barrier{needs: needs, open: make(chan struct{})}
	g.received(0)
	return g
}

func (g *barrier) received(n int) {
	if n >= g.needs {
		g.once.Do(func() {
			defer close(g.open)
			if g.before != nil {
				g.before()
			}
		})
	}
}

// breakOff answers with a stream that is sound until the caller has received all before the cell's moment.
func (c cell) breakOff(g *barrier) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		all := c.dialect.stream
		all.write(w, c.phase.until())
		select {
		case <-g.open:
			c.failure.cut(w, r, c.dialect, strings.Join(all[c.phase.until():], ""))
		case <-r.Context().Done():
		}
	}
}

// streamFailures are the ways in which a stream that has started breaks off. Those that answer otherwise than
// with a stream have no later moment.
func streamFailures() []failure {
	const unavailable = fault.ProviderUnavailable
	var all []failure
	lost := func(name string, code fault.Code, c cut) {
		all = append(all, failure{name: name, code: code, lost: true, cut: c})
	}
	instead := func(f failure) {
		const why = "by then the answer is a stream"
		f.never = map[phase]string{middle: why, ending: why}
		all = append(all, f)
	}
	all = append(all, failure{name: well, cut: func(w http.ResponseWriter, _ *http.Request, _ dialect, rest string) { say(w, "%s", rest) }})
	lost("reset", unavailable, func(w http.ResponseWriter, _ *http.Request, _ dialect, _ string) { reset(w, "") })
	lost("the connection ends in the middle of an event", unavailable, func(w http.ResponseWriter, _ *http.Request, _ dialect, _ string) {
		say(w, `data: {"id":"%s`, leak)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	lost("it ends without the format's end", unavailable, func(http.ResponseWriter, *http.Request, dialect, string) {})
	lost("an event of garbage, and on", unavailable, func(w http.ResponseWriter, _ *http.Request, _ dialect, rest string) {
		say(w, "%s%s", named("delta", `{"`+leak), rest) // most formats have no names, and ignore them
	})
	all = append(all, failure{name: "an event with an error", code: unavailable, cut: func(w http.ResponseWriter, _ *http.Request, d dialect, _ string) {
		say(w, "%s", d.trouble)
	}})
	lost("stall", fault.ProviderTimeout, func(_ http.ResponseWriter, r *http.Request, _ dialect, _ string) { <-r.Context().Done() })
	lost("only comments", fault.ProviderTimeout, func(w http.ResponseWriter, r *http.Request, _ dialect, _ string) {
		trickle(w, r, ": "+leak+"\n\n")
	})
	all[len(all)-1].endless = true
	lost("an event of two mebibytes", unavailable, func(w http.ResponseWriter, _ *http.Request, _ dialect, rest string) {
		say(w, "data: %s\n\n%s", strings.Repeat(leak, 2<<20/len(leak)), rest)
	})
	all[len(all)-1].fits = true
	lost("more than any text is long", unavailable, func(w http.ResponseWriter, _ *http.Request, _ dialect, rest string) {
		line := ": " + strings.Repeat(leak, 4096) + "\n\n"
		for range spaces << 20 / len(line) {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
		say(w, "%s", rest)
	})
	all[len(all)-1].large = true
	instead(failure{name: "200 with an error in its place", code: unavailable, serve: answer("application/json", denied)})
	instead(failure{name: "200 with HTML in its place", code: unavailable, lost: true, serve: answer("text/html", "<!doctype html><h1>"+leak+"</h1>")})
	instead(failure{name: "events that call themselves JSON", code: unavailable, lost: true, serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		say(w, "%s", events(`{"`+leak+`":1}`, `{}`))
	}})
	return all
}

// well is the row without a fault.
const well = "no failure: the supplier is well"
