// Package chat keeps conversations on this machine, so that a client that is killed goes on with its conversation, and
// with the task of an answer that it waited for.
//
// It sends no requests. A conversation is one file of its own in a folder that is the user's alone: its first line is
// the head, each later one an event, in their order. A turn's line has its Idempotency-Key and is durable before its
// request may be sent; the turn is open until a line with its answer or its failure follows. The request is a function
// of the lines before it, so that an open turn is sent again byte for byte. Keys of services aren't written. Bytes of
// media that came from a file aren't copied: path and SHA-256 stand for them, as in the journal. The process that works
// on a conversation holds a lock on its file. A file that can't be read is an error of that conversation alone.
package chat

import (
	"encoding/json"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/journal"
	"unitask/internal/task"
)

// Prefix begins the id of each conversation.
const Prefix = "chat_"

// Place is the service that a turn's request is for.
type Place struct {
	BaseURL string `json:"base_url"`
	Profile string `json:"profile,omitempty"`
	DataDir string `json:"data_dir,omitempty"` // of the server on this machine, if it has no profile
	Mode    string `json:"mode,omitempty"`     // of the API key, "" if unknown
}

// Settings hold for the turns after them.
type Settings struct {
	Capability string          `json:"capability"`
	System     string          `json:"system,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Turn is messages of the person and the model's answer.
type Turn struct {
	Key     string
	At      time.Time
	Place   Place
	Answer  *Answer
	Failure *Failure
	Again   bool // another turn was sent under the same key by this process

	pieces []journal.Piece // of the JSON of its messages, a list
}

// Answer is a task's result.
type Answer struct {
	TaskID string      `json:"task_id"`
	At     time.Time   `json:"at"`
	Output *api.Output `json:"output"`
	Usage  *api.Usage  `json:"usage,omitempty"`
}

// Failure is why a turn has no answer.
type Failure struct {
	TaskID    string     `json:"task_id,omitempty"`
	Code      fault.Code `json:"code,omitempty"`
	Message   string     `json:"message,omitempty"`
	Retryable bool       `json:"retryable,omitempty"` // another try under the same key may mend it
	Usage     *api.Usage `json:"usage,omitempty"`
}

// Spent is the work and the cost of all turns, also of those that failed or were undone.
type Spent struct {
	Tasks int
	api.Work
	Cost task.Money
}

// Spent adds up the tasks that have ended. One that was tried again under its key is one.
func (c *Conversation) Spent() Spent {
	s := Spent{Tasks: len(c.ended)}
	for _, u := range c.ended {
		if u == nil {
			continue
		}
		s.Work = s.Add(u.Work)
		if cost, err := task.ParseMoney(u.Cost.Amount); err == nil {
			s.Cost = s.Cost.Add(cost)
		}
	}
	return s
}

// end takes the usage of a task.
func (c *Conversation) end(taskID string, u *api.Usage) {
	if c.ended == nil {
		c.ended = map[string]*api.Usage{}
	}
	c.ended[taskID] = u
}

// Said is a message in the words that a person is shown.
type Said struct {
	Role   string          `json:"role"`
	Text   string          `json:"text"`
	Files  []string        `json:"files,omitempty"` // paths, addresses and ids
	Calls  []task.ToolCall `json:"tool_calls,omitempty"`
	CallID string          `json:"tool_call_id,omitempty"` // of role tool
}

// Said returns the turn's messages and its answer. No file is read for it.
func (t *Turn) Said() []Said {
	var all []Said
	for _, raw := range t.messages() {
		all = append(all, said(raw, t.pieces))
	}
	if t.Answer != nil {
		all = append(all, t.Answer.said())
	}
	return all
}

// Asks reports whether the turn has a message of the person, and not results of tools alone.
func (t *Turn) Asks() bool {
	for _, m := range t.Said() {
		if m.Role == roleUser {
			return true
		}
	}
	return false
}

// messages are the turn's messages; short texts that hold the places of files stand for their bytes.
func (t *Turn) messages() []json.RawMessage {
	var whole strings.Builder
	for i, p := range t.pieces {
		if p.File != "" {
			whole.WriteString(mark(i))
		}
		whole.WriteString(p.Text)
	}
	var all []json.RawMessage
	_ = json.Unmarshal([]byte(whole.String()), &all) // they were checked when they were read
	return all
}

// The members of messages that are read here.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

func (a *Answer) said() Said {
	text := ""
	if a.Output.Text != nil {
		text = *a.Output.Text
	}
	return Said{Role: roleAssistant, Text: text, Calls: a.Output.ToolCalls}
}

// message is the answer as a message of the next request; nil for an empty one, which no request may have.
func (a *Answer) message() (json.RawMessage, error) {
	m := struct {
		Role    string          `json:"role"`
		Content string          `json:"content,omitempty"`
		Calls   []task.ToolCall `json:"tool_calls,omitempty"`
		State   string          `json:"state,omitempty"`
	}{Role: roleAssistant, Calls: a.Output.ToolCalls, State: a.Output.State}
	if a.Output.Text != nil && strings.TrimSpace(*a.Output.Text) != "" {
		m.Content = *a.Output.Text
	}
	if m.Content == "" && len(m.Calls) == 0 {
		return nil, nil
	}
	return json.Marshal(m)
}
