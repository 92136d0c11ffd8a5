package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"unitask/internal/api"
	"unitask/internal/disk"
	"unitask/internal/journal"
)

// Conversation is turns and the settings of the next one. One that was taken is locked by this process until Close. It
// is used by one goroutine.
type Conversation struct {
	ID      string
	Created time.Time
	Changed time.Time // zero for a new one
	Title   string    // the first words
	Settings

	Turns  []Turn // with their answers
	Open   *Turn  // whose end isn't known; nil without one
	Failed *Turn  // the last one, if it failed; nil else

	ended map[string]*api.Usage // of tasks, by their ids
	store *Store
	file  *os.File // nil before the first turn
}

// Set changes the settings of the next turn.
func (c *Conversation) Set(s Settings) error {
	if c.file == nil {
		c.Settings = s
		return nil
	}
	return c.write(line{Settings: &s})
}

// Ask begins a turn: it is durable when Ask returns. messages are those of the person or the results of tools; files are
// those whose bytes stand in them.
func (c *Conversation) Ask(key string, at Place, messages []json.RawMessage, files []journal.File) error {
	raw, err := json.Marshal(messages)
	if err != nil {
		return err
	}
	return c.ask(key, at, journal.Split(string(raw), files))
}

// AskAgain begins a turn with the messages of another one.
func (c *Conversation) AskAgain(key string, at Place, former *Turn) error {
	if err := c.ask(key, at, former.pieces); err != nil {
		return err
	}
	c.Open.Again = key == former.Key
	return nil
}

func (c *Conversation) ask(key string, at Place, pieces []journal.Piece) error {
	l := turnLine{Key: key, At: time.Now().UTC().Truncate(time.Second), Place: at, Pieces: pieces}
	if len(pieces) == 1 && pieces[0].File == "" {
		l.Messages, l.Pieces = json.RawMessage(pieces[0].Text), nil
	}
	if c.file == nil {
		first := Turn{pieces: pieces}
		if err := c.create(titleOf(first.Said())); err != nil {
			return err
		}
	}
	return c.write(line{Turn: &l})
}

// Answered ends the open turn with its task's result.
func (c *Conversation) Answered(done api.Task) error {
	out := Answer{TaskID: done.ID, At: time.Now().UTC().Truncate(time.Second), Output: done.Output, Usage: done.Usage}
	if out.Output == nil {
		out.Output = &api.Output{}
	}
	return c.write(line{Answer: &answerLine{Key: c.Open.Key, Answer: out}})
}

// Fail ends the open turn without an answer: the conversation is as it was before it.
func (c *Conversation) Fail(why Failure) error {
	return c.write(line{Failed: &failedLine{Key: c.Open.Key, Failure: why}})
}

// Undo takes the last n turns back.
func (c *Conversation) Undo(n int) error { return c.write(line{Undo: n}) }

// Calls returns the tool calls of the last answer, which wait for their results.
func (c *Conversation) Calls() []Call {
	if len(c.Turns) == 0 || c.Open != nil {
		return nil
	}
	var calls []Call
	for _, one := range c.Turns[len(c.Turns)-1].Answer.Output.ToolCalls {
		calls = append(calls, Call{ID: one.ID, Name: one.Name, Arguments: one.Arguments})
	}
	return calls
}

// Call is a tool call of the model.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// Result returns the message with the result of a call.
func (c Call) Result(text string) (json.RawMessage, error) {
	return json.Marshal(struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		CallID  string `json:"tool_call_id"`
	}{"tool", text, c.ID})
}

