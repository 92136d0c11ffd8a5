package gateway_test

import (
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestTranscriptPieces has suppliers answer requests for a transcript: the output has the pieces that were asked for
// and no others, and a transcript that lacks one is the supplier's failure, after which another route answers.
func TestTranscriptPieces(t *testing.T) {
	pieces := func(speaker string) []supplier.Segment {
		return []supplier.Segment{{End: 1, Text: "Mind"}, {Start: 1, End: 2, Text: "the gap.", Speaker: speaker}}
	}
	const (
		plain = `{"start":0,"end":1,"text":"Mind"},{"start":1,"end":2,"text":"the gap."}`
		named = `{"start":0,"end":1,"text":"Mind"},{"start":1,"end":2,"text":"the gap.","speaker":"B"}`
	)
	output := func(rest string) string { return `{"text":"Mind the gap.","finish_reason":"stop"` + rest + `}` }
	for name, tt := range map[string]struct {
		parameters string
		result     supplier.Result
		want       string // "" if it is a failure
	}{
		"nothing asked for":       {`{}`, supplier.Result{Segments: pieces("B"), Words: pieces("B")}, output("")},
		"no speakers asked for":   {`{"speakers":false}`, supplier.Result{Segments: pieces("B")}, output("")},
		"segments":                {`{"timestamps":"segment"}`, supplier.Result{Segments: pieces("B"), Words: pieces("B")}, output(`,"segments":[` + plain + `]`)},
		"speakers":                {`{"speakers":true}`, supplier.Result{Segments: pieces("B"), Words: pieces("B")}, output(`,"segments":[` + named + `]`)},
		"both":                    {`{"timestamps":"both"}`, supplier.Result{Segments: pieces(""), Words: pieces("B")}, output(`,"segments":[` + plain + `],"words":[` + plain + `]`)},
		"both, and speakers":      {`{"timestamps":"both","speakers":true}`, supplier.Result{Segments: pieces("B"), Words: pieces("")}, output(`,"segments":[` + named + `],"words":[` + plain + `]`)},
		"silence":                 {`{"timestamps":"both","speakers":true}`, supplier.Result{Text: new(" ")}, `{"text":" ","finish_reason":"stop"}`},
		"silence in subtitles":    {`{"speakers":true,"format":"vtt"}`, supplier.Result{Text: new("WEBVTT\n\n")}, `{"text":"WEBVTT\n\n","finish_reason":"stop"}`},
		"without segments":        {`{"timestamps":"segment"}`, supplier.Result{Words: pieces("")}, ""},
		"without words":           {`{"timestamps":"both"}`, supplier.Result{Segments: pieces("")}, ""},
		"without speakers":        {`{"speakers":true}`, supplier.Result{Segments: pieces("")}, ""},
		"without a single piece":  {`{"speakers":true}`, supplier.Result{}, ""},
		"without words as pieces": {`{"timestamps":"word"}`, supplier.Result{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"capability":"audio.transcribe","input":{"audio":{"data":"UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=","content_type":"audio/wav"}},"parameters":` + tt.parameters + `}`
			result := tt.result
			if result.FinishReason = "stop"; result.Text == nil {
				result.Text = new("Mind the gap.")
			}
			second := supplier.Result{Text: new("Mind the gap."), FinishReason: "stop", Segments: pieces("B"), Words: pieces("B")}
			routes := []routing.Route{
				route("audio.transcribe", "a", task.USD, results(result)), route("audio.transcribe", "b", 2*task.USD, results(second)),
			}
			inWorld(t, routes, func(w *world) {
				got := w.end(w.create("transcript-pieces", body, time.Minute).Task.ID)
				var outcomes []attemptOutcome
				for _, a := range got.Attempts {
					outcomes = append(outcomes, attemptOutcome{Supplier: a.Supplier, State: a.State, Code: a.Code})
				}
				first := attemptOutcome{Supplier: "a", State: task.OK}
				if tt.want == "" {
					first = attemptOutcome{Supplier: "a", State: task.FailedAttempt, Code: fault.ProviderUnavailable}
				}
				if len(outcomes) == 0 || outcomes[0] != first || (len(outcomes) == 2) != (tt.want == "") {
					t.Errorf("attempts %+v", outcomes)
				}
				if got.Output == nil || tt.want != "" && string(got.Output.JSON) != tt.want {
					t.Errorf("output %s, want %s", got.Output.JSON, tt.want)
				}
			})
		})
	}
}
