package console

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/form"
)

// few is how many choices are shown beside each other, and short how long each of them is at most.
const (
	few   = 4
	short = 12
)

// Segmented reports whether the choices stand beside each other: few short ones.
func (c control) Segmented() bool {
	values := slices.DeleteFunc(c.Choices(), func(value string) bool { return value == "" })
	return c.Kind == "choice" && len(values) <= few && !slices.ContainsFunc(values, func(value string) bool { return len(value) > short })
}

// Word is a choice in words.
func (c control) Word(value string) string {
	word := func(value string) string {
		switch {
		case c.Field.Type == "boolean" && value == "true":
			return "on"
		case c.Field.Type == "boolean" && value == "false":
			return "off"
		default:
			return value
		}
	}
	switch {
	case value == "" && c.Standard != "":
		return "Default (" + word(c.Standard) + ")"
	case value == "":
		return "Not set"
	case c.Field.Type == "boolean":
		return capital(word(value))
	default:
		return value
	}
}

// slider is the range beside a number, as HTML has it.
type slider struct{ Min, Max, Step, Value string }

// steps is how many steps a slider has at most: beyond them it would reach few of the values.
const steps = 10_000

// Slider returns the slider of a number with both bounds, nil for others.
func (c control) Slider() *slider {
	low, high := c.Field.Minimum, c.Field.Maximum
	if c.Kind != "number" || low == nil || high == nil || *high <= *low {
		return nil
	}
	step := 1.0
	if c.Field.Type != "integer" {
		step = stepOf(*high - *low)
	}
	if (*high-*low)/step > steps {
		return nil
	}
	show := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	s := &slider{Min: show(*low), Max: show(*high), Step: show(step), Value: c.Value}
	if s.Value == "" {
		s.Value = c.Standard
	}
	if s.Value == "" {
		s.Value = s.Min
	}
	return s
}

// stepOf cuts a range into a hundred steps or a few less, each 1, 2 or 5 of a power of ten.
func stepOf(width float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(width/100)))
	for _, n := range []float64{1, 2, 5} {
		if n*power*(1+1e-9) >= width/100 {
			return n * power
		}
	}
	return 10 * power
}

// accepts are the content types of each kind of media that a browser offers and takes; those of a "file" are not told.
var accepts = map[string]string{
	"image": "image/png,image/jpeg,image/webp", "audio": "audio/*,video/mp4,video/webm,application/ogg", "video": "video/mp4,video/webm",
	"document": "application/pdf,text/*",
}

// drop is a place for files.
type drop struct {
	Wire, Title string
	Accept      string // content types, "" for all
	Noun        string // for one of the files
	Many        bool
	Beside      bool // files go along with a message, and no address does
}

// Drop is the place for a medium's files, or for those that go along with the last row.
func (c control) Drop() drop {
	d := drop{Wire: c.Wire(), Title: c.Title(), Many: c.Field.Array}
	kinds := []string{c.Field.MediaKind}
	if c.Kind == "rows" {
		d = drop{Wire: c.Attaches(), Title: "Files beside the last message", Many: true, Beside: true}
		_, kinds = form.PartKinds([]catalog.Field{c.Field})
	}
	d.Accept, d.Noun = acceptOf(kinds), "a file"
	if noun := nouns[kinds[0]]; len(kinds) == 1 && noun != "" {
		d.Noun = noun
	}
	return d
}

var nouns = map[string]string{"image": "a picture", "audio": "a recording", "video": "a video", "document": "a document"}

// acceptOf lists the content types of kinds of media; "" if all are taken.
func acceptOf(kinds []string) string {
	var all []string
	for _, kind := range kinds {
		if accepts[kind] == "" {
			return ""
		}
		all = append(all, accepts[kind])
	}
	return strings.Join(all, ",")
}
