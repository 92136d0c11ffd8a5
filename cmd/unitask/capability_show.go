package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/shown"
	"unitask/internal/snippet"
)

// showCapability prints one entry for reading: the same text on a terminal and in a pipe. Its price is left out unless
// the service has told it.
func showCapability(t *terminal, c api.Capability, priced bool) error {
	fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil {
		return err
	}
	p := page{t: t}
	traits := fmt.Sprintf("%s, %s", c.Modality, c.Mode)
	if priced {
		traits += ", " + c.Price.String()
	}
	p.line("%s  %s", t.style.bold.Render(string(c.Name)), t.style.faint.Render(traits))
	if kinds := c.Price.Kinds(); kinds != "" {
		p.line("%s", t.style.faint.Render(kinds))
	}
	p.wrapped("", c.Description)
	for _, group := range []string{catalog.GroupInput, catalog.GroupParameters} {
		if !slices.ContainsFunc(fields, func(f catalog.Field) bool { return f.Group == group }) {
			continue
		}
		p.line("\n%s", t.style.bold.Render(strings.ToUpper(group[:1])+group[1:]))
		for _, f := range fields {
			if f.Group == group {
				p.field("  ", f)
			}
		}
	}
	p.example(c, fields)
	return p.err
}

// example writes the entry's example as a command, and as JSON with placeholders for long media.
func (p *page) example(c api.Capability, fields []catalog.Field) {
	p.line("\n%s", p.t.style.bold.Render("Example"))
	var example api.CreateRequest
	if json.Unmarshal(c.Example, &example) != nil {
		return
	}
	if command, err := snippet.Command(fields, example); err == nil {
		p.line("  %s", command)
	}
	if short, _, err := snippet.Short(example); err == nil {
		raw, _ := json.MarshalIndent(short, "  ", "  ") // it was JSON before
		p.line("\n  %s", printable(string(raw)))
	}
}

// page writes lines and keeps the first error.
type page struct {
	t   *terminal
	err error
}

func (p *page) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.t.outTTY {
		text = shown.Styled(text)
	}
	_, err := fmt.Fprintln(p.t.out, text)
	p.err = errors.Join(p.err, err)
}

func (p *page) wrapped(indent, text string) {
	width := min(p.t.width(), 100) - len(indent)
	for line := range strings.SplitSeq(ansi.Wordwrap(printable(text), max(width, 20), ""), "\n") {
		p.line("%s%s", indent, line)
	}
}

func (p *page) field(indent string, f catalog.Field) {
	traits := []string{typeOf(f)}
	parent, _, isMember := strings.Cut(f.Name, ".")
	switch {
	case f.Required && isMember:
		traits = append(traits, "required with "+parent)
	case f.Required && len(f.Unless) > 0:
		traits = append(traits, "required unless "+strings.Join(f.Unless, " or ")+" is given")
	case f.Required:
		traits = append(traits, "required")
	}
	if b := f.Bounds(); b != "" {
		traits = append(traits, b)
	}
	if len(f.Enum) > 0 {
		traits = append(traits, strings.Join(f.Enum, " | "))
	}
	if len(f.Examples) > 0 {
		traits = append(traits, "such as "+strings.Join(f.Examples, ", "))
	}
	if len(f.Default) > 0 {
		traits = append(traits, "default "+strings.Trim(string(f.Default), `"`))
	}
	name := f.Name
	if pad := 18 - len(indent) - lipgloss.Width(name); pad > 0 {
		name += strings.Repeat(" ", pad)
	}
	line := fmt.Sprintf("%s%s  %s", indent, p.t.style.busy.Render(name), p.t.style.faint.Render(printable(strings.Join(traits, ", "))))
	if p.t.outTTY {
		line = strings.Join(foldLine(line, p.t.width()), "\n")
	}
	p.line("%s", line)
	if f.Description != "" {
		p.wrapped(strings.Repeat(" ", 20), f.Description)
	}
	for _, member := range f.Members {
		member.Name = f.Name + "." + member.Name
		if !f.Array {
			p.field(indent, member)
		}
	}
}

// typeOf names a field's type as one writes its values.
func typeOf(f catalog.Field) string {
	name := f.Type
	switch {
	case f.Media:
		name = "media"
	case f.Schema:
		name = "JSON Schema"
	case f.Type == "string":
		name = "text"
	case f.Type == "object" && f.Array:
		return "list of objects (as JSON)"
	}
	if f.Array {
		return "list of " + name
	}
	return name
}
