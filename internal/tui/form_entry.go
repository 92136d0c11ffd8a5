package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/form"
)

// formEntry is one value of a form and its input.
type formEntry struct {
	form.Entry
	edit    editor
	choices []string // the first is "" if the value may be left out
	choice  int
	problem string
	prompt  string // of files beside a prompt: its name
}

func newEntry(b form.Entry) formEntry {
	e := formEntry{Entry: b}
	e.edit.lines = e.Kind == form.Prose || e.Kind == form.List || e.Kind == form.JSON
	if e.Kind == form.Choice {
		e.choices = b.Choices()
	}
	return e
}

// turn goes to another choice.
func (e *formEntry) turn(step int) {
	e.choice = (e.choice + step + len(e.choices)) % len(e.choices)
	e.problem = ""
}

// key takes a key and reports whether it meant something here.
func (e *formEntry) key(msg tea.KeyMsg, width int) bool {
	if e.Kind != form.Choice {
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

// file is a media value that is still to be read, and jsonFile is JSON that is.
type (
	file     struct{ path string }
	jsonFile file
)

// value returns the entered value, nil if empty.
func (e *formEntry) value() (any, error) {
	if e.Kind == form.Choice {
		return e.chosen(), nil
	}
	entered := e.edit.value()
	if strings.TrimSpace(entered) == "" {
		return nil, nil
	}
	switch e.Kind {
	case form.List:
		return e.items(entered)
	case form.JSON:
		if f, ok := fileOf(strings.TrimSpace(entered)).(file); ok {
			return jsonFile(f), nil
		}
		return form.ReadJSON(entered)
	default:
		return e.one(entered)
	}
}

func (e *formEntry) chosen() any {
	word := e.choices[e.choice]
	switch {
	case word == "":
		return nil
	case e.Field.Type == "string":
		return word
	default:
		return json.RawMessage(word)
	}
}

func (e *formEntry) items(entered string) (any, error) {
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
func (e *formEntry) one(entered string) (any, error) {
	switch {
	case e.prompt != "":
		if value := fileOf(strings.TrimSpace(entered)); value != nil {
			return value, nil
		}
		return nil, errors.New("must be @ and a file's path")
	case e.Field.Media:
		return media(strings.TrimSpace(entered))
	case e.Field.Type == "integer", e.Field.Type == "number":
		return form.ParseNumber(e.Field, strings.TrimSpace(entered))
	default:
		return entered, nil
	}
}

func media(entered string) (any, error) {
	if value, ok := form.Reference(entered); ok {
		return value, nil
	}
	if value := fileOf(entered); value != nil {
		return value, nil
	}
	return nil, errors.New("must be @ and a file's path, a URL or an artifact's id")
}

// fileOf returns the file of @path, nil for other words.
func fileOf(entered string) any {
	if strings.HasPrefix(entered, "@") && len(entered) > 1 {
		return file{entered[1:]}
	}
	return nil
}

// within tells which part of the value a detail's field is about; "" if it is about the whole.
func (e *formEntry) within(field string) string {
	below := strings.TrimPrefix(field, e.Wire())
	if below == field || below == "" || e.Kind == form.Media {
		return ""
	}
	if e.Kind != form.List {
		return e.Path[len(e.Path)-1] + below + " "
	}
	index, _, _ := strings.Cut(strings.Trim(below, ".["), ".")
	if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err == nil {
		return fmt.Sprintf("line %d ", n+1)
	}
	return ""
}
