package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/api"
	"unitask/internal/task"
)

// result is a task's output as its page shows it: each part by the form that reads best, and the rest as JSON.
type result struct {
	Text            *string
	Markdown        bool // the text may be that
	Calls           []call
	Data            string // JSON in lines; "" without any
	Reasoning       string
	Citations       []task.Citation
	Segments, Words *transcript
	Ranks           *ranking
	Judged          *judgement
	Vectors         *vectors
	FinishReason    string
	Rest            string // the other members, as JSON in lines
}

// call is a model's call of a tool.
type call struct {
	Name, ID, Arguments string
	Invalid             bool
}

// transcript is timed pieces of one; Speakers: it is known who speaks.
type transcript struct {
	Pieces   []task.Segment
	Speakers bool
}

// resultOf reads an output that was read from an answer. A text that is the same as the data isn't shown twice, and one
// that was heard is no Markdown.
func resultOf(capability string, o *api.Output) *result {
	r := result{
		Text: o.Text, Markdown: !strings.HasPrefix(capability, "audio."), Data: inLines(o.Data), Reasoning: o.Reasoning, Citations: o.Citations,
		FinishReason: o.FinishReason, Segments: transcriptOf(o.Segments), Words: transcriptOf(o.Words), Vectors: compared(o.Embeddings),
	}
	if o.Text != nil && (*o.Text == "" || o.Data != nil) {
		r.Text = nil
	}
	for _, c := range o.ToolCalls {
		r.Calls = append(r.Calls, call{c.Name, c.ID, inLines(c.Arguments), c.Invalid})
	}
	r.takeRest(o.Rest())
	return &r
}

// takeRest finds tables in the members that most outputs don't have, and keeps the others as JSON.
func (r *result) takeRest(rest json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(rest, &members) != nil {
		r.Rest = inLines(rest)
		return
	}
	r.Ranks = ranked(members["results"])
	r.Judged = judged(members["results"])
	if r.Ranks != nil || r.Judged != nil {
		delete(members, "results")
	}
	if packed := unpacked(members["embeddings"]); packed != nil {
		r.Vectors = compared(packed)
		delete(members, "embeddings")
	}
	if len(members) == 0 {
		return
	}
	left, err := json.Marshal(members)
	if err != nil {
		left = rest // they were read from it
	}
	r.Rest = inLines(left)
}

func transcriptOf(pieces []task.Segment) *transcript {
	if len(pieces) == 0 {
		return nil
	}
	t := transcript{Pieces: pieces}
	for _, p := range pieces {
		t.Speakers = t.Speakers || p.Speaker != ""
	}
	return &t
}

// inLines writes JSON in lines, for people; "" without any.
func inLines(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// strictly reads JSON of exactly a value's form.
func strictly(raw json.RawMessage, into any) bool {
	return len(raw) > 0 && jsonv2.Unmarshal(raw, into, jsonv2.RejectUnknownMembers(true)) == nil
}

// Measures are the times, counts and cost of a task, as the line beside its result says them.
func (t taskView) Measures() []string {
	var all []string
	if !t.Live() {
		all = append(all, "took "+lasted(t.Took))
	}
	for _, s := range t.Timeline {
		if s.State == task.Queued && s.Stayed >= time.Millisecond {
			all = append(all, "queued "+lasted(s.Stayed))
		}
	}
	if t.Own == nil || t.Own.Usage == nil {
		return all
	}
	for _, c := range t.Own.Usage.Counts() {
		all = append(all, fmt.Sprintf("%s %s", count(c.N), c.Name))
	}
	if s := t.Own.Usage.Seconds; s != "" {
		all = append(all, s.String()+" s of media")
	}
	return append(all, money(t.Cost))
}
