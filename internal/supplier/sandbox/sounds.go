package sandbox

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// speech is the product of audio.speech.
type speech struct {
	Text   string  `json:"text"`
	Voice  string  `json:"voice"`
	Speed  float64 `json:"speed"`
	Format string  `json:"format"`
}

func readSpeech(r supplier.Request) (product, string, error) {
	var in struct {
		Text         string `json:"text"`
		Instructions string `json:"instructions"`
	}
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	if utf8.RuneCountInString(in.Text) > maxSpoken {
		return nil, "", refusal(fmt.Sprintf("text is over %d characters", maxSpoken))
	}
	return &speech{
		Text: in.Text, Voice: params.Voice + in.Instructions, Speed: cmp.Or(params.Speed, 1),
		Format: cmp.Or(params.Format, "wav"),
	}, in.Text, nil
}

// make hums the text.
func (s *speech) make() (*supplier.Result, error) {
	sound := media.Speak(media.SpeechSpec{Text: s.Text, Voice: s.Voice, Speed: s.Speed})
	file := supplier.File{ContentType: "audio/wav", Duration: sound.Duration().Seconds()}
	if s.Format == "flac" {
		file.ContentType, file.Data = "audio/flac", sound.FLAC()
	} else {
		file.Data = sound.WAV()
	}
	return &supplier.Result{
		Files: []supplier.File{file},
		Usage: supplier.Usage{
			Characters:   int64(utf8.RuneCountInString(s.Text)),
			Milliseconds: sound.Duration().Milliseconds(),
		},
	}, nil
}

// transcript is the product of audio.transcribe: the measured facts, not the recording.
type transcript struct {
	Heard      media.Heard `json:"heard"`
	Bytes      int         `json:"bytes"`
	Timestamps string      `json:"timestamps"`
	Format     string      `json:"format"`
}

func readTranscript(r supplier.Request) (product, string, error) {
	params, err := decode(r.Input, r.Parameters, &struct{}{})
	if err != nil {
		return nil, "", err
	}
	data, err := readMedia(r, "/audio")
	if err != nil {
		return nil, "", err
	}
	return &transcript{
		Heard: media.Listen(data), Bytes: len(data), Timestamps: params.Timestamps, Format: params.Format,
	}, "", nil
}

// words is the transcript's text: the one that the recording carries, else the measured one.
func (t *transcript) words() string {
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
	text := t.words()
	sentences := timed(split(text, ".!?"), t.Heard.Duration)
	result := &supplier.Result{
		FinishReason: "stop",
		Usage: supplier.Usage{
			Milliseconds: t.Heard.Duration.Milliseconds(), OutputTokens: tokenCount(text),
		},
	}
	switch t.Timestamps {
	case "segment":
		result.Segments = sentences
	case "word":
		result.Segments = timed(strings.Fields(text), t.Heard.Duration)
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