// Request returns the JSON of the open turn's request and the files whose bytes stand in it. It returns
// *journal.ChangedError if one of them has changed.
func (c *Conversation) Request() ([]byte, []journal.File, error) {
	var input struct {
		Messages []json.RawMessage `json:"messages"`
		System   string            `json:"system,omitempty"`
	}
	input.System = c.System
	var files []journal.File
	for _, t := range append(c.Turns[:len(c.Turns):len(c.Turns)], *c.Open) {
		raw, read, err := journal.Join(t.pieces)
		if err != nil {
			return nil, nil, err
		}
		var messages []json.RawMessage
		if err := json.Unmarshal(raw, &messages); err != nil {
			return nil, nil, &DamagedError{errors.New("a message can't be read")}
		}
		input.Messages, files = append(input.Messages, messages...), append(files, read...)
		if t.Answer == nil {
			continue
		}
		said, err := t.Answer.message()
		if err != nil {
			return nil, nil, err
		}
		if said != nil {
			input.Messages = append(input.Messages, said)
		}
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, nil, err
	}
	body, err := json.Marshal(api.CreateRequest{Capability: c.Capability, Input: raw, Parameters: c.Parameters})
	return body, files, err
}

// Last returns the text of the last answer.
func (c *Conversation) Last() (string, bool) {
	if len(c.Turns) == 0 || c.Turns[len(c.Turns)-1].Answer.Output.Text == nil {
		return "", false
	}
	return *c.Turns[len(c.Turns)-1].Answer.Output.Text, true
}

// Place returns the service of the last turn, zero without one.
func (c *Conversation) Place() Place {
	switch {
	case c.Open != nil:
		return c.Open.Place
	case c.Failed != nil:
		return c.Failed.Place
	case len(c.Turns) > 0:
		return c.Turns[len(c.Turns)-1].Place
	default:
		return Place{}
	}
}

// Kept reports whether the conversation has a file.
func (c *Conversation) Kept() bool { return c.file != nil }

// Close gives up the lock.
func (c *Conversation) Close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// create makes the file with its head.
func (c *Conversation) create(title string) error {
	head, err := encode(line{Head: &headLine{Version: version, ID: c.ID, Created: c.Created, Title: title, Settings: c.Settings}})
	if err != nil {
		return err
	}
	if err := disk.MakeDir(c.store.dir); err != nil {
		return err
	}
	f, err := os.OpenFile(c.store.Path(c.ID), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = disk.LockNamed(f); err == nil {
		err = c.store.append(f, head)
	}
	if err = errors.Join(err, disk.SyncDir(c.store.dir)); err != nil {
		return errors.Join(err, disk.RemoveLocked(f)) // without a head it is damaged
	}
	c.file, c.Title = f, title
	return nil
}

// write appends a line durably and takes it.
func (c *Conversation) write(l line) error {
	raw, err := encode(l)
	if err != nil {
		return err
	}
	var again line // as another process will read it
	if err := json.Unmarshal(raw, &again); err != nil {
		return err
	}
	before, err := c.file.Stat()
	if err != nil {
		return err
	}
	if err := c.store.append(c.file, raw); err != nil {
		return errors.Join(err, c.file.Truncate(before.Size())) // the line, or a part of it, may be there
	}
	c.Changed = time.Now()
	return c.apply(again)
}

// endLine drops a last line that isn't whole.
func (c *Conversation) endLine() error {
	raw, err := os.ReadFile(c.file.Name())
	if err != nil || len(raw) == 0 || raw[len(raw)-1] == '\n' {
		return err
	}
	return c.file.Truncate(int64(bytes.LastIndexByte(raw, '\n') + 1))
}

// unlike is a failed turn that no longer has the request that failed.
func (t *Turn) unlike() *Turn {
	if t == nil {
		return nil
	}
	other, why := *t, *t.Failure
	why.Retryable = false
	other.Failure = &why
	return &other
}

// longestTitle bounds a title, in characters.
const longestTitle = 60

// titleOf returns the first words that were said.
func titleOf(all []Said) string {
	for _, m := range all {
		words := strings.Join(strings.Fields(m.Text), " ")
		if words == "" {
			continue
		}
		if utf8.RuneCountInString(words) <= longestTitle {
			return words
		}
		cut := string([]rune(words)[:longestTitle])
		if at := strings.LastIndexByte(cut, ' '); at > longestTitle/2 {
			cut = cut[:at]
		}
		return cut + "…"
	}
	return ""
}
