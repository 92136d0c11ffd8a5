package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/chat"
	"unitask/internal/hint"
	"unitask/internal/journal"
)

func newChatContinueCmd(t *terminal) *cobra.Command {
	var o chatOptions
	var name string
	cmd := &cobra.Command{
		Use:   "continue [ID] [PROMPT] [@FILE ...]",
		Short: "Go on with a conversation: an answer that is still missing comes first",
		Long: `Go on with a conversation, by default with the one that changed last; the beginning of its id suffices, with
chat_. A first word of letters, digits, - and _ alone is always an id: a misspelt one isn't sent as a message.

If its last message has no answer yet, because the client was killed or interrupted, that answer comes first: the same
request under the same key is the same task.`,
		Example: `  unitask chat continue
  unitask chat continue "And then?"
  unitask chat continue chat_06gztwr81b "What is on this picture?" @shore.jpg`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeChats,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.words = args; len(args) > 0 && likeID(args[0]) {
				name, o.words = args[0], args[1:]
			}
			if !strings.HasPrefix(name, chat.Prefix) && name != "" {
				return &hint.UsageError{
					Message: "no conversation is called " + name,
					Hint:    "unitask chat list shows their ids; a message of one word is typed after unitask chat continue, or stands behind an id",
				}
			}
			return chatContinueRun(cmd.Context(), t, &o, name)
		},
	}
	o.add(cmd)
	return cmd
}

// likeID reports whether a word may be an id, as written or misspelt, rather than a message or a file of one.
func likeID(word string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	return word != "" && !strings.ContainsFunc(word, other)
}

func chatContinueRun(ctx context.Context, t *terminal, o *chatOptions, name string) error {
	taken, err := takeChat(chat.Open(journal.StateDir()), name)
	if err != nil {
		return err
	}
	defer func() { _ = taken.Close() }()
	s, err := o.session(ctx, t)
	if err != nil {
		return err
	}
	s.Talk = taken
	if err := s.Owns(o.choice.Profile+o.choice.BaseURL+o.choice.DataDir != ""); err != nil {
		return err
	}
	if s.Entry, err = talking(ctx, s.Service, taken.Capability); err != nil {
		return err
	}
	return s.run(ctx, o.words)
}
