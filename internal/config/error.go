package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/catalog"
)

// Error is one thing wrong with the configuration.
type Error struct {
	Place   Place
	Setting string // its path, such as "routes.text.chat[0].supplier"; "" for the file as a whole
	Message string
	Hint    string // the remedy, "" without one
}

// Error returns "place: setting message".
func (e Error) Error() string {
	s := e.Message
	if e.Setting != "" {
		s = e.Setting + " " + s
	}
	if place := e.Place.String(); place != "" {
		s = place + ": " + s
	}
	return s
}

// Errors is everything wrong with a configuration, in the order of the file.
type Errors []Error

// Error returns one error a line, each with its hint.
func (e Errors) Error() string {
	lines := make([]string, 0, len(e))
	for _, one := range e {
		line := one.Error()
		if one.Hint != "" {
			line += "\n  hint: " + one.Hint
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Place is the origin of a setting: in a file, or by a variable or flag.
type Place struct {
	Source       string // the file's name, the variable's, the flag's; "" for a default
	Line, Column int    // in a file, from 1
}

// String returns "file:line:column", or the variable or flag.
func (p Place) String() string {
	if p.Line == 0 {
		return p.Source
	}
	return p.Source + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// report gathers errors and the places of all settings.
type report struct {
	places map[string]Place // by the setting's path
	errors Errors
}

func (r *report) add(setting, message, hint string) {
	r.errors = append(r.errors, Error{Place: r.place(setting), Setting: setting, Message: message, Hint: hint})
}

// place returns the place of a setting, or of the nearest one around it.
func (r *report) place(setting string) Place {
	for {
		if p, ok := r.places[setting]; ok {
			return p
		}
		cut := strings.LastIndexAny(setting, ".[")
		if cut < 0 {
			return r.places[""]
		}
		setting = setting[:cut]
	}
}

// err returns the gathered errors, sorted by place; nil without one.
func (r *report) err() error {
	if len(r.errors) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errors, func(a, b Error) int {
		return cmp.Or(
			strings.Compare(a.Place.Source, b.Place.Source), cmp.Compare(a.Place.Line, b.Place.Line),
			cmp.Compare(a.Place.Column, b.Place.Column),
		)
	})
	return r.errors
}

// oneOf is the hint that names the known values, and the one that was probably meant.
func oneOf(got string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	list := "known: " + strings.Join(known, ", ")
	if near := catalog.Nearest(got, known); near != "" {
		return fmt.Sprintf("did you mean %s? %s", near, list)
	}
	return list
}
