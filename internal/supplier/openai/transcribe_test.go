package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

const (
	diarizer       = "gpt-4o-transcribe-diarize"
	diarizedAnswer = `{"task":"transcribe","duration":2.5,"text":"Mind the gap.",
		"segments":[{"type":"transcript.text.segment","id":"s1","start":0,"end":1.2,"text":" Mind","speaker":"A"},
			{"type":"transcript.text.segment","id":"s2","start":1.2,"end":2.45,"text":" the gap.","speaker":"B"}],
		"usage":{"type":"duration","seconds":3}}`
)

// translatedAnswer is verboseAnswer without words, which translations don't have.
var translatedAnswer = verboseAnswer[:strings.Index(verboseAnswer, `,
		"words"`)] + "}"

// transcribeBy is transcribeRequest to a model, with hints if there are any.
func transcribeBy(model, parameters string, hints ...string) supplier.Request {
	r := transcribeRequest(parameters)
	r.Model = model
	if hints != nil {
		r.Input = []byte(`{"audio":{"url":"https://a.example/1"},"hints":["` + strings.Join(hints, `","`) + `"]}`)
	}
	return r
}

// lines are the segments of verboseAnswer and, with speakers, of diarizedAnswer.
func lines(speakers ...string) []supplier.Segment {
	all := []supplier.Segment{{Start: 0, End: 1.2, Text: "Mind"}, {Start: 1.2, End: 2.4504, Text: "the gap."}}
	for i, s := range speakers {
		all[i].Speaker, all[1].End = s, 2.45
	}
	return all
}

func transcriptCases() []suppliertest.Case {
	words := []supplier.Segment{
		{Start: 0.1, End: 0.5, Text: "Mind"}, {Start: 0.6, End: 0.7, Text: "the"}, {Start: 0.8, End: 1, Text: "gap"},
	}
	row := func(name string, r supplier.Request, answer string, want supplier.Result) suppliertest.Case {
		want.Text, want.FinishReason = new("Mind the gap."), "stop"
		return suppliertest.Case{Name: "audio.transcribe/" + name, Request: r, Answer: suppliertest.JSON(200, answer), Want: &want, Alike: true}
	}
	measured := supplier.Usage{Milliseconds: 2500, OutputTokens: 4}
	billed := supplier.Usage{Milliseconds: 3000, OutputTokens: 4}
	return []suppliertest.Case{
		row("both", transcribeBy("whisper-1", `{"timestamps":"both"}`, "Gap"), verboseAnswer,
			supplier.Result{Segments: lines(), Words: words, Usage: measured}),
		row("speakers", transcribeBy(diarizer, `{"speakers":true,"timestamps":"none","language":"en-GB"}`), diarizedAnswer,
			supplier.Result{Segments: lines("A", "B"), Usage: billed}),
		row("segments by speaker", transcribeBy(diarizer, `{"speakers":true,"timestamps":"segment"}`), diarizedAnswer,
			supplier.Result{Segments: lines("A", "B"), Usage: billed}),
		row("a translation", transcribeBy("whisper-1", `{"translate_to":"en-GB","timestamps":"segment"}`, "Gap"),
			translatedAnswer, supplier.Result{Segments: lines(), Usage: measured}),
		row("keywords", transcribeBy("gpt-transcribe", `{}`, "Gap", "Underground"), `{"text":"Mind the gap."}`,
			supplier.Result{Usage: supplier.Usage{OutputTokens: 4}}),
	}
}

func transcriptFaults() []suppliertest.Fault {
	asked := transcribeBy(diarizer, `{"speakers":true}`)
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	both := transcribeBy("whisper-1", `{"timestamps":"both"}`)
	row := func(name string, r *supplier.Request, body string) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Request: r, Answer: suppliertest.JSON(200, body), Want: lost}
	}
	return []suppliertest.Fault{
		row("a transcript without speakers", &asked, strings.ReplaceAll(diarizedAnswer, `"speaker"`, `"talker"`)),
		row("a transcript with speakers of no segment", &asked, `{"text":"Mind the gap.","segments":[]}`),
		row("a transcript without words", &both, strings.ReplaceAll(verboseAnswer, `"words"`, `"other"`)),
		row("a transcript of words alone", &both, strings.ReplaceAll(verboseAnswer, `"segments"`, `"other"`)),
	}
}

func transcriptRefusals() []suppliertest.Refusal {
	row := func(name, model, parameters string, refused bool, hints ...string) suppliertest.Refusal {
		return suppliertest.Refusal{Name: "transcript/" + name, Request: transcribeBy(model, parameters, hints...), Refused: refused}
	}
	const whisper, mini = "whisper-1", "gpt-4o-mini-transcribe"
	return []suppliertest.Refusal{
		row("words", whisper, `{"timestamps":"word"}`, false),
		row("subtitles", "whisper-large-v3-turbo", `{"format":"vtt"}`, false),
		row("no words", mini, `{"timestamps":"word"}`, true),
		row("no subtitles", "gpt-4o-transcribe", `{"format":"srt"}`, true),
		row("no times", "gpt-transcribe", `{"timestamps":"segment"}`, true),
		row("a plain transcript", "gpt-4o-transcribe", `{"format":"text","timestamps":"none"}`, false),
		row("both", whisper, `{"timestamps":"both"}`, false),
		row("no segments and words", mini, `{"timestamps":"both"}`, true),
		row("speakers", diarizer, `{"speakers":true,"format":"vtt"}`, false),
		row("speakers of words", diarizer, `{"speakers":true,"timestamps":"word"}`, true),
		row("no speakers", whisper, `{"speakers":true}`, true),
		row("no speakers wanted", mini, `{"speakers":false}`, false),
		row("hints", mini, `{}`, false, "Gap"),
		row("hints to whom they say nothing", diarizer, `{}`, true, "Gap"),
		row("many hints", whisper, `{}`, false, strings.Repeat("x", 896)),
		row("too many hints", whisper, `{}`, true, strings.Repeat("x", 897)),
		row("a translation", whisper, `{"translate_to":"EN-us","format":"srt"}`, false),
		row("a translation into another language", whisper, `{"translate_to":"de"}`, true),
		row("no translation", mini, `{"translate_to":"en"}`, true),
		row("no translation by a fast model", "whisper-large-v3-turbo", `{"translate_to":"en"}`, true),
		row("a translation of a named language", whisper, `{"translate_to":"en","language":"de"}`, true),
		row("a translation with words", whisper, `{"translate_to":"en","timestamps":"both"}`, true),
		row("a translation with speakers", diarizer, `{"translate_to":"en","speakers":true}`, true),
	}
}

