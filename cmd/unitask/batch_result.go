package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
)

// result is the printed form of a line's result.
type result struct {
	Line  int       `json:"line"`
	Task  *api.Task `json:"task"`
	Files []string  `json:"files,omitempty"`
	Error string    `json:"error,omitempty"`
}

// cut reports that the line's text was cut off, with the parameter that allows a longer one; "" for any other result.
func (r result) cut() string {
	if r.Task == nil || r.Error != "" {
		return ""
	}
	note := cutNote(*r.Task)
	if note != "" && r.Task.Capability == string(catalog.TextChat) {
		note += "; " + roomier(*r.Task) + " allows more"
	}
	return note
}

// row is the result in one line: its number, the task's id and state, and its result.
func (r result) row() string {
	id, state, made := "", "error", r.Error
	if r.Task != nil {
		id, state = r.Task.ID, string(r.Task.State)
	}
	switch {
	case made != "" || r.Task == nil || r.Task.Output == nil:
	case len(r.Files) > 0:
		made = strings.Join(r.Files, " ")
	default:
		made = inline(r.Task.Output)
	}
	return fmt.Sprintf("%d\t%s\t%s\t%s", r.Line, oneLine(id), oneLine(state), oneLine(made))
}

// inline is a result as a part of a line.
func inline(out *api.Output) string {
	if data := out.Shown(); data != nil {
		return string(data)
	}
	if out.Text != nil {
		return *out.Text
	}
	if out.Embeddings != nil {
		raw, err := json.Marshal(out.Embeddings)
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	var urls []string
	for _, a := range out.Artifacts() {
		urls = append(urls, a.URL)
	}
	return strings.Join(urls, " ")
}
