package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"unitask/internal/arguments"
	"unitask/internal/catalog"
	"unitask/internal/hint"
)

// passFlags lets a command that others stand below read their flags, so that these may come before the command
// that they belong to: "unitask accounts --json list". No help shows them there.
func passFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	for _, child := range cmd.Commands() {
		child.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if flags.Lookup(f.Name) != nil || f.Name == "help" {
				return
			}
			passed := &pflag.Flag{Name: f.Name, Value: passedOn{f.Value}, NoOptDefVal: f.NoOptDefVal, Hidden: true}
			if f.Shorthand != "" && flags.ShorthandLookup(f.Shorthand) == nil {
				passed.Shorthand = f.Shorthand
			}
			flags.AddFlag(passed)
		})
	}
}

// passedOn is a flag's value before its command: the command reads the flag again.
type passedOn struct{ pflag.Value }

func (passedOn) Set(string) error { return nil }

// exactly wants one argument for each of the values and puts it there.
func exactly(values ...*string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(len(values))(cmd, args); err != nil {
			return err
		}
		for i, v := range values {
			*v = args[i]
		}
		return nil
	}
}

// markUsage turns cobra's errors about flags and arguments into usage errors, on every command.
func markUsage(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(wrongFlag)
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &hint.UsageError{Message: fmt.Sprintf("wrong number of arguments (%d); it is written: %s", len(args), cmd.UseLine())}
			}
			if err := cmd.ValidateFlagGroups(); err != nil {
				return &hint.UsageError{Message: plainFlag(err)}
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		markUsage(child)
	}
}

// wrongFlag describes the error of a flag, and the flag that was probably meant.
func wrongFlag(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown)
	}
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return &hint.UsageError{Message: plainFlag(err)}
	}
	takes := map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a time such as 90s or 5m"}
	f := wrong.GetFlag()
	if what := takes[f.Value.Type()]; what != "" {
		return &hint.UsageError{Message: fmt.Sprintf("--%s takes %s, not %q", f.Name, what, wrong.GetValue())}
	}
	return &hint.UsageError{Message: plainFlag(err)}
}

func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name, isRun := err.GetSpecifiedName(), cmd.CommandPath() == "unitask run"
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	wrong := &hint.UsageError{Message: plainFlag(err)}
	switch near := catalog.Nearest(name, names); {
	case near != "":
		wrong.Message += ": did you mean --" + near + "?"
	case isRun && name == "async":
		wrong.Message += ": did you mean --no-wait?"
	case isRun && err.GetSpecifiedShortnames() != "":
		wrong.Hint = "a prompt that begins with - stands after --, as in: unitask run text.chat -- '-5 + 3'"
	case isRun && arguments.ValidName(name):
		wrong.Hint = "what a capability takes is written without dashes: " + name + "=VALUE; unitask capabilities NAME lists it"
	}
	return wrong
}

// plainFlag describes errors of flags without the words of the libraries.
func plainFlag(err error) string {
	text := err.Error()
	if group, both := strings.CutSuffix(text, "] were all set"); both {
		names := strings.Fields(group[strings.LastIndex(group, "[")+1:])
		return "--" + strings.Join(names, " and --") + " exclude each other"
	}
	return text
}
