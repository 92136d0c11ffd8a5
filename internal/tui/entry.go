package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/catalog"
	"unitask/internal/task"
)

// kind is how a value is entered.
type kind int

const (
	wordKind   kind = iota // one line of text
	proseKind              // a text of several lines
	choiceKind             // one of a few values
	numberKind
	mediaKind // @path, URL or an artifact's id
	listKind  // one item a line
	jsonKind  // what has no simpler form
)

// entry is one value of a form.
type entry struct {
	field   catalog.Field
	path    []string // below the group
	within  bool     // a member of an object that may be left out
	kind    kind
	edit    editor
	choices []string // the first is "" where the value may be left out
	choice  int
	problem string
}

// entries returns a form's values: those of objects one by one, as deep as the fields describe them.
func entries(fields []catalog.Field, parents []string, within bool) []entry {
	var all []entry
	for _, f := range fields {
		path := append(slices.Clone(parents), f.Name)
		if len(f.Members) > 0 && !f.Array && !f.Media {
			all = append(all, entries(f.Members, path, within || !f.Required)...)
			continue
		}
		all = append(all, newEntry(f, path, within))
	}
	return all
}

func newEntry(f catalog.Field, path []string, within bool) entry {
	e := entry{field: f, path: path, within: within, kind: kindOf(f)}
	e.edit.lines = e.kind == proseKind || e.kind == listKind || e.kind == jsonKind
	if e.kind != choiceKind {
		return e
	}
	e.choices = f.Enum
	if f.Type == "boolean" {
		e.choices = []string{"true", "false"}
	}
	if !f.Required || within {
		e.choices = append([]string{""}, e.choices...)
	}
	return e
}

func kindOf(f catalog.Field) kind {
	switch {
	case f.Array && (f.Media || f.Type == "string" || f.Type == "integer" || f.Type == "number"):
		return listKind
	case f.Array:
		return jsonKind
	case f.Media:
		return mediaKind
	case len(f.Enum) > 0, f.Type == "boolean":
		return choiceKind
	case f.Type == "integer", f.Type == "number":
		return numberKind
	case f.Type == "string" && f.Group == catalog.GroupInput:
		return proseKind
	case f.Type == "string":
		return wordKind
	default:
		return jsonKind
	}
}

// name is what the form calls the value.
func (e *entry) name() string { return strings.Join(e.path, ".") }

// wire is what the service calls it in the details of an error.
func (e *entry) wire() string { return e.field.Group + "." + e.name() }

// turn goes to another choice.
func (e *entry) turn(step int) {
	e.choice = (e.choice + step + len(e.choices)) % len(e.choices)
	e.problem = ""
}

// key takes a key and reports whether it meant something here.
func (e *entry) key(msg tea.KeyMsg, width int) bool {
	if e.kind != choiceKind {
		if !e.edit.key(msg, width) {
			return false
		}
		e.problem = ""
		return true
	}
	switch msg.String() {
	case "left", "h":
		e.turn(-1)
	case "right", "l", " ":
		e.turn(1)
	default:
		return false
	}
	return true
}

// file is a media value that is still to be read.
type file struct{ path string }

// value returns what was entered, nil for nothing.
func (e *entry) value() (any, error) {
	if e.kind == choiceKind {
		return e.chosen(), nil
	}
	entered := e.edit.value()
	if strings.TrimSpace(entered) == "" {
		return nil, nil
	}
	switch e.kind {
	case listKind:
		return e.items(entered)
	case jsonKind:
		if !json.Valid([]byte(entered)) {
			return nil, errors.New("must be JSON")
		}
		return json.RawMessage(entered), nil
	default:
		return e.one(entered)
	}
}

func (e *entry) chosen() any {
	word := e.choices[e.choice]
	switch {
	case word == "":
		return nil
	case e.field.Type == "string":
		return word
	default:
		return json.RawMessage(word)
	}
}

func (e *entry) items(entered string) (any, error) {
	var items []any
	for l := range strings.SplitSeq(entered, "\n") {
		if strings.TrimSpace(l) == "" {
			continue
		}
		v, err := e.one(l)
		if err != nil {
			return nil, fmt.Errorf("line %d %w", len(items)+1, err)
		}
		items = append(items, v)
	}
	return items, nil
}

// one reads the value, or an item of it.
func (e *entry) one(entered string) (any, error) {
	switch {
	case e.field.Media:
		return media(strings.TrimSpace(entered))
	case e.field.Type == "integer", e.field.Type == "number":
		return number(e.field, strings.TrimSpace(entered))
	default:
		return entered, nil
	}
}

func media(entered string) (any, error) {
	lower := strings.ToLower(entered)
	switch {
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
		return map[string]any{"url": entered}, nil
	case strings.HasPrefix(entered, "@") && len(entered) > 1:
		return file{entered[1:]}, nil
	case strings.HasPrefix(entered, task.PrefixArtifact):
		return map[string]any{"artifact": entered}, nil
	default:
		return nil, errors.New("must be @ and a file's path, a URL or an artifact's id")
	}
}

// number keeps the digits as they are written, so that nothing is rounded on the way.
func number(f catalog.Field, entered string) (any, error) {
	n, err := strconv.ParseFloat(entered, 64)
	if err != nil || !json.Valid([]byte(entered)) {
		return nil, errors.New("must be a number")
	}
	if _, err := strconv.ParseInt(entered, 10, 64); f.Type == "integer" && err != nil {
		return nil, errors.New("must be a whole number")
	}
	if f.Minimum != nil && n < *f.Minimum || f.Maximum != nil && n > *f.Maximum {
		return nil, errors.New("must be " + f.Bounds())
	}
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, entered) {
		return nil, errors.New("must be one of " + strings.Join(f.Enum, ", "))
	}
	return json.Number(entered), nil
}
