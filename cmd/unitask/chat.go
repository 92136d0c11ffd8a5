package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"unitask/internal/submit/talk"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/arguments"
	"unitask/internal/catalog"
	"unitask/internal/chat"
	"unitask/internal/form"
	"unitask/internal/hint"
	"unitask/internal/journal"
)

const chatLong = `Talk with a model: each message goes out with the conversation before it, and the answer is printed as it comes.

On a terminal the next message is asked for after each answer; /help lists the commands. Without one the message is
PROMPT with what stdin has, and the command ends with the answer; "unitask chat continue" goes on.

The conversation is kept on this machine, in a file that is the user's alone, with each message before it is sent. So a
client that is killed or interrupted gets the answer later, by "unitask chat continue", and no task is made or paid for
twice. "unitask chat rm" removes it.

Words name=value are parameters, system=TEXT says how to answer, and @FILE after PROMPT is a file that goes along with it,
as in "unitask run".`

const chatExample = `  unitask chat
  unitask chat "Who was Tycho Brahe?" max_output_tokens=4000
  unitask chat --tools tools.json "What is the weather in Lund?"
  unitask chat "What changed?" < changes.diff`

type chatOptions struct {
	clientFlags
	capability string
	system     string
	tools      string
	words      []string
}

func newChatCmd(t *terminal) *cobra.Command {
	var o chatOptions
	cmd := &cobra.Command{
		Use:     "chat [PROMPT] [name=value ...]",
		Short:   "Have a conversation, which is kept on this machine",
		Long:    chatLong,
		Example: chatExample,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			if err := misspelt(cmd, args); err != nil {
				return err
			}
			return chatRun(cmd.Context(), t, &o)
		},
	}
	cmd.Flags().StringVar(&o.capability, "capability", string(catalog.TextChat), "talk by this `capability`")
	cmd.Flags().StringVar(&o.system, "system", "", "the `text` that says how to answer, or @FILE")
	cmd.Flags().StringVar(&o.tools, "tools", "", "a `file` with the tools that the model may call, as JSON; you type their results")
	_ = cmd.MarkFlagFilename("tools", "json")
	_ = cmd.RegisterFlagCompletionFunc("capability", completeRun(t, &o.clientFlags))
	o.add(cmd)
	cmd.AddCommand(newChatContinueCmd(t), newChatListCmd(t), newChatShowCmd(t), newChatRmCmd(t))
	passFlags(cmd)
	return cmd
}

// misspelt tells a single word that is a slip of a command of chat from a message, which would be sent and paid for.
// Words that are merely alike, such as last and shop, are messages.
func misspelt(cmd *cobra.Command, words []string) error {
	if len(words) != 1 || !slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return slipOf(c.Name(), words[0]) }) {
		return nil
	}
	wrong, ok := errors.AsType[*hint.UsageError](helpOrUnknown(cmd, words))
	if !ok {
		return nil
	}
	wrong.Hint += "; a message of one word is typed after unitask chat"
	return wrong
}

// slipOf reports whether a word is a name of four letters or more but for one letter that is left out, or for two
// neighbours that have changed places. The first letter is right.
func slipOf(name, word string) bool {
	if len(name) < 4 || !strings.HasPrefix(word, name[:1]) {
		return false
	}
	for i := 1; i < len(name); i++ {
		if word == name[:i]+name[i+1:] || i > 1 && word == name[:i-1]+name[i:i+1]+name[i-1:i]+name[i+1:] {
			return true
		}
	}
	return false
}

func chatRun(ctx context.Context, t *terminal, o *chatOptions) error {
	s, err := o.session(ctx, t)
	if err != nil {
		return err
	}
	if s.Entry, err = talking(ctx, s.Service, o.capability); err != nil {
		return err
	}
	settings := chat.Settings{Capability: string(s.Entry.Name)}
	var said []string
	for _, word := range o.flagged() {
		if arguments.Parse(word).Name == "" {
			said = append(said, word)
		} else if settings, err = s.fitSetting(settings, word); err != nil {
			return err
		}
	}
	s.Talk = s.Store.New(settings)
	defer func() { _ = s.Talk.Close() }()
	return s.run(ctx, said)
}

// flagged are the words, with those that the flags stand for.
func (o *chatOptions) flagged() []string {
	words := slices.Clone(o.words)
	if o.system != "" {
		words = append(words, "system="+o.system)
	}
	if o.tools != "" {
		words = append(words, catalog.Tools+"=@"+strings.TrimPrefix(o.tools, "@"))
	}
	return words
}

// session reaches the service.
func (o *chatOptions) session(ctx context.Context, t *terminal) (*chatSession, error) {
	if o.keyFile == "-" {
		return nil, &hint.UsageError{Message: "--api-key-file - reads stdin, which has the messages here", Hint: "unitask login keeps a key"}
	}
	s := &chatSession{t: t, flags: &o.clientFlags, Session: talk.Session{Store: chat.Open(journal.StateDir()), Describe: describe}}
	var err error
	if s.Service, err = o.reach(ctx, t, s.retry); err != nil {
		return nil, err
	}
	s.Place, err = talk.PlaceOf(ctx, s.Service)
	return s, err
}

// capabilitiesOf is how a service's directory is read.
type capabilitiesOf interface {
	Capabilities(ctx context.Context) ([]api.Capability, error)
}

// talking finds a capability that takes a conversation.
func talking(ctx context.Context, c capabilitiesOf, name string) (api.Capability, error) {
	all, err := c.Capabilities(ctx)
	if err != nil {
		return api.Capability{}, err
	}
	if len(all) == 0 {
		return api.Capability{}, &hint.UsageError{Message: opensNothing, Hint: "unitask suppliers, on the server's machine, says which supplier is live and why others aren't"}
	}
	entry, err := pick(all, name, "this key opens no capability")
	if err != nil || talk.Takes(entry) {
		return entry, err
	}
	var others []string
	for _, one := range all {
		if talk.Takes(one) {
			others = append(others, string(one.Name))
		}
	}
	message := fmt.Sprintf("%s takes no conversation", name)
	if len(others) > 0 {
		message += "; " + form.AnyOf(others) + " does"
	}
	return entry, &hint.UsageError{Message: message, Hint: "unitask run " + name}
}

// takeChat locks the conversation that a person means; "" is the newest.
func takeChat(store *chat.Store, name string) (*chat.Conversation, error) {
	id, err := store.Find(name)
	if err != nil {
		return nil, hint.With(err, "unitask chat list")
	}
	c, err := store.Take(id)
	switch {
	case errors.Is(err, chat.ErrBusy):
		return nil, fmt.Errorf("another unitask has %s open", id)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	return c, nil
}
