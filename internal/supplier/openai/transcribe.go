package openai

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var errNoPieces = errors.New("the transcript lacks the times or the speakers that were asked for")

const (
	plainJSON    = "json"
	verboseJSON  = "verbose_json"
	diarizedJSON = "diarized_json"

	byWord    = "word"
	bySegment = "segment"
	byBoth    = "both"
	plainText = "text"

	english = "en"
)

type transcribeInput struct {
	Audio upstream.Passed `json:"audio"` // comes as Media
	Hints []string        `json:"hints"`
}

type transcribeParameters struct {
	Language    string `json:"language"`
	TranslateTo string `json:"translate_to"`
	Speakers    bool   `json:"speakers"`
	Timestamps  string `json:"timestamps"`
	Format      string `json:"format"`
}

// words reports whether the times of words are asked for.
func (p transcribeParameters) words() bool { return p.Timestamps == byWord || p.Timestamps == byBoth }

// lines reports whether segments are needed, for the output or for subtitles.
func (p transcribeParameters) lines() bool {
	return p.Timestamps == bySegment || p.Timestamps == byBoth || p.Speakers || p.subtitles()
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
	format := a.transcriptFormat(r.Model, p)
	f.field("response_format", format)
	f.field("language", primary(p.Language))
	if namesSpeakers(r.Model) {
		f.field("chunking_strategy", "auto") // required beyond half a minute
	}
	if keywords(r.Model) {
		for _, hint := range in.Hints {
			f.field("keywords[]", hint)
		}
	} else {
		f.field("prompt", prompt(in.Hints))
	}
	path := "/audio/transcriptions"
	if p.TranslateTo != "" {
		path = "/audio/translations" // whose segments have times in any case
	} else if format == verboseJSON {
		if p.words() {
			f.field("timestamp_granularities[]", byWord)
		}
		if p.lines() {
			f.field("timestamp_granularities[]", bySegment)
		}
	}
	f.file("file", r.Media["/audio"])
	answer, err := a.sendForm(ctx, path, f, chatLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeTranscript(answer, p)
}

// primary returns the language of a tag; the format knows no regions.
func primary(tag string) string {
	language, _, _ := strings.Cut(tag, "-")
	return strings.ToLower(language)
}

// prompt returns hints as a text that a recording might go on from.
func prompt(hints []string) string { return strings.Join(hints, ", ") }

// transcriptFormat is the richest form that the request needs of a model: with speakers and the times of segments, or
// with times and length, or, of the models that know neither, the plain one.
func (s settings) transcriptFormat(model string, p transcribeParameters) string {
	switch {
	case s.transcripts != "":
		return s.transcripts
	case namesSpeakers(model) && p.lines():
		return diarizedJSON
	case namesSpeakers(model) || keywords(model) || ownTranscriber(model):
		return plainJSON
	default:
		return verboseJSON
	}
}

// namesSpeakers, keywords and ownTranscriber know the models of the format's author: the one that tells speakers, those
// that take hints as keywords, and those that give text alone.
func namesSpeakers(model string) bool {
	return strings.HasPrefix(family(model), "gpt-4o-") && strings.Contains(model, "transcribe-diarize")
}

func keywords(model string) bool { return strings.HasPrefix(family(model), "gpt-transcribe") }

func ownTranscriber(model string) bool {
	return strings.HasPrefix(family(model), "gpt-4o-") && strings.Contains(model, "transcribe")
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
	// Speaker is in the segments of diarized_json alone.
	Speaker string `json:"speaker"`
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
	result := supplier.Result{FinishReason: "stop", Usage: body.used(), Charged: a.charged(parseUsage(body.Usage))}
	lines, words := pieces(body.Segments, p.Speakers), pieces(body.Words, false)
	lacking := p.lines() && lines == nil || p.words() && words == nil || p.Speakers && !spoken(lines)
	if lacking && strings.TrimSpace(*body.Text) != "" {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoPieces)
	}
	switch {
	case p.Timestamps == byWord:
		result.Segments = words
	case p.Timestamps == byBoth:
		result.Segments, result.Words = lines, words
	case p.Timestamps == bySegment || p.Speakers:
		result.Segments = lines
	}
	text := *body.Text
	if p.subtitles() {
		text = subtitles(p.Format, lines)
	}
	result.Text = &text
	return supplier.Outcome{Result: &result}, nil
}

// spoken reports whether the speaker of a segment is known.
func spoken(lines []supplier.Segment) bool {
	return slices.ContainsFunc(lines, func(s supplier.Segment) bool { return s.Speaker != "" })
}

// pieces returns segments or words with their times, and with their speakers if asked for; nil if there are none, or an
// impossible one.
func pieces(list []timed, speakers bool) []supplier.Segment {
	var out []supplier.Segment
	for _, t := range list {
		if !(t.Start >= 0 && t.End >= t.Start && t.End <= maxSeconds) {
			return nil
		}
		one := supplier.Segment{Start: t.Start, End: t.End, Text: strings.TrimSpace(t.Text + t.Word)}
		if speakers {
			one.Speaker = t.Speaker
		}
		out = append(out, one)
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
