package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/picture"
	"unitask/internal/picture/poster"
	"unitask/internal/tui"
)

const (
	fallbackRows = 24            // if the terminal doesn't say
	dashboard    = "unitask tui" // the command, as hints are for it
)

func newTUICmd(t *terminal) *cobra.Command {
	var flags clientFlags
	var mouse bool
	cmd := &cobra.Command{
		Use:   "tui",
		Short: "Open the dashboard: capabilities, forms and live tasks (as a bare unitask does)",
		Example: `  unitask tui
  unitask tui --profile work
  unitask tui --mouse=false`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return tuiRun(cmd.Context(), t, &flags, mouse) },
	}
	cmd.Flags().BoolVar(&mouse, "mouse", true, "take clicks and the wheel; a text is selected with shift then")
	flags.add(cmd)
	return cmd
}

// dashboardOrHelp is unitask without a command: the dashboard on a terminal, once there is a key for
// it, else the help.
func dashboardOrHelp(t *terminal) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 || cmd.Flags().NFlag() > 0 || !t.fullScreen() {
			return helpOrUnknown(cmd, args)
		}
		err := tuiRun(cmd.Context(), t, &clientFlags{}, true)
		if _, ok := errors.AsType[*client.NoKeyError](err); ok {
			return cmd.Help()
		}
		return err
	}
}

// fullScreen reports whether the terminal can show the dashboard.
func (t *terminal) fullScreen() bool {
	return t.inTTY && t.outTTY && os.Getenv("TERM") != "dumb"
}

func tuiRun(ctx context.Context, t *terminal, flags *clientFlags, mouse bool) error {
	if !t.fullScreen() {
		return &hint.UsageError{
			Message: "the dashboard needs a terminal that can move its cursor",
			Hint:    "unitask capabilities and unitask run work everywhere",
		}
	}
	target, err := flags.target(ctx)
	if err != nil {
		return err
	}
	credential, err := flags.credential(ctx, t, target)
	if err != nil {
		return err
	}
	c, err := newClient(t, target, credential, quiet)
	if err != nil {
		return err
	}
	profiles := &dashboardProfiles{t: t}
	profiles.beginning(ctx, flags.service(c, target, credential), credential.Source)
	protocol := picture.Detect(os.Getenv)
	var frame func(context.Context, []byte) ([]byte, error)
	if maker := poster.Here(); maker != nil {
		frame = maker.Frame
	}
	left, err := tui.Run(ctx, tui.Config{
		Reached:  profiles.first,
		Profiles: profiles,
		NewKey:   client.NewIdempotencyKey,
		Copy:     func(text string) { t.send(ansi.SetSystemClipboard(text)) },
		Hint:     dashboardHint,
		Style:    tui.NewStyle(t.out, os.Getenv("NO_COLOR") == ""),
		Ended:    func(words string) { t.send(announcement(words, os.Getenv)) },
		Frame:    frame,
		Mouse:    mouse,
		Pictures: protocol != "",
	}, t.in, t.out)
	if err != nil {
		return err
	}
	if left.Open > 0 {
		words := flags.words()
		if left.Profile != profiles.first.Profile {
			words = " --profile " + left.Profile
		}
		t.note("tasks that go on: %d; unitask tasks list%s shows them", left.Open, words)
	}
	for _, img := range left.Pictures {
		if err := protocol.Write(t.out, img, t.width(), t.rows()-2); err != nil {
			return err
		}
	}
	return nil
}

// quiet tells no retry: the dashboard says itself that the server is away.
func quiet(client.Retry) {}

// dashboardHint is the next command to try, as every command prints it.
func dashboardHint(err error) string { return hintOf(dashboard, err) }

// send writes a sequence to the terminal in one piece, so that it stands between frames.
func (t *terminal) send(sequence string) { _, _ = io.WriteString(t.out, sequence) }

// rows is the terminal's height.
func (t *terminal) rows() int {
	if f, ok := t.out.(*os.File); ok {
		if _, h, err := term.GetSize(int(f.Fd())); err == nil && h > 0 {
			return h
		}
	}
	return fallbackRows
}

// announcement is a bell, and a notification in the terminals that have one.
func announcement(words string, getenv func(string) string) string {
	program, name := getenv("TERM_PROGRAM"), getenv("TERM")
	known := slices.Contains([]string{"iTerm.app", "WezTerm", "ghostty"}, program) || name == "xterm-kitty" || name == "xterm-ghostty"
	if !known || getenv("TMUX") != "" {
		return "\a"
	}
	return ansi.Notify("unitask: "+words) + "\a"
}
