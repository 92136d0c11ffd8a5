package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var errNoTimes = errors.New("the transcript lacks the times that were asked for")

const (
	verboseJSON = "verbose_json"

	byWord    = "word"
	bySegment = "segment"
	plainText = "text"
)

type transcribeInput struct {
	Audio upstream.Passed `json:"audio"` // comes as Media
}

type transcribeParameters struct {
	Language   string `json:"language"`
	Timestamps string `json:"timestamps"`
	Format     string `json:"format"`
}

func (p transcribeParameters) times() bool {
	return p.Timestamps == byWord || p.Timestamps == bySegment
}

// subtitles reports whether the text is to be subtitles, which are made here, of the segments.
func (p transcribeParameters) subtitles() bool { return p.Format != "" && p.Format != plainText }

func (a *adapter) transcribe(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	var in transcribeInput
	var p transcribeParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	f := newForm()
	f.field("model", r.Model)
	f.field("response_format", a.transcriptFormat(r.Model))
	language, _, _ := strings.Cut(p.Language, "-") // the format knows no regions
	f.field("language", strings.ToLower(language))
	if p.Timestamps == byWord {
		f.field("timestamp_granularities[]", byWord)
	}
	if p.subtitles() || p.Timestamps == bySegment {
		f.field("timestamp_granularities[]", bySegment)
	}
	f.file("file", r.Media["/audio"])
	answer, err := a.sendForm(ctx, "/audio/transcriptions", f, chatLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeTranscript(answer, p)
}

// transcriptFormat is the form with times and length, but for the models that don't know it.
func (s settings) transcriptFormat(model string) string {
	name := family(model)
	switch {
	case s.transcripts != "":
		return s.transcripts
	case strings.HasPrefix(name, "gpt-4o-") && strings.Contains(name, "transcribe"):
		return "json"
	default:
		return verboseJSON
	}
}

type transcript struct {
	upstream.Envelope
	Text     *string         `json:"text"`
	Duration json.RawMessage `json:"duration"` // seconds
	Segments []timed         `json:"segments"`
	Words    []timed         `json:"words"`
	Usage    json.RawMessage `json:"usage"`
}

// timed is a segment, whose text is "text", or a word, whose text is "word".
type timed struct {
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
	Word  string  `json:"word"`
}

// decodeTranscript turns an answer of success into the text in the form that was asked for.
func (a *adapter) decodeTranscript(answer upstream.Answer, p transcribeParameters) (supplier.Outcome, error) {
	var body transcript
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if body.Text == nil {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoText)
	}
	lines, wanted := pieces(body.Segments), []supplier.Segment(nil)
	switch p.Timestamps {
	case byWord:
		wanted = pieces(body.Words)
	case bySegment:
		wanted = lines
	}
	silent := strings.TrimSpace(*body.Text) == ""
	if !silent && (p.times() && wanted == nil || p.subtitles() && lines == nil) {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoTimes)
	}
	text := *body.Text
	if p.subtitles() {
		text = subtitles(p.Format, lines)
	}
	return supplier.Outcome{Result: &supplier.Result{
		Text: &text, FinishReason: "stop", Segments: wanted, Usage: body.used(), Charged: a.charged(parseUsage(body.Usage)),
	}}, nil
}

// pieces returns segments or words with their times; nil if there are no segments, or an impossible one.
func pieces(list []timed) []supplier.Segment {
	var out []supplier.Segment
	for _, t := range list {
		if !(t.Start >= 0 && t.End >= t.Start && t.End <= maxSeconds) {
			return nil
		}
		out = append(out, supplier.Segment{Start: t.Start, End: t.End, Text: strings.TrimSpace(t.Text + t.Word)})
	}
	return out
}

// used returns the tokens and the length that the answer reports; a length stands in one of two places.
func (t transcript) used() supplier.Usage {
	reported := parseUsage(t.Usage)
	used := upstream.Bounded(reported.Usage)
	if used.OutputTokens == 0 {
		used.OutputTokens = reported.tokens(0, len(*t.Text)).OutputTokens
	}
	if used.Milliseconds == 0 {
		used.Milliseconds = millis(json.RawMessage(strings.Trim(string(t.Duration), `"`))) // some servers write text
	}
	return used
}
