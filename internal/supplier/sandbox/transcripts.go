package sandbox

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// transcript is the product of audio.transcribe: the measured facts, not the recording.
type transcript struct {
	Heard      media.Heard `json:"heard"`
	Bytes      int         `json:"bytes"`
	Timestamps string      `json:"timestamps"`
	Format     string      `json:"format"`
	Hints      []string    `json:"hints,omitempty"`
	Speakers   bool        `json:"speakers,omitempty"`
	Language   string      `json:"language,omitempty"` // of the text; "": that of the recording
}

func readTranscript(r supplier.Request) (product, string, error) {
	var in struct {
		Hints []string `json:"hints"`
	}
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	data, err := readMedia(r, "/audio")
	if err != nil {
		return nil, "", err
	}
	return &transcript{
		Heard: media.Listen(data), Bytes: len(data), Timestamps: params.Timestamps, Format: params.Format,
		Hints: in.Hints, Speakers: params.Speakers, Language: params.TranslateTo,
	}, "", nil
}

// text is the transcript's: the one that the recording carries, else the measured one, with each hint where it is heard
// in another case. A translation is marked with its language and is none.
func (t *transcript) text() string {
	text := t.heard()
	for _, hint := range t.Hints {
		text = regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(hint)+`\b`).ReplaceAllLiteralString(text, hint)
	}
	if t.Language != "" {
		text = "[" + t.Language + "] " + text
	}
	return text
}

func (t *transcript) heard() string {
	h := t.Heard
	switch {
	case h.Comment != "":
		return h.Comment
	case h.Format == "":
		return fmt.Sprintf("A recording of %d bytes. The sandbox can tell no more of this format.", t.Bytes)
	case h.Loudness != 0:
		return fmt.Sprintf("A recording of %.1f seconds in %s at %d hertz. It is %.0f decibels below full scale.",
			h.Duration.Seconds(), counted(h.Channels, "channel"), h.Rate, -h.Loudness)
	default:
		return fmt.Sprintf("A recording of %.1f seconds in %s at %d hertz.",
			h.Duration.Seconds(), counted(h.Channels, "channel"), h.Rate)
	}
}

// make writes the transcript in its format.
func (t *transcript) make() (*supplier.Result, error) {
	text := t.text()
	sentences, words := timed(split(text, ".!?"), t.Heard.Duration), timed(strings.Fields(text), t.Heard.Duration)
	if t.Speakers {
		name(sentences, words, t.Language)
	}
	result := &supplier.Result{
		FinishReason: "stop",
		Usage: supplier.Usage{
			Milliseconds: t.Heard.Duration.Milliseconds(), OutputTokens: tokenCount(text),
		},
	}
	switch {
	case t.Timestamps == "word":
		result.Segments = words
	case t.Timestamps == "both":
		result.Segments, result.Words = sentences, words
	case t.Timestamps == "segment" || t.Speakers:
		result.Segments = sentences
	}
	switch t.Format {
	case "srt":
		text = subtitles(sentences, ",")
	case "vtt":
		text = "WEBVTT\n\n" + subtitles(sentences, ".")
	}
	result.Text = &text
	return result, nil
}

// name gives sentences and their words a speaker: A is the first to speak, B the second. A sentence whose first word
// ends with a colon, such as "Anna: Hello.", begins the turn of whoever it names, the mark of a translation apart.
func name(sentences, words []supplier.Segment, language string) {
	speakers, turn := map[string]string{}, ""
	for i := range sentences {
		said := strings.Fields(sentences[i].Text)
		first := said[0]
		if language != "" && i == 0 && len(said) > 1 {
			first = said[1]
		}
		if len(said) > 1 && strings.HasSuffix(first, ":") {
			turn = first
		}
		if speakers[turn] == "" {
			speakers[turn] = string(rune('A' + len(speakers)%26))
		}
		sentences[i].Speaker = speakers[turn]
		for range said {
			words[0].Speaker = speakers[turn]
			words = words[1:]
		}
	}
}

// split cuts a text after each word that ends with one of the marks.
func split(text, marks string) []string {
	var out []string
	from := true
	for word := range strings.FieldsSeq(text) {
		if from {
			out = append(out, word)
		} else {
			out[len(out)-1] += " " + word
		}
		from = strings.ContainsAny(word[len(word)-1:], marks)
	}
	return out
}

// timed spreads pieces over a recording, each as long as its share of the letters.
func timed(pieces []string, length time.Duration) []supplier.Segment {
	total, before := 0, 0
	for _, p := range pieces {
		total += len(p)
	}
	out := make([]supplier.Segment, 0, len(pieces))
	at := func(n int) float64 {
		return math.Round(1000*length.Seconds()*float64(n)/float64(total)) / 1000
	}
	for _, p := range pieces {
		out = append(out, supplier.Segment{Start: at(before), End: at(before + len(p)), Text: p})
		before += len(p)
	}
	return out
}

// subtitles writes numbered cues; mark parts seconds from milliseconds.
func subtitles(cues []supplier.Segment, mark string) string {
	var b strings.Builder
	for i, c := range cues {
		fmt.Fprintf(&b, "%d\n%s --> %s\n%s\n\n", i+1, clock(c.Start, mark), clock(c.End, mark), c.Text)
	}
	return b.String()
}

// clock writes seconds as 00:00:00 and milliseconds.
func clock(seconds float64, mark string) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
	return fmt.Sprintf("%02d:%02d:%02d%s%03d",
		int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60, mark, d.Milliseconds()%1000)
}
