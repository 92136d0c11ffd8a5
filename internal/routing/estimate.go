package routing

import (
	"bytes"
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
	DefaultOutputTokens = 1024 // of text, when max_output_tokens is absent
	transcriptTokens    = 32_768
	videoSeconds        = 8        // when duration_seconds is absent
	millisPerCharacter  = 250      // of slow speech at speed 1
	speechLeadIn        = 2_000    // milliseconds
	tokensPerSecond     = 50       // of sound, if it is counted in tokens: half as many again as models use
	unknownAudioMillis  = 10 << 20 // the largest inline recording at 8 kbit/s, one byte a millisecond
	mostSearches        = 32       // for one text, when a model searches by itself
	tokensPerSearch     = 8_192    // that a model reads of the pages found
	tokensOfTools       = 1024     // in which suppliers tell a model how to call tools
	mostPages           = 1000     // of a document
	documentsPerSearch  = 100      // that are ranked
	bytesPerDocument    = 200      // of a long one that counts as several: suppliers take 500 tokens, the query within
	mostFiles           = 16       // of a result
	mostUnits           = 1 << 40  // of whatever a request or a schema says
)

// asked is the part of a request that an estimate reads; everything else is counted by its bytes.
type asked struct {
	Text      string  `json:"text"`
	MaxTokens int64   `json:"max_output_tokens"`
	N         int64   `json:"n"`
	Seconds   float64 `json:"duration_seconds"`
	Speed     float64 `json:"speed"`
	Pages     int64   `json:"max_pages"`
	Searches  int64   `json:"max_searches"`
	Size      string  `json:"size"` // of an image

	recording int   // characters in base64 of an audio value; 0: it is elsewhere
	schema    int64 // bytes of the schema that a text's answer must fit, and of its tools
	searches  bool  // the model may search the web
}

// Estimate returns an upper bound of the work a request asks for: input bytes as tokens, the asked or default output.
// The tokens of a route's template are not in it: see Table.Bound. Prices are compared by it and the reservation is
// made from it. A tier's work is that of its base. base64 are the request's, if they are at hand.
func Estimate(c catalog.Capability, mediaValues int, input, parameters json.RawMessage, base64 ...[]byte) task.Usage {
	name := c.Base()
	a := read(name, input, parameters, base64)
	size := task.Usage{InputTokens: int64(len(input)), OutputTokens: DefaultOutputTokens, Requests: 1}
	if a.MaxTokens > 0 {
		size.OutputTokens = a.MaxTokens
	}
	family, _, _ := strings.Cut(string(name), ".")
	switch {
	case name == "text.embed":
		size.OutputTokens = 0
	case family == "text":
		size.Searches = mostSearches // some models always search
		size.InputTokens += a.schema
		if a.searches {
			size.InputTokens += mostSearches * tokensPerSearch
		}
		if mediaValues > 0 && name == catalog.TextChat {
			size.InputTokens += chatMedia(input, base64)
		}
		if name != catalog.TextChat { // which a chat may do, asked for the output's schema
			size.InputTokens += int64(len(c.OutputSchema))
		}
		if name == catalog.TextRerank {
			size.Searches = rankings(&size, input)
		}
	case name == "audio.speech":
		size.Characters = int64(utf8.RuneCountInString(a.Text))
		size.Milliseconds = speechMillis(size.Characters, a.Speed)
		size.OutputTokens = max(DefaultOutputTokens, size.Milliseconds*tokensPerSecond/1000)
	case family == "audio":
		size.Milliseconds = audioMillis(a.recording)
		size.InputTokens += size.Milliseconds
		size.OutputTokens = transcriptTokens
	case family == "video":
		size.Milliseconds = videoMillis(a.Seconds)
	case family == "image":
		size.Images = max(a.N, 1)
		size.OutputTokens = size.Images * imageTokens(a.Size)
		size.InputTokens += int64(mediaValues) * tokensPerImage
	default:
		a.bound(&size, c.Maxima)
		size.InputTokens += int64(mediaValues) * tokensPerImage
		size.Characters = int64(utf8.RuneCount(input))
	}
	return size
}

