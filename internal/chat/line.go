package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"unitask/internal/journal"
)

const version = 1

// line is one line of a file; exactly one member is set.
type line struct {
	Head     *headLine   `json:"head,omitempty"`
	Settings *Settings   `json:"settings,omitempty"`
	Turn     *turnLine   `json:"turn,omitempty"`
	Answer   *answerLine `json:"answer,omitempty"`
	Failed   *failedLine `json:"failed,omitempty"`
	Undo     int         `json:"undo,omitempty"` // how many of the last turns are taken back
}

// headLine is the first line.
type headLine struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Title   string    `json:"title"`
	Settings
}

// turnLine begins a turn. Its messages are in pieces if bytes of files belong to them.
type turnLine struct {
	Key      string          `json:"key"`
	At       time.Time       `json:"at"`
	Place    Place           `json:"place"`
	Messages json.RawMessage `json:"messages,omitempty"`
	Pieces   []journal.Piece `json:"pieces,omitempty"`
}

type answerLine struct {
	Key string `json:"key"`
	Answer
}

type failedLine struct {
	Key string `json:"key"`
	Failure
}

// DamagedError reports a file that can't be read as a conversation.
type DamagedError struct{ cause error }

// Error describes the fault without the content.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("the file of the conversation is damaged: %v", e.cause)
}

// Unwrap returns the fault.
func (e *DamagedError) Unwrap() error { return e.cause }

func encode(l line) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(l) // ends the line
	return out.Bytes(), err
}

// decode reads a file. A last line without an end is ignored: it was being written when its process ended.
func (c *Conversation) decode(raw []byte) error {
	n := 0
	for one := range bytes.Lines(raw[:bytes.LastIndexByte(raw, '\n')+1]) {
		n++
		var l line
		if err := json.Unmarshal(one, &l); err != nil {
			return &DamagedError{fmt.Errorf("line %d can't be read", n)}
		}
		if (l.Head != nil) != (n == 1) {
			return &DamagedError{fmt.Errorf("line %d can't stand there", n)}
		}
		if err := c.apply(l); err != nil {
			return &DamagedError{fmt.Errorf("line %d: %w", n, err)}
		}
	}
	if n == 0 {
		return &DamagedError{errors.New("it has no head")}
	}
	return nil
}

// apply takes the next line.
func (c *Conversation) apply(l line) error {
	switch {
	case l.Head != nil:
		if l.Head.Version != version {
			return fmt.Errorf("it is of version %d, this program knows %d", l.Head.Version, version)
		}
		c.Created, c.Title, c.Settings = l.Head.Created, l.Head.Title, l.Head.Settings
	case l.Settings != nil:
		c.Settings, c.Failed = *l.Settings, c.Failed.unlike()
	case l.Turn != nil:
		return c.applyTurn(l.Turn)
	case l.Answer != nil:
		if c.Open == nil || c.Open.Key != l.Answer.Key || l.Answer.Output == nil {
			return errors.New("it answers no open turn")
		}
		c.Open.Answer = &l.Answer.Answer
		c.Turns, c.Open = append(c.Turns, *c.Open), nil
		c.end(l.Answer.TaskID, l.Answer.Usage)
	case l.Failed != nil:
		if c.Open == nil || c.Open.Key != l.Failed.Key {
			return errors.New("it ends no open turn")
		}
		c.Open.Failure = &l.Failed.Failure
		c.Failed, c.Open = c.Open, nil
		if l.Failed.TaskID != "" {
			c.end(l.Failed.TaskID, l.Failed.Usage)
		}
	case l.Undo > 0:
		if l.Undo > len(c.Turns) || c.Open != nil {
			return errors.New("it takes back more than there is")
		}
		c.Turns, c.Failed = c.Turns[:len(c.Turns)-l.Undo], c.Failed.unlike()
	}
	return nil
}

func (c *Conversation) applyTurn(l *turnLine) error {
	pieces := l.Pieces
	if l.Messages != nil {
		pieces = []journal.Piece{{Text: string(l.Messages)}}
	}
	t := &Turn{Key: l.Key, At: l.At, Place: l.Place, pieces: pieces}
	if c.Open != nil || l.Key == "" || l.Place.BaseURL == "" || !journal.Sound(pieces) || len(t.messages()) == 0 {
		return errors.New("it begins no turn")
	}
	c.Open, c.Failed = t, nil
	return nil
}
