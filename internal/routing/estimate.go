package routing

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/task"
)

// The bounds behind an estimate if the request has no value. Each is above the possible usage, because a payment
// never exceeds the reservation.
const (
	DefaultOutputTokens = 1024   // of text, when max_output_tokens is absent
	tokensPerImage      = 16_384 // the largest picture in the highest quality
	transcriptTokens    = 32_768
	videoSeconds        = 8        // when duration_seconds is absent
	millisPerCharacter  = 250      // of slow speech at speed 1
	speechLeadIn        = 2_000    // milliseconds
	tokensPerSecond     = 50       // of speech, if it is counted in tokens: twice as many as models use
	unknownAudioMillis  = 10 << 20 // the largest inline recording at 8 kbit/s, one byte a millisecond
)

// asked is the part of a request that an estimate reads; everything else is counted by its bytes.
type asked struct {
	Text      string  `json:"text"`
	MaxTokens int64   `json:"max_output_tokens"`
	N         int64   `json:"n"`
	Seconds   float64 `json:"duration_seconds"`
	Speed     float64 `json:"speed"`

	recording int // characters in base64 of an audio value; 0: it is elsewhere
}

// Estimate returns an upper bound of the work a request asks for: input bytes as tokens, the asked or default output.
// The tokens of a route's template are not in it: see Table.Bound. Prices are compared by it and the reservation is
// made from it. name is the capability's base.
func Estimate(name catalog.Name, mediaValues int, input, parameters json.RawMessage) task.Usage {
	a := read(name, input, parameters)
	size := task.Usage{InputTokens: int64(len(input)), OutputTokens: DefaultOutputTokens}
	if a.MaxTokens > 0 {
		size.OutputTokens = a.MaxTokens
	}
	switch {
	case name == "text.embed":
		size.OutputTokens = 0
	case name == "audio.speech":
		size.Characters = int64(utf8.RuneCountInString(a.Text))
		size.Milliseconds = speechMillis(size.Characters, a.Speed)
		size.OutputTokens = max(DefaultOutputTokens, size.Milliseconds*tokensPerSecond/1000)
	case name == "audio.transcribe":
		size.Milliseconds = audioMillis(a.recording)
		size.InputTokens += size.Milliseconds
		size.OutputTokens = transcriptTokens
	case strings.HasPrefix(string(name), "video."):
		size.Milliseconds = videoMillis(a.Seconds)
	case strings.HasPrefix(string(name), "image."):
		size.Images = max(a.N, 1)
		size.OutputTokens = size.Images * tokensPerImage
		size.InputTokens += int64(mediaValues) * tokensPerImage
	}
	return size
}

// read is the values of a validated request; a member of another type counts as absent.
func read(name catalog.Name, input, parameters []byte) asked {
	if strings.HasPrefix(string(name), "text.") { // of a text only its length counts
		if most, ok := scanTokens(parameters); ok {
			return asked{MaxTokens: most}
		}
		input = nil
	}
	var a asked
	a.readInput(input)
	_ = json.Unmarshal(parameters, &a)
	return a
}

// readInput passes over an input's media, however large they are.
func (a *asked) readInput(input []byte) {
	into := map[string]any{"text": &a.Text, "max_output_tokens": &a.MaxTokens, "n": &a.N, "duration_seconds": &a.Seconds, "speed": &a.Speed}
	in := jsonread.New(input)
	in.Open('{')
	for in.More('}') {
		name := string(in.Name())
		value := in.Value()
		switch at, known := into[name]; {
		case known:
			_ = json.Unmarshal(value, at)
		case name == "audio":
			a.recording = recorded(value)
		}
	}
}

// recorded returns how many characters the data of a media value are.
func recorded(value []byte) (characters int) {
	in := jsonread.New(value)
	for m := in.Among("data"); m.Next(); {
		_, says := in.Text()
		characters = len(says)
	}
	return characters
}

// scanTokens returns max_output_tokens of parameters that hold it at most once, as a whole number in canonical form,
// and no name like it. ok is false for others.
func scanTokens(parameters []byte) (most int64, ok bool) {
	in := jsonread.New(parameters)
	for m := in.Among("max_output_tokens"); m.Next(); {
		_, n, ok := in.Number()
		if !ok || n != math.Trunc(n) {
			return 0, false
		}
		most = int64(n)
	}
	return most, in.Done()
}

func speechMillis(characters int64, speed float64) int64 {
	if speed <= 0 {
		speed = 1
	}
	return int64(float64(characters*millisPerCharacter)/speed) + speechLeadIn
}

func videoMillis(seconds float64) int64 {
	if seconds <= 0 {
		seconds = videoSeconds
	}
	return int64(seconds * 1000)
}

// audioMillis bounds a recording's length by its bytes: base 64 holds three in four characters, and
// no recording worth sending has less than a byte a millisecond.
func audioMillis(characters int) int64 {
	if characters == 0 {
		return unknownAudioMillis
	}
	return int64(characters)*3/4 + 1000
}
