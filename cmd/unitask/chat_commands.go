package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"unitask/internal/arguments"
	"unitask/internal/catalog"
	"unitask/internal/hint"
	"unitask/internal/save"
	"unitask/internal/submit"
	"unitask/internal/task"
)

// chatCommand is a command of a conversation.
type chatCommand struct {
	name, args, help string
	waiting          bool // may be given while the last message has no answer
	run              func(s *chatSession, ctx context.Context, arg string) error
}

// chatCommands are in the order of the help.
func chatCommands() []chatCommand {
	return []chatCommand{
		{"file", "PATH", "send a file along with the next message", false, (*chatSession).attach},
		{"system", "TEXT", "say how to answer from now on; @FILE reads it", false, (*chatSession).setSystem},
		{"set", "NAME=VALUE", "set a parameter; NAME= takes it out, alone it shows all", false, (*chatSession).set},
		{"model", "NAME", "go on by another capability (also /capability)", false, (*chatSession).setCapability},
		{"retry", "", "send the last message again", false, (*chatSession).again},
		{"undo", "", "take the last message and its answer back", false, (*chatSession).undo},
		{"save", "FILE", "save the last answer", false, (*chatSession).saveAnswer},
		{"copy", "", "copy the last answer to the clipboard", false, (*chatSession).copyAnswer},
		{"cost", "", "tokens and cost of this conversation", true, (*chatSession).cost},
		{"cancel", "", "give the answer up that isn't there yet", true, (*chatSession).cancel},
		{"new", "", "begin another conversation with the same settings", true, (*chatSession).begin},
		{"list", "", "list the conversations", true, (*chatSession).list},
		{"help", "", "show this", true, (*chatSession).help},
		{"quit", "", "leave; the conversation stays", true, (*chatSession).quit},
	}
}

// aliases are other names of commands.
var aliases = map[string]string{"capability": "model", "exit": "quit", "attach": "file"}

// command carries a command out.
func (s *chatSession) command(ctx context.Context, text string) error {
	name, arg, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	if other, ok := aliases[name]; ok {
		name = other
	}
	all := chatCommands()
	at := slices.IndexFunc(all, func(c chatCommand) bool { return c.name == name })
	if at < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.name)
		}
		message := fmt.Sprintf("there is no command /%s", name)
		if near := catalog.Nearest(name, names); near != "" {
			message += ": did you mean /" + near + "?"
		}
		return &hint.UsageError{Message: message, Hint: "/help lists them; // begins a message with a slash"}
	}
	if s.Talk.Open != nil && !all[at].waiting {
		return &hint.UsageError{Message: "the last message has no answer yet", Hint: "an empty line waits for it, /cancel gives it up"}
	}
	return all[at].run(s, ctx, strings.TrimSpace(arg))
}

func (s *chatSession) help(context.Context, string) error {
	const narrow = 80 // columns, below which the explanations stand in lines of their own
	width := s.t.width() - 1
	for _, c := range chatCommands() {
		usage := strings.TrimSpace("/" + c.name + " " + c.args)
		if width+1 >= narrow {
			s.t.note("  %-16s %s", usage, c.help)
			continue
		}
		s.t.note("%s\n  %s", usage, strings.ReplaceAll(ansi.Wordwrap(c.help, width-2, ""), "\n", "\n  "))
	}
	for _, line := range []string{
		"A line that ends with \\ goes on in the next one; // begins a message with a slash.",
		"Ctrl-C stops waiting for an answer, and clears the line; twice, or Ctrl-D, it leaves.",
	} {
		s.t.note("%s", ansi.Wordwrap(line, width, ""))
	}
	return nil
}

func (s *chatSession) quit(context.Context, string) error {
	s.leaving = true
	return nil
}

// attach keeps a file for the next message, if the capability takes it.
func (s *chatSession) attach(_ context.Context, path string) error {
	if path == "" {
		return &hint.UsageError{Message: "/file takes the path of a file", Hint: "/help"}
	}
	path = atHome(path)
	later := func(*os.File, int64, string) (string, error) { return "art_later", nil }
	if _, err := s.Message("x", []string{path}, &arguments.Reader{StdinUsed: true, AheadFunc: later}); err != nil {
		return err
	}
	if s.files = append(s.files, path); !s.t.inTTY {
		return nil
	}
	s.t.note("%s", s.t.errStyle.faint.Render(printable("along with the next message: "+strings.Join(s.files, ", "))))
	return nil
}

// atHome reads "~/" as a shell does.
func atHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil {
		return path
	}
	if rest == "" || strings.HasSuffix(rest, "/") {
		return filepath.Join(home, rest) + "/"
	}
	return filepath.Join(home, rest)
}

func (s *chatSession) setSystem(_ context.Context, text string) error {
	if text == "" {
		s.t.note("system: %s", printable(s.Talk.System))
		return nil
	}
	system, err := (&arguments.Reader{StdinUsed: true}).Text(text)
	if err != nil {
		return &hint.UsageError{Message: err.Error(), Hint: "/help"}
	}
	settings := s.Talk.Settings
	settings.System = system
	if err := s.Talk.Set(settings); err != nil {
		return err
	}
	s.t.note("%s", s.t.errStyle.faint.Render(ansi.Truncate(oneLine("system from the next message on: "+system), s.t.width()-1, "…")))
	return nil
}

