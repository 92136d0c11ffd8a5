package main

import (
	"fmt"
	"strings"

	"unitask/internal/catalog"

	"github.com/spf13/cobra"
)

const rootLong = `One key, one task protocol and one error format for text, images, video and audio.

Start the service with "unitask serve"; in another terminal:

  unitask run text.chat "Say hello"
  unitask run image.generate "a red fox" -o fox.png`

// commands is every command, in the order of the help.
func commands(t *terminal) []*cobra.Command {
	return []*cobra.Command{
		newServeCmd(t),
		newRunCmd(t),
		newCapabilitiesCmd(t),
		newTasksCmd(t),
		newOpenCmd(t),
		newTUICmd(t),
		newMCPCmd(t),
		newLoginCmd(t),
		newLogoutCmd(t),
		newWhoamiCmd(t),
		newKeysCmd(t),
		newAccountsCmd(t),
		newUsageCmd(t),
		newSuppliersCmd(t),
		newRequestsCmd(t),
		newStoreCmd(t),
		newConfigCmd(t),
		newSimulateCmd(t),
		newDoctorCmd(t),
		newManCmd(t),
		newVersionCmd(t),
	}
}

func newRootCmd(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:           "unitask",
		Short:         "A self-hosted gateway to AI capabilities, and its client",
		Long:          rootLong,
		Version:       readBuild().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs, // so that an unknown command comes to helpOrUnknown
		RunE:          dashboardOrHelp(t),
	}
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(commands(t)...)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	mindUnknown(root)
	addJQ(t, root)
	markUsage(root)
	return root
}

// mindUnknown makes an unknown shell or command an error in the two commands that are the library's,
// which would show a help that nobody asked for.
func mindUnknown(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, helpOrUnknown
		case "help":
			cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, args []string) error {
				found, rest, err := cmd.Root().Find(args)
				if err != nil || len(rest) > 0 {
					return helpOrUnknown(found, rest)
				}
				return found.Help()
			}
		}
	}
}

// markUsage makes what cobra finds wrong with flags and arguments a usage error, on every command.
func markUsage(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{message: plainFlag(err)} })
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &usageError{message: fmt.Sprintf("wrong number of arguments (%d); it is written: %s", len(args), cmd.UseLine())}
			}
			if err := cmd.ValidateFlagGroups(); err != nil {
				return &usageError{message: plainFlag(err)}
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		markUsage(child)
	}
}

// plainFlag says what is wrong with flags without the words of the libraries.
func plainFlag(err error) string {
	text := err.Error()
	if group, both := strings.CutSuffix(text, "] were all set"); both {
		names := strings.Fields(group[strings.LastIndex(group, "[")+1:])
		return "--" + strings.Join(names, " and --") + " exclude each other"
	}
	for _, inner := range []string{": strconv.", ": time: "} {
		text, _, _ = strings.Cut(text, inner)
	}
	return text
}

// group makes a command that only holds others: alone it shows its help, with an unknown word it
// says so.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: helpOrUnknown}
	cmd.AddCommand(children...)
	return cmd
}

func helpOrUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	message := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0])
	var names []string
	for _, child := range cmd.Commands() {
		names = append(names, child.Name())
	}
	if near := catalog.Nearest(args[0], names); near != "" {
		return &usageError{message: message + ": did you mean " + near + "?", hint: cmd.CommandPath() + " " + near + " --help"}
	}
	return &usageError{message: message}
}
