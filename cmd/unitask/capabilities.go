package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/catalog"
)

type capabilitiesOptions struct {
	clientFlags
	name   string
	asJSON bool
}

func newCapabilitiesCmd(t *terminal) *cobra.Command {
	var o capabilitiesOptions
	cmd := &cobra.Command{
		Use:     "capabilities [NAME]",
		Aliases: []string{"caps"},
		Short:   "Show what the key can call; with a name, its fields, price and examples",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeRun(t, &o.clientFlags)(cmd, args, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.name = args[0]
			}
			return capabilitiesRun(cmd.Context(), t, &o)
		},
	}
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func capabilitiesRun(ctx context.Context, t *terminal, o *capabilitiesOptions) error {
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	if o.name != "" {
		one, err := entryOf(ctx, c, o.name)
		if err != nil {
			return err
		}
		if o.asJSON {
			return t.json(one)
		}
		return showCapability(t, one)
	}
	all, err := c.Capabilities(ctx)
	if err != nil {
		return err
	}
	if o.asJSON {
		return t.json(append([]api.Capability{}, all...))
	}
	if len(all) == 0 {
		t.note("this key opens no capability: a live key needs a supplier, a test key always has the sandbox")
		return nil
	}
	b := table{header: []string{"NAME", "MODE", "PRICE", "WHAT"}}
	for _, one := range all {
		b.row(cell{human: string(one.Name), plain: string(one.Name), style: t.style.bold}, same(string(one.Mode)), same(price(one.Price)), same(one.Title))
	}
	return b.write(t)
}

// showCapability prints one entry for reading: the same text on a terminal and in a pipe.
func showCapability(t *terminal, c api.Capability) error {
	fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil {
		return err
	}
	p := page{t: t}
	p.line("%s  %s", t.style.bold.Render(string(c.Name)), t.style.faint.Render(fmt.Sprintf("%s, %s, %s", c.Modality, c.Mode, price(c.Price))))
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
	p.line("\n%s", t.style.bold.Render("Example"))
	if command, err := exampleCommand(c, fields); err == nil {
		p.line("  %s", command)
	}
	if raw, err := shortExample(c.Example); err == nil {
		p.line("\n  %s", strings.ReplaceAll(raw, "\n", "\n  "))
	}
	return p.err
}

// page writes lines and keeps the first error.
type page struct {
	t   *terminal
	err error
}

func (p *page) line(format string, args ...any) {
	_, err := fmt.Fprintf(p.t.out, format+"\n", args...)
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
	if b := bounds(f); b != "" {
		traits = append(traits, b)
	}
	if len(f.Enum) > 0 {
		traits = append(traits, strings.Join(f.Enum, " | "))
	}
	if len(f.Default) > 0 {
		traits = append(traits, "default "+strings.Trim(string(f.Default), `"`))
	}
	name := f.Name
	if pad := 18 - len(indent) - lipgloss.Width(name); pad > 0 {
		name += strings.Repeat(" ", pad)
	}
	p.line("%s%s  %s", indent, p.t.style.busy.Render(name), p.t.style.faint.Render(printable(strings.Join(traits, ", "))))
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

// exampleCommand writes the entry's example as a command.
func exampleCommand(c api.Capability, fields []catalog.Field) (string, error) {
	var example api.CreateRequest
	if err := json.Unmarshal(c.Example, &example); err != nil {
		return "", err
	}
	words := []string{"unitask run " + string(c.Name)}
	primary, _ := (&fitter{fields: fields}).primary()
	for _, group := range []struct {
		name string
		raw  json.RawMessage
	}{{catalog.GroupInput, example.Input}, {catalog.GroupParameters, example.Parameters}} {
		var values map[string]any
		if len(group.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(group.raw, &values); err != nil {
			return "", err
		}
		for _, f := range fields {
			if v, ok := values[f.Name]; ok && f.Group == group.name {
				words = append(words, exampleWords(f, v, f.Name == primary.Name && group.name == catalog.GroupInput)...)
			}
		}
	}
	return strings.Join(words, " "), nil
}

// exampleWords writes one member: an object's members apart, a list's items one by one, and as JSON
// what has no other form.
func exampleWords(f catalog.Field, value any, isPrompt bool) []string {
	items, isList := value.([]any)
	members, isObject := value.(map[string]any)
	var words []string
	switch {
	case isObject && !f.Media:
		for _, m := range f.Members {
			if v, ok := members[m.Name]; ok {
				m.Name = f.Name + "." + m.Name
				words = append(words, exampleWords(m, v, false)...)
			}
		}
		return words
	case !isList:
		items = []any{value}
	}
	for _, item := range items {
		word, written := exampleValue(f, item)
		switch {
		case !written:
			raw, err := json.Marshal(value)
			if err != nil {
				return nil
			}
			return []string{shellWord(f.Name + ":=" + string(raw))}
		case isPrompt:
			words = append(words, shellWord(word))
		default:
			words = append(words, f.Name+"="+shellWord(word))
		}
	}
	return words
}

// exampleValue writes one value as a word; an object has none but media, which stands for a file.
func exampleValue(f catalog.Field, value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case map[string]any:
		contentType, _ := v["content_type"].(string)
		return "@FILE" + extension(contentType), f.Media
	case float64, bool:
		return fmt.Sprint(v), true
	default:
		return "", false
	}
}

// shellWord quotes a word only where a shell would take it apart.
func shellWord(word string) string {
	plain := func(r rune) bool { return strings.ContainsRune(`-_./:@=,+%`, r) }
	special := func(r rune) bool {
		return !plain(r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	if !strings.ContainsAny(word, "\"$`\\!") {
		return `"` + word + `"`
	}
	return quoted(word)
}

// shortExample is an example's JSON with long base64 cut out of sight.
func shortExample(raw json.RawMessage) (string, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", err
	}
	out, err := json.MarshalIndent(shortened(value), "", "  ")
	return printable(string(out)), err
}

func shortened(value any) any {
	const longest = 80
	switch v := value.(type) {
	case string:
		if len(v) > longest && !strings.Contains(v, " ") {
			return v[:longest/2] + "…"
		}
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = shortened(v[name])
		}
	}
	return value
}