func (s *chatSession) set(_ context.Context, word string) error {
	if word != "" {
		settings, err := s.fitSetting(s.Talk.Settings, word)
		if err != nil {
			return err
		}
		if err := s.Talk.Set(settings); err != nil {
			return err
		}
	}
	parameters := "none"
	if s.Talk.Parameters != nil {
		parameters = string(s.Talk.Parameters)
	}
	s.t.note("%s", s.t.errStyle.faint.Render(printable(s.Talk.Capability+", parameters: "+parameters)))
	return nil
}

func (s *chatSession) setCapability(ctx context.Context, name string) error {
	if name == "" {
		s.t.note("%s", s.Talk.Capability)
		return nil
	}
	entry, err := talking(ctx, s.Service, name)
	if err != nil {
		return err
	}
	settings := s.Talk.Settings
	settings.Capability = name
	if settings.Parameters != nil {
		all := map[string]json.RawMessage{}
		if err := json.Unmarshal(settings.Parameters, &all); err != nil {
			return err
		}
		s.Entry = entry
		fields := s.Fields()
		for parameter := range all {
			if !slices.ContainsFunc(fields, func(f catalog.Field) bool { return f.Group == catalog.GroupParameters && f.Name == parameter }) {
				delete(all, parameter)
				s.t.note("%s has no %s; it is left out", name, parameter)
			}
		}
		if settings, err = withParameters(settings, all); err != nil {
			return err
		}
	}
	s.Entry = entry
	return s.Talk.Set(settings)
}

// again sends the last message again.
func (s *chatSession) again(ctx context.Context, _ string) error {
	if err := s.Again(); err != nil {
		return err
	}
	return s.finish(ctx)
}

func (s *chatSession) undo(context.Context, string) error {
	words, err := s.Undo()
	if err == nil {
		s.t.note("%s", s.t.errStyle.faint.Render(printable("taken back: "+words)))
	}
	return err
}

func (s *chatSession) saveAnswer(ctx context.Context, path string) error {
	text, ok := s.Talk.Last()
	switch {
	case !ok:
		return &hint.UsageError{Message: "there is no answer yet", Hint: "/help"}
	case path == "":
		return &hint.UsageError{Message: "/save takes the name of a file", Hint: "/help"}
	}
	path = atHome(path)
	if err := save.CheckFile("/save", path); err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil && !save.IsFolder(path) {
		if yes, err := s.t.agrees(ctx, path+" is there already. Replace it?"); err != nil || !yes {
			return err
		}
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	files, err := save.All(ctx, s.Service.Client, []save.Part{{Data: []byte(text), ContentType: "text/plain"}}, path, s.Talk.ID)
	for _, name := range files {
		s.t.note("saved %s", name)
	}
	return err
}

// longestClip bounds a terminal's clipboard, in bytes.
const longestClip = 72_000

func (s *chatSession) copyAnswer(context.Context, string) error {
	text, ok := s.Talk.Last()
	switch {
	case !ok:
		return &hint.UsageError{Message: "there is no answer yet", Hint: "/help"}
	case len(text) > longestClip:
		return &hint.UsageError{Message: "the answer is too long for a clipboard", Hint: "/save FILE saves it"}
	}
	s.t.send(ansi.SetSystemClipboard(text))
	s.t.note("copied, if the terminal lets programs copy")
	return nil
}

func (s *chatSession) cost(context.Context, string) error {
	spent := s.Talk.Spent()
	parts := []string{fmt.Sprintf("tasks: %d", spent.Tasks)}
	for _, c := range spent.Counts() {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Name))
	}
	s.t.note("%s, $%s", strings.Join(parts, ", "), spent.Cost)
	return nil
}

// cancel ends the task of the open turn.
func (s *chatSession) cancel(ctx context.Context, _ string) error {
	givenUp, err := s.Cancel(ctx)
	if givenUp {
		s.t.note("given up; if its task was made, it goes on: unitask tasks list%s", s.flags.words())
	}
	if err != nil || givenUp {
		return err
	}
	err = s.finish(ctx)
	if ended, ok := errors.AsType[*submit.EndedError](err); ok && ended.Task.State == task.Canceled {
		cost := "it cost nothing"
		if u := ended.Task.Usage; u != nil && strings.Trim(u.Cost.Amount, "0.") != "" {
			cost = "it cost $" + u.Cost.Amount
		}
		s.t.note("canceled; %s. /retry sends the message again", cost)
		return nil
	}
	return err
}

// begin begins another conversation.
func (s *chatSession) begin(context.Context, string) error {
	if s.Talk.Kept() {
		s.farewell()
	}
	settings := s.Talk.Settings
	err := s.Talk.Close()
	s.Talk, s.paused, s.Resumed, s.files = s.Store.New(settings), false, false, nil
	return err
}

func (s *chatSession) list(context.Context, string) error {
	all, err := s.t.chats(s.Store)
	if err != nil || len(all) == 0 {
		return err
	}
	return listChats(s.t, all, time.Now())
}
