package main

import (
	"fmt"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/hint"

	"github.com/spf13/cobra"
)

const rootLong = `One key, one task protocol and one error format for text, images, video and audio.

Start the service with "unitask serve"; in another terminal:

  unitask run text.chat "Say hello"
  unitask run image.generate "a red fox" -o fox.png`

// section is commands that the help shows together.
type section struct {
	title    string
	commands []*cobra.Command
}

// sections are all commands, in the order of the help.
func sections(t *terminal) []section {
	return []section{
		{"Tasks", []*cobra.Command{
			newRunCmd(t), newChatCmd(t), newCapabilitiesCmd(t), newTasksCmd(t), newTUICmd(t), newUploadCmd(t), newUploadsCmd(t), newWebhooksCmd(t),
			newMCPCmd(t), newOpenCmd(t),
		}},
		{"Service and key", []*cobra.Command{newLoginCmd(t), newLogoutCmd(t), newProfilesCmd(t), newWhoamiCmd(t)}},
		{"The server", []*cobra.Command{newServeCmd(t), newDoctorCmd(t), newConfigCmd(t), newStoreCmd(t), newSimulateCmd(t)}},
		{"Its operator", []*cobra.Command{newKeysCmd(t), newAccountsCmd(t), newUsageCmd(t), newSuppliersCmd(t), newRequestsCmd(t), newLogsCmd(t)}},
		{"This program", []*cobra.Command{newVersionCmd(t), newManCmd(t)}},
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
	for _, one := range sections(t) {
		root.AddGroup(&cobra.Group{ID: one.title, Title: one.title + ":"})
		for _, cmd := range one.commands {
			cmd.GroupID = one.title
			root.AddCommand(cmd)
		}
		root.SetCompletionCommandGroupID(one.title)
		root.SetHelpCommandGroupID(one.title)
	}
	root.AddCommand(topics()...)
	root.SetHelpFunc(foldedHelp(t, root.HelpFunc()))
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	mindUnknown(root)
	mindBash(t, root)
	addForms(t, root)
	passFlags(root)
	markUsage(root)
	return root
}

// mindUnknown makes an unknown shell or command an error in the two commands that are the library's, which would show
// a help.
func mindUnknown(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, helpOrUnknown
		case "help":
			cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, args []string) error {
				found, rest, err := cmd.Root().Find(args)
				if err != nil || len(rest) > 0 && found.Name() != "run" {
					return helpOrUnknown(found, rest)
				}
				if err := found.ParseFlags(rest); err != nil {
					return err
				}
				found.SetContext(cmd.Context())
				return found.Help()
			}
		}
	}
}

// mindBash gives bash the script that fits this program's values.
func mindBash(t *terminal, root *cobra.Command) {
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		return // the test of the script says so
	}
	bash.RunE = func(cmd *cobra.Command, _ []string) error {
		bare, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		return bashCompletion(cmd.Root(), t.out, !bare)
	}
}

// group makes a command that only holds others: alone it shows its help, with an unknown word it
// says so.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: helpOrUnknown}
	cmd.AddCommand(children...)
	passFlags(cmd)
	return cmd
}

func helpOrUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 && cmd.Flags().NFlag() > 0 {
		return &hint.UsageError{Message: "a flag stands without the command that it belongs to"}
	}
	if len(args) == 0 {
		return cmd.Help()
	}
	message := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0])
	if !cmd.HasParent() && strings.Contains(args[0], ".") {
		return &hint.UsageError{Message: message, Hint: "unitask run " + args[0] + " runs a task of that capability"}
	}
	var names []string
	for _, child := range cmd.Commands() {
		names = append(names, child.Name())
		if slices.Contains(child.SuggestFor, args[0]) {
			names = []string{child.Name()}
			args = names
			break
		}
	}
	if near := catalog.Nearest(args[0], names); near != "" {
		return &hint.UsageError{Message: message + ": did you mean " + near + "?", Hint: cmd.CommandPath() + " " + near + " --help"}
	}
	return &hint.UsageError{Message: message}
}
