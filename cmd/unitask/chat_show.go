package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/chat"
	"unitask/internal/hint"
	"unitask/internal/journal"
)

// chatShown is a whole conversation as JSON.
type chatShown struct {
	chatInfo

	System     string          `json:"system,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Messages   []chat.Said     `json:"messages"`
}

func newChatShowCmd(t *terminal) *cobra.Command {
	var asJSON bool
	var name string
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Print a conversation, by default the one that changed last",
		Example: `  unitask chat show
  unitask chat show chat_06gztwr81b --json | jq -r '.messages[-1].text'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeChats,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				name = args[0]
			}
			return chatShowRun(t, name, asJSON)
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func chatShowRun(t *terminal, name string, asJSON bool) error {
	store := chat.Open(journal.StateDir())
	id, err := store.Find(name)
	if err != nil {
		return hint.With(err, "unitask chat list")
	}
	c, err := store.Peek(id)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	messages := []chat.Said{}
	for _, turn := range c.Turns {
		messages = append(messages, turn.Said()...)
	}
	if c.Open != nil {
		messages = append(messages, c.Open.Said()...)
	}
	if asJSON {
		return t.json(chatShown{infoOf(c), c.System, c.Parameters, messages})
	}
	if c.System != "" {
		messages = append([]chat.Said{{Role: "system", Text: c.System}}, messages...)
	}
	for i, m := range messages {
		if err := t.showSaid(m, i > 0); err != nil {
			return err
		}
	}
	if c.Open != nil {
		t.note("the last message has no answer yet: unitask chat continue %s shows it", id)
	}
	return nil
}

// showSaid prints a message under the role of its author.
func (t *terminal) showSaid(m chat.Said, below bool) error {
	var out strings.Builder
	if below {
		out.WriteByte('\n')
	}
	out.WriteString(t.style.bold.Render(m.Role+":") + "\n")
	if text := strings.TrimRight(m.Text, "\n"); text != "" {
		out.WriteString(t.safe(text) + "\n")
	}
	for _, file := range m.Files {
		out.WriteString(oneLine("@"+file) + "\n")
	}
	for _, call := range m.Calls {
		out.WriteString(oneLine(call.Name+"("+string(call.Arguments)+")") + "\n")
	}
	_, err := io.WriteString(t.out, out.String())
	return err
}
