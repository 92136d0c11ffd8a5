package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/chat"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/submit"
)

func newChatContinueCmd(t *terminal) *cobra.Command {
	var o chatOptions
	var name string
	cmd := &cobra.Command{
		Use:   "continue [ID] [PROMPT] [@FILE ...]",
		Short: "Go on with a conversation: an answer that is still missing comes first",
		Long: `Go on with a conversation, by default with the one that changed last; the beginning of its id suffices, with
chat_.

If its last message has no answer yet, because the client was killed or interrupted, that answer comes first: the same
request under the same key is the same task.`,
		Example: `  unitask chat continue
  unitask chat continue "And then?"
  unitask chat continue chat_06gztwr81b "What is on this picture?" @shore.jpg`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeChats,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.words = args; len(args) > 0 && strings.HasPrefix(args[0], chat.Prefix) {
				name, o.words = args[0], args[1:]
			}
			return chatContinueRun(cmd.Context(), t, &o, name)
		},
	}
	o.add(cmd)
	return cmd
}

func chatContinueRun(ctx context.Context, t *terminal, o *chatOptions, name string) error {
	talk, err := takeChat(chat.Open(journal.StateDir()), name)
	if err != nil {
		return err
	}
	defer func() { _ = talk.Close() }()
	s, err := o.session(ctx, t)
	if err != nil {
		return err
	}
	s.talk = talk
	if err := s.owns(o.choice.Profile+o.choice.BaseURL+o.choice.DataDir != ""); err != nil {
		return err
	}
	if s.entry, err = talking(ctx, s.service, talk.Capability); err != nil {
		return err
	}
	return s.run(ctx, o.words)
}

// owns finds out whether the conversation is with this service. One without an open turn goes on with another one if
// that was named.
func (s *chatSession) owns(named bool) error {
	at := s.talk.Place()
	if at.BaseURL != s.place.BaseURL && (s.talk.Open != nil || !named) {
		flags := submit.FlagsTo(journal.Submission{BaseURL: at.BaseURL, Profile: at.Profile, DataDir: at.DataDir})
		return hint.With(fmt.Errorf("%s is with %s, and this is %s", s.talk.ID, at.BaseURL, s.place.BaseURL), "unitask chat continue "+s.talk.ID+flags)
	}
	if s.talk.Open != nil && at.Mode != "" && s.place.Mode != "" && at.Mode != s.place.Mode {
		return hint.With(fmt.Errorf("the last message of %s was sent with a %s key, and this is a %s key", s.talk.ID, at.Mode, s.place.Mode),
			"UNITASK_API_KEY, --api-key-file or --profile gives another key")
	}
	return nil
}
