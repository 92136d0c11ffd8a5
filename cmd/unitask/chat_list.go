package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/chat"
	"unitask/internal/hint"
	"unitask/internal/journal"
)

// chatInfo is a conversation in a list.
type chatInfo struct {
	ID         string        `json:"id"`
	Title      string        `json:"title"`
	CreatedAt  api.Timestamp `json:"created_at"`
	ChangedAt  api.Timestamp `json:"changed_at"`
	Turns      int           `json:"turns"`
	Unanswered bool          `json:"unanswered,omitempty"` // the last message waits for its answer
	Capability string        `json:"capability"`
	BaseURL    string        `json:"base_url"`
	Profile    string        `json:"profile,omitempty"`
	Cost       api.Cost      `json:"cost"`
}

func infoOf(c *chat.Conversation) chatInfo {
	at := c.Place()
	return chatInfo{
		ID: c.ID, Title: c.Title, CreatedAt: api.Timestamp{Time: c.Created}, ChangedAt: api.Timestamp{Time: c.Changed.UTC()},
		Turns: len(c.Turns), Unanswered: c.Open != nil, Capability: c.Capability, BaseURL: at.BaseURL, Profile: at.Profile,
		Cost: api.Cost{Currency: "USD", Amount: c.Spent().Cost.String()},
	}
}

func newChatListCmd(t *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: tabled,
		Aliases:     []string{"ls"},
		Short:       "List the conversations of this machine, the one that changed last first",
		Example: `  unitask chat list
  unitask chat list --json | jq -r '.[].title'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return chatListRun(t, asJSON) },
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func chatListRun(t *terminal, asJSON bool) error {
	all, err := t.chats(chat.Open(journal.StateDir()))
	if err != nil {
		return err
	}
	if asJSON {
		return t.json(all)
	}
	if len(all) == 0 {
		t.note("no conversations; unitask chat begins one")
	}
	if len(all) == 0 && t.format != formatCSV {
		return nil
	}
	return listChats(t, all, time.Now())
}

// chats reads the conversations of this machine, and notes those that are damaged.
func (t *terminal) chats(store *chat.Store) ([]chatInfo, error) {
	ids, err := store.List()
	all := []chatInfo{}
	for _, id := range ids {
		c, err := store.Peek(id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
		case err != nil:
			t.note("%s: %v", id, err)
		default:
			all = append(all, infoOf(c))
		}
	}
	return all, err
}

func listChats(t *terminal, all []chatInfo, now time.Time) error {
	b := table{header: []string{"ID", "TITLE", "CHANGED", "TURNS", "SERVICE"}, spare: []string{"SERVICE", "TURNS"}}
	for _, one := range all {
		service := one.BaseURL
		if one.Profile != "" {
			service = one.Profile
		}
		turns := strconv.Itoa(one.Turns)
		human := turns
		if one.Unanswered {
			human += ", 1 open"
		}
		b.row(same(one.ID), same(one.Title), when(&one.ChangedAt, now), cell{human: human, plain: turns}, cell{human: service, plain: one.BaseURL})
	}
	return b.write(t)
}

func newChatRmCmd(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "rm ID...",
		Short: "Remove conversations from this machine; their tasks stay with the service",
		Example: `  unitask chat rm chat_06gztwr81bcb6csfsxswat9e1m
  unitask chat rm chat_06gztwr81b chat_06gztvsd02`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeChats,
		RunE:              func(_ *cobra.Command, args []string) error { return chatRmRun(t, args) },
	}
}

func chatRmRun(t *terminal, names []string) error {
	store := chat.Open(journal.StateDir())
	var ids []string
	for _, name := range names {
		id, err := store.Find(name)
		if err != nil {
			return hint.With(err, "unitask chat list")
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		err := store.Remove(id)
		switch {
		case errors.Is(err, chat.ErrBusy):
			return fmt.Errorf("another unitask has %s open", id)
		case err != nil && !errors.Is(err, fs.ErrNotExist): // named twice
			return err
		}
		t.note("removed %s", id)
	}
	return nil
}

// completeChats completes the ids of conversations, with their titles.
func completeChats(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	store := chat.Open(journal.StateDir())
	ids, _ := store.List() // else there is no completion
	var all []string
	for _, id := range ids {
		if c, err := store.Peek(id); err == nil {
			all = append(all, cobra.CompletionWithDesc(id, oneLine(c.Title)))
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
