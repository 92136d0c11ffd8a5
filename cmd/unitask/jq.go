package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"unitask/internal/hint"

	"github.com/itchyny/gojq"
	"github.com/spf13/cobra"
)

// filter is the --jq of a command: JSON output goes through it. The expression can't read files or the environment,
// which may hold a key.
type filter struct {
	text string
	code *gojq.Code
	cmd  *cobra.Command
	into **filter
}

// addForms gives every command that prints JSON its --jq and --format.
func addForms(t *terminal, cmd *cobra.Command) {
	if f := cmd.Flags().Lookup("json"); f != nil && !f.Hidden {
		cmd.Flags().Var(&formatFlag{cmd: cmd, into: &t.format}, "format", "print in this `form`: "+strings.Join(forms(cmd), ", "))
		_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(forms(cmd), cobra.ShellCompDirectiveNoFileComp))
		cmd.Flags().Var(&filter{cmd: cmd, into: &t.filter}, "jq", "print what this jq `expression` selects of the JSON; texts without quotes")
	}
	for _, child := range cmd.Commands() {
		addForms(t, child)
	}
}

// String is the expression, for the help.
func (f *filter) String() string { return f.text }

// Type names the value, for the help.
func (f *filter) Type() string { return "expression" }

// Set takes the expression and asks the command for JSON.
func (f *filter) Set(text string) error {
	query, err := gojq.Parse(text)
	if err != nil {
		return err
	}
	if f.code, err = gojq.Compile(query); err != nil {
		return err
	}
	f.text, *f.into = text, f
	return f.cmd.Flags().Set("json", "true")
}

// run prints each value that the expression makes of v on lines of its own.
func (f *filter) run(t *terminal, v any) error {
	plain, err := plainJSON(v)
	if err != nil {
		return err
	}
	ctx := f.cmd.Context() // an expression may never end
	for values := f.code.RunWithContext(ctx, plain); ; {
		value, more := values.Next()
		if !more {
			return nil
		}
		err, failed := value.(error)
		halt, halted := errors.AsType[*gojq.HaltError](err)
		switch {
		case halted && halt.Value() == nil:
			return nil
		case failed && ctx.Err() != nil:
			return context.Cause(ctx)
		case failed:
			return &hint.UsageError{Message: "--jq: " + err.Error(), Hint: "--json alone shows what there is to select from"}
		}
		if err := f.print(t, value); err != nil {
			return err
		}
	}
}

func (f *filter) print(t *terminal, value any) error {
	if text, ok := value.(string); ok {
		_, err := fmt.Fprintln(t.out, t.safe(text))
		return err
	}
	raw, err := gojq.Marshal(value)
	if err != nil {
		return err
	}
	return t.encode(json.RawMessage(raw))
}

// plainJSON is v as gojq takes it: maps, lists and numbers of any size.
func plainJSON(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out any
	return out, d.Decode(&out)
}