// rankings returns the searches that ranking a request's documents counts as, and adds the query's tokens to the size
// for each document, with which a model may read it again.
func rankings(size *task.Usage, input []byte) int64 {
	documents, query := int64(0), int64(0)
	in := jsonread.Sound(input)
	for m := in.Among("documents", "query"); m.Next(); {
		if m.Name == "query" {
			query = int64(len(in.Value()))
			continue
		}
		for in.Open('['); in.More(']'); in.Skip() {
			documents++
		}
	}
	size.InputTokens += documents * query
	return 1 + (documents+size.InputTokens/bytesPerDocument)/documentsPerSearch
}

// bound sets the size of work of a family that only the directory knows: by the request, else by the largest number
// that its schemas let it hold, else by a constant.
func (a asked) bound(size *task.Usage, maxima map[string]float64) {
	limit := func(name string, asked, most float64) int64 {
		if largest := maxima[name]; asked <= 0 && largest > 0 {
			asked = largest
		}
		if asked <= 0 {
			asked = most
		}
		return int64(min(asked, mostUnits))
	}
	size.OutputTokens = limit("max_output_tokens", float64(a.MaxTokens), transcriptTokens)
	size.Images = limit("n", float64(a.N), mostFiles)
	size.Milliseconds = 1000 * limit("duration_seconds", math.Ceil(a.Seconds), unknownAudioMillis/1000)
	size.Pages = limit("max_pages", float64(a.Pages), mostPages)
	size.Searches = limit("max_searches", float64(a.Searches), mostSearches)
}

// read is the values of a validated request; a member of another type counts as absent.
func read(name catalog.Name, input, parameters []byte, base64 [][]byte) asked {
	if strings.HasPrefix(string(name), "text.") { // of a text only its length counts
		if a, ok := scanText(parameters); ok {
			return a
		}
		input = nil
	}
	var a asked
	a.readInput(input, base64)
	_ = json.Unmarshal(parameters, &a)
	a.schema = int64(len(parameters)) + tokensOfTools // of which they may be a part
	a.searches = bytes.Contains(parameters, []byte(`"`+catalog.WebSearch+`":true`))
	return a
}

// readInput passes over an input's media, however large they are.
func (a *asked) readInput(input []byte, base64 [][]byte) {
	into := map[string]any{
		"text": &a.Text, "max_output_tokens": &a.MaxTokens, "n": &a.N, "duration_seconds": &a.Seconds, "speed": &a.Speed,
		"max_pages": &a.Pages, "max_searches": &a.Searches,
	}
	in := jsonread.Sound(input).Passing(base64)
	in.Open('{')
	for in.More('}') {
		name := string(in.Name())
		switch at, known := into[name]; {
		case known:
			_ = json.Unmarshal(in.Value(), at)
		case name == "audio" && in.Peek() == '{':
			a.recording, _ = recorded(&in)
		default:
			in.Skip()
		}
	}
}

// recorded reads a media value and returns how many characters its data are, and of which content type.
func recorded(in *jsonread.Reader) (characters int, contentType []byte) {
	for m := in.Among("content_type", "data"); m.Next(); {
		if _, says := in.Text(); m.Name == "data" {
			characters = len(says)
		} else {
			contentType = says
		}
	}
	return characters, contentType
}

// scanText reads parameters that hold each member at most once, max_output_tokens as a whole number in canonical form,
// and no name like one of these. ok is false for others.
func scanText(parameters []byte) (a asked, ok bool) {
	in := jsonread.Sound(parameters)
	for m := in.Among("max_output_tokens", catalog.OutputSchema, catalog.Tools, catalog.WebSearch); m.Next(); {
		switch m.Name {
		case catalog.OutputSchema:
			a.schema += int64(len(in.Value()))
			continue
		case catalog.Tools:
			a.schema += int64(len(in.Value())) + tokensOfTools
			continue
		case catalog.WebSearch:
			a.searches = string(in.Value()) == "true"
			continue
		}
		_, n, ok := in.Number()
		if !ok || n != math.Trunc(n) {
			return asked{}, false
		}
		a.MaxTokens = int64(n)
	}
	return a, in.Done()
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
