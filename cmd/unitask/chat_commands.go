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
	"unitask/internal/chat"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/save"
	"unitask/internal/submit"
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
	if s.talk.Open != nil && !all[at].waiting {
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
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	later := func(*os.File, int64, string) (string, error) { return "art_later", nil }
	if _, err := s.fitMessage("x", []string{path}, &arguments.Reader{StdinUsed: true, AheadFunc: later}); err != nil {
		return err
	}
	if s.files = append(s.files, path); !s.t.inTTY {
		return nil
	}
	s.t.note("%s", s.t.errStyle.faint.Render(printable("along with the next message: "+strings.Join(s.files, ", "))))
	return nil
}

func (s *chatSession) setSystem(_ context.Context, text string) error {
	if text == "" {
		s.t.note("system: %s", printable(s.talk.System))
		return nil
	}
	system, err := (&arguments.Reader{StdinUsed: true}).Text(text)
	if err != nil {
		return &hint.UsageError{Message: err.Error(), Hint: "/help"}
	}
	settings := s.talk.Settings
	settings.System = system
	return s.talk.Set(settings)
}

func (s *chatSession) set(_ context.Context, word string) error {
	if word != "" {
		settings, err := s.fitSetting(s.talk.Settings, word)
		if err != nil {
			return err
		}
		if err := s.talk.Set(settings); err != nil {
			return err
		}
	}
	parameters := "none"
	if s.talk.Parameters != nil {
		parameters = string(s.talk.Parameters)
	}
	s.t.note("%s", s.t.errStyle.faint.Render(printable(s.talk.Capability+", parameters: "+parameters)))
	return nil
}

func (s *chatSession) setCapability(ctx context.Context, name string) error {
	if name == "" {
		s.t.note("%s", s.talk.Capability)
		return nil
	}
	entry, err := talking(ctx, s.service, name)
	if err != nil {
		return err
	}
	settings := s.talk.Settings
	settings.Capability = name
	if settings.Parameters != nil {
		all := map[string]json.RawMessage{}
		if err := json.Unmarshal(settings.Parameters, &all); err != nil {
			return err
		}
		s.entry = entry
		fields := s.fields()
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
	s.entry = entry
	return s.talk.Set(settings)
}

// again sends the last message again: a failure that another try may mend under its own key.
func (s *chatSession) again(ctx context.Context, _ string) error {
	former := s.talk.Failed
	key := client.NewIdempotencyKey()
	switch {
	case former == nil && len(s.talk.Turns) == 0:
		return &hint.UsageError{Message: "there is no message to send again", Hint: "/help"}
	case former == nil:
		last := s.talk.Turns[len(s.talk.Turns)-1]
		if err := s.talk.Undo(1); err != nil {
			return err
		}
		former = &last
	case former.Failure.Retryable && former.Place == s.place && time.Since(former.At) < journal.MaxAge:
		key = former.Key
	}
	if err := s.talk.AskAgain(key, s.place, former); err != nil {
		return unkept(err)
	}
	s.resumed = false
	return s.finish(ctx)
}

func (s *chatSession) undo(context.Context, string) error {
	n := 0
	for asked := false; n < len(s.talk.Turns) && !asked; n++ {
		asked = s.talk.Turns[len(s.talk.Turns)-1-n].Asks()
	}
	if n == 0 {
		return &hint.UsageError{Message: "there is no message to take back", Hint: "/help"}
	}
	for _, m := range s.talk.Turns[len(s.talk.Turns)-n].Said()[:1] {
		s.t.note("%s", s.t.errStyle.faint.Render(printable("taken back: "+m.Text)))
	}
	return s.talk.Undo(n)
}

func (s *chatSession) saveAnswer(ctx context.Context, path string) error {
	text, ok := s.talk.Last()
	switch {
	case !ok:
		return &hint.UsageError{Message: "there is no answer yet", Hint: "/help"}
	case path == "":
		return &hint.UsageError{Message: "/save takes the name of a file", Hint: "/help"}
	}
	if _, err := os.Stat(path); err == nil {
		if yes, err := s.t.agrees(ctx, path+" is there already. Replace it?"); err != nil || !yes {
			return err
		}
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	files, err := save.All(ctx, s.service.Client, []save.Part{{Data: []byte(text), ContentType: "text/plain"}}, path, s.talk.ID)
	for _, name := range files {
		s.t.note("saved %s", name)
	}
	return err
}

// longestClip bounds a terminal's clipboard, in bytes.
const longestClip = 72_000

func (s *chatSession) copyAnswer(context.Context, string) error {
	text, ok := s.talk.Last()
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
	spent := s.talk.Spent()
	parts := []string{fmt.Sprintf("tasks: %d", spent.Tasks)}
	for _, c := range spent.Counts() {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Name))
	}
	s.t.note("%s, $%s", strings.Join(parts, ", "), spent.Cost)
	return nil
}

// cancel ends the task of the open turn.
func (s *chatSession) cancel(ctx context.Context, _ string) error {
	if s.talk.Open == nil {
		return &hint.UsageError{Message: "no answer is being made", Hint: "/help"}
	}
	id, err := s.openTask(ctx)
	if _, changed := errors.AsType[*journal.ChangedError](err); changed && s.talk.Open != nil {
		s.t.note("given up; if its task was made, it goes on: unitask tasks list%s", s.flags.words())
		return s.talk.Fail(chat.Failure{Message: "a file of its request has changed"})
	}
	if err != nil {
		return err
	}
	if _, err := s.service.Cancel(ctx, id); err != nil {
		return err
	}
	return s.finish(ctx)
}

// openTask returns the task of the open turn. If the journal doesn't know it, its key finds it.
func (s *chatSession) openTask(ctx context.Context) (string, error) {
	id, err := submit.ByKey(s.service.Journal, s.talk.Open.Key)
	if err != nil {
		return "", err
	}
	if entry, err := s.service.Journal.Peek(id); err == nil && entry.TaskID != "" {
		return entry.TaskID, nil
	}
	sub, _, err := s.submission(ctx, nil)
	if err != nil {
		return "", err
	}
	s.resumed = true
	made, err := sub.Create(ctx, 0)
	if err != nil {
		return "", sub.SettleAlone(err)
	}
	_ = sub.SettleAlone(&submit.LeftRunningError{TaskID: made.ID, Cause: context.Canceled}) // it stays for finish
	return made.ID, nil
}

// begin begins another conversation.
func (s *chatSession) begin(context.Context, string) error {
	if s.talk.Kept() {
		s.farewell()
	}
	settings := s.talk.Settings
	err := s.talk.Close()
	s.talk, s.paused, s.resumed, s.files = s.store.New(settings), false, false, nil
	return err
}

func (s *chatSession) list(context.Context, string) error {
	all, err := s.t.chats(s.store)
	if err != nil || len(all) == 0 {
		return err
	}
	return listChats(s.t, all, time.Now())
}
