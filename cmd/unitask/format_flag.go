package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/shown"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

// format is the value of --format: the form of a command's output, "" for the usual one.
type format string

// The forms.
const (
	formatTable format = "table" // with a header and in columns, in a pipe too
	formatCSV   format = "csv"
	formatJSON  format = "json"
	formatJSONL format = "jsonl" // a list's items in a line each
	formatYAML  format = "yaml"
)

// tabled marks the commands that print a table.
var tabled = map[string]string{"table": "yes"}

// forms returns those that a command has.
func forms(cmd *cobra.Command) []string {
	all := []string{string(formatJSON), string(formatJSONL), string(formatYAML)}
	if cmd.Annotations["table"] != "" {
		all = append(all, string(formatTable), string(formatCSV))
	}
	return all
}

// formatFlag is --format of one command.
type formatFlag struct {
	cmd  *cobra.Command
	into *format
}

// String is the form, for the help.
func (f *formatFlag) String() string { return "" }

// Type names the value, for the help.
func (f *formatFlag) Type() string { return "form" }

// Set takes the form and asks the command for JSON where that is made of it.
func (f *formatFlag) Set(text string) error {
	all := forms(f.cmd)
	if !slices.Contains(all, text) {
		message := "it is one of " + strings.Join(all, ", ")
		if f.cmd.Name() == "run" {
			message += "; a result's own is written format=" + text
		}
		return errors.New(message)
	}
	*f.into = format(text)
	asJSON := *f.into != formatTable && *f.into != formatCSV
	return f.cmd.Flags().Set("json", strconv.FormatBool(asJSON))
}

// writeCSV writes the table with its header.
func (b *table) writeCSV(t *terminal) error {
	w := csv.NewWriter(t.out)
	header := make([]string, len(b.header))
	for i, name := range b.header {
		header[i] = strings.ReplaceAll(strings.ToLower(name), " ", "_")
	}
	lines := [][]string{header}
	for _, r := range b.rows {
		fields := make([]string, len(r))
		for i, c := range r {
			fields[i] = t.safe(c.plain)
		}
		lines = append(lines, fields)
	}
	return w.WriteAll(lines)
}

// lines writes JSON in one line, or each item of a list in one.
func (t *terminal) lines(raw []byte) error {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items = []json.RawMessage{raw}
	}
	for _, item := range items {
		line := bytes.TrimSpace(item)
		if t.outTTY {
			line = shown.JSON(line)
		}
		if _, err := fmt.Fprintf(t.out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// yaml writes JSON as a document in YAML.
func (t *terminal) yaml(raw []byte) error {
	text, err := yaml.JSONToYAML(raw)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "---\n%s", t.safe(string(text)))
	return err
}