// TestTranscriptFeatures shows what other servers than the format's author are asked for only if their settings say so.
func TestTranscriptFeatures(t *testing.T) {
	hinted, translated := transcribeBy("whisper-1", `{}`, "Gap"), transcribeBy("whisper-1", `{"translate_to":"en"}`)
	for _, tt := range []struct {
		base, features string
		request        supplier.Request
		want           string
	}{
		{"https://api.openai.com/v1", "", hinted, ""},
		{"https://api.openai.com/v1", "", translated, ""},
		{"https://api.openai.com/v1", "hints", translated, "the server isn't known to translate (transcript_features: translation says that it does)"},
		{"https://other.example/v1", "", hinted, "the server isn't known to take hints (transcript_features: hints says that it does)"},
		{"https://other.example/v1", "", translated, "the server isn't known to translate (transcript_features: translation says that it does)"},
		{"https://other.example/v1", "hints, translation", hinted, ""},
		{"https://other.example/v1", "hints, translation", translated, ""},
		{"https://other.example/v1", "none", hinted, "the server isn't known to take hints (transcript_features: hints says that it does)"},
	} {
		a := mustNew(t, supplier.Config{BaseURL: tt.base, Options: map[string]string{openai.OptionTranscriptFeatures: tt.features}})
		if got := supplier.Refuses(openai.Kind(), a, tt.request); got != tt.want {
			t.Errorf("%s with features %q: got %q, want %q", tt.base, tt.features, got, tt.want)
		}
	}
}

// TestTranscriptForms shows the parts of the forms that ask for more than a text, and where they go.
func TestTranscriptForms(t *testing.T) {
	file := part{"file", "media.wav", "audio/wav", recording}
	field := func(name, value string) part { return part{Name: name, Body: value} }
	for _, tt := range []struct {
		name    string
		request supplier.Request
		answer  string
		want    []part
	}{
		{"both", transcribeBy("whisper-1", `{"timestamps":"both"}`, "Gap", "Mr. Underground"), verboseAnswer, []part{
			field("model", "whisper-1"), field("response_format", "verbose_json"), field("prompt", "Gap, Mr. Underground"),
			field("timestamp_granularities[]", "word"), field("timestamp_granularities[]", "segment"), file,
		}},
		{"a translation", transcribeBy("whisper-1", `{"translate_to":"en","timestamps":"segment"}`, "Gap"), verboseAnswer, []part{
			field("model", "whisper-1"), field("response_format", "verbose_json"), field("prompt", "Gap"), file,
		}},
		{"speakers", transcribeBy(diarizer, `{"speakers":true,"language":"en"}`), diarizedAnswer, []part{
			field("model", diarizer), field("response_format", "diarized_json"), field("language", "en"), field("chunking_strategy", "auto"), file,
		}},
		{"a diarizer's plain transcript", transcribeBy(diarizer, `{"speakers":false}`), diarizedAnswer, []part{
			field("model", diarizer), field("response_format", "json"), field("chunking_strategy", "auto"), file,
		}},
		{"keywords", transcribeBy("gpt-transcribe", `{}`, "Gap", "Ox"), verboseAnswer, []part{
			field("model", "gpt-transcribe"), field("response_format", "json"), field("keywords[]", "Gap"), field("keywords[]", "Ox"), file,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, parts := posted(t, suppliertest.JSON(200, tt.answer), true)
			a := mustNew(t, supplier.Config{BaseURL: url})
			if _, err := suppliertest.Send(t, a, tt.request, false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, parts()); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzDiarized holds that a transcript by speakers has them, and times in order, or fails.
func FuzzDiarized(f *testing.F) {
	for _, s := range []string{
		diarizedAnswer, verboseAnswer, `{"text":"a","segments":[{"start":0,"end":1,"text":"a","speaker":""}]}`,
		`{"text":"a","segments":[{"start":1e300,"end":1e300,"speaker":"A"}]}`, `{"text":" ","segments":[]}`, `{"text":"a","segments":[{"speaker":7}]}`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, openai.Kind(), "application/json")
	r := transcribeBy(diarizer, `{"speakers":true}`)
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		named := strings.TrimSpace(*out.Result.Text) == ""
		for _, s := range out.Result.Segments {
			named = named || s.Speaker != ""
			if s.Start < 0 || s.End < s.Start {
				t.Errorf("segment %+v", s)
			}
		}
		if !named || out.Result.Words != nil {
			t.Errorf("%+v", out.Result)
		}
		suppliertest.CheckUsage(t, out.Result.Usage)
	})
}
