package openai

import (
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Transcription reads the form of a transcription.
func Transcription(body []byte, boundary string) (Call, error) {
	return readForm(body, boundary, transcriptionMembers, recordingShapes, func(r *request) Call { return r.transcription("") })
}

// Translation reads the form of a transcription in English.
func Translation(body []byte, boundary string) (Call, error) {
	return readForm(body, boundary, translationMembers, recordingShapes, func(r *request) Call { return r.transcription("en") })
}

// transcriptFormat is what a transcript is answered as.
type transcriptFormat string

const (
	plainJSON    transcriptFormat = "json"
	verboseJSON  transcriptFormat = "verbose_json"
	diarizedJSON transcriptFormat = "diarized_json"
	plainText    transcriptFormat = "text"
	subRip       transcriptFormat = "srt"
	webVTT       transcriptFormat = "vtt"
)

// transcript is how a call of a transcription is answered.
type transcript struct {
	format   transcriptFormat
	words    bool // the pieces are words
	language string

	translated bool // which OpenAI's answers don't tell the usage of
}

// transcription reads a call; language: to write in, "" for the spoken one.
func (r *request) transcription(language string) Call {
	as := transcript{format: r.transcriptFormat(language == "")}
	if said, ok := inbound.TextOf(r.values["language"]); ok {
		as.language = string(said)
	}
	if language != "" {
		as.language, as.translated = language, true
	}
	c := Call{Model: string(r.Text(r.values, "", fieldModel)), Base: transcribeBase}
	c.Body = creation(c.Model, r.uploaded(), func(w *jsonwrite.Writer) {
		if all := r.files["file"]; len(all) > 0 {
			w.Name("audio")
			r.upload(w, "audio", all[0], "file")
		} else {
			r.Row("file", "is required")
		}
		c.renamed = r.hints(w)
	}, func(w *jsonwrite.Writer) {
		inbound.Copy(w, r.values, "language", "language")
		if language != "" {
			named(w, "translate_to", language)
		}
		as.words = r.times(w, as.format)
		switch as.format {
		case subRip, webVTT:
			named(w, "format", string(as.format))
		case diarizedJSON:
			w.Name("speakers")
			w.Bool(true)
		default:
		}
	})
	c.answer = as.answer
	return c
}

func (r *request) transcriptFormat(speakers bool) transcriptFormat {
	const at = "response_format"
	value, ok := r.values[at]
	if !ok {
		return plainJSON
	}
	said, _ := inbound.TextOf(value)
	switch format := transcriptFormat(said); {
	case format == plainJSON, format == verboseJSON, format == plainText, format == subRip, format == webVTT,
		format == diarizedJSON && speakers:
		return format
	case speakers:
		r.Row(at, "must be json, text, srt, vtt, verbose_json or diarized_json")
	default:
		r.Row(at, "must be json, text, srt, vtt or verbose_json")
	}
	return plainJSON
}

// hints writes the keywords and the prompt, and returns the names of the call's members.
func (r *request) hints(w *jsonwrite.Writer) []renaming {
	const from = catalog.GroupInput + ".hints"
	names := []renaming{
		{from: catalog.GroupInput + ".audio", to: "file"},
		{from: catalog.GroupParameters + ".format", to: "response_format"},
		{from: catalog.GroupParameters + ".speakers", to: "response_format"},
		{from: catalog.GroupParameters + ".timestamps", to: "response_format"},
		{from: from, to: "keywords", each: true},
	}
	prompt, has := r.values["prompt"]
	keywords, listed := r.values["keywords"]
	if !has && !listed {
		return names
	}
	w.Name("hints")
	w.Begin('[')
	n := 0
	inbound.Elements(keywords, func(i int, word []byte) {
		n = i + 1
		w.JSON(word)
	})
	if has {
		w.JSON(prompt)
		names = append([]renaming{{from: from + "." + strconv.Itoa(n), to: "prompt"}}, names...)
	}
	w.End(']')
	return names
}

// times writes which times are asked for, and reports whether they are of words alone.
func (r *request) times(w *jsonwrite.Writer, format transcriptFormat) (words bool) {
	const at = "timestamp_granularities"
	segments := true
	if value, ok := r.values[at]; ok {
		if format != verboseJSON {
			r.Row(at, "is only taken with the response_format verbose_json")
		}
		segments = false
		inbound.Elements(value, func(_ int, one []byte) {
			switch {
			case quoted(one, "word"):
				words = true
			case quoted(one, "segment"):
				segments = true
			default:
				r.Row(at, "must be of word and segment")
			}
		})
	}
	if format != verboseJSON {
		return false
	}
	switch {
	case words && segments:
		named(w, "timestamps", "both")
	case words:
		named(w, "timestamps", "word")
	default:
		named(w, "timestamps", "segment")
	}
	return words && !segments
}

// answer returns the answer of a transcript in its format.
func (as transcript) answer(_ *Call, t *task.Task, _ Link) (Answer, error) {
	p, err := partsOf(t)
	if err != nil {
		return Answer{}, err
	}
	switch as.format {
	case plainText, subRip, webVTT:
		return Answer{typePlain, []Piece{{Text: []byte(*p.Text)}}}, nil
	default:
	}
	w := jsonwrite.New(len(*p.Text) + 1<<9)
	w.Begin('{')
	named(w, "text", *p.Text)
	var ms int64
	if t.Usage != nil {
		ms = t.Usage.Milliseconds
	}
	if as.format != plainJSON {
		as.verbose(w, &p, float64(ms)/1000)
	}
	if ms > 0 && !as.translated {
		w.Name("usage")
		w.Begin('{')
		named(w, "type", "duration")
		w.Name("seconds")
		w.Float(float64(ms) / 1000)
		w.End('}')
	}
	w.End('}')
	return inJSON(w)
}

// verbose writes the members of a transcript with times. What the service doesn't know is left out.
func (as transcript) verbose(w *jsonwrite.Writer, p *task.Parts, seconds float64) {
	if seconds > 0 {
		w.Name("duration")
		w.Float(seconds)
	}
	if as.format == diarizedJSON {
		named(w, "task", "transcribe")
		as.pieces(w, "segments", p.Segments)
		return
	}
	if as.language != "" {
		named(w, "language", strings.ToLower(as.language))
	}
	words := p.Words
	if as.words {
		words = p.Segments
	} else {
		as.pieces(w, "segments", p.Segments)
	}
	if len(words) > 0 {
		as.pieces(w, "words", words)
	}
}

func (as transcript) pieces(w *jsonwrite.Writer, name string, all []task.Segment) {
	w.Name(name)
	w.Begin('[')
	for i, s := range all {
		w.Begin('{')
		switch {
		case name == "words":
			named(w, "word", s.Text)
		case as.format == diarizedJSON:
			named(w, "type", "transcript.text.segment")
			named(w, "id", "seg_"+strconv.Itoa(i))
			named(w, "text", s.Text)
			if s.Speaker != "" {
				named(w, "speaker", s.Speaker)
			}
		default:
			count(w, "id", int64(i))
			named(w, "text", s.Text)
		}
		w.Name("start")
		w.Float(s.Start)
		w.Name("end")
		w.Float(s.End)
		w.End('}')
	}
	w.End(']')
}
