package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"unitask/internal/fault"
	"unitask/internal/jsonread"
)

// conversationAnnotation is the member of an input's schema which says that its value is a list of messages {role,
// content} that all suppliers can take: those of role system come first, but not alone, and only those of role user
// have parts that are media.
const conversationAnnotation = "x-conversation"

// The values of a message's members that its place depends on.
const (
	roleUser   = "user"
	roleSystem = "system"
	partText   = "text"
)

// maxConversationMedia is how many media a conversation may have: as many as suppliers take in one request.
const maxConversationMedia = 100

// conversationRows returns what is wrong with the conversations of an input that is valid otherwise. A plain one isn't
// read: its canonical form shows that there is nothing to look at.
func (e *compiled) conversationRows(input json.RawMessage) (rows []fault.Detail) {
	special := bytes.Contains(input, []byte(`"role":"`+roleSystem+`"`)) || bytes.Contains(input, []byte(`"content":[`))
	if len(e.conversations) == 0 || !special {
		return nil
	}
	in := jsonread.New(input)
	for m := in.Among(e.conversations...); m.Next(); {
		c := conversation{name: m.Name}
		for in.Open('['); in.More(']'); c.messages++ {
			c.message(&in)
		}
		c.finish()
		rows = append(rows, c.rows...)
	}
	return rows
}

// conversation collects what is wrong with one.
type conversation struct {
	name     string
	messages int
	talks    bool // a message that isn't the system's has come
	media    int
	rows     []fault.Detail
}

func (c *conversation) row(problem string, at ...string) {
	c.rows = append(c.rows, fault.Detail{Field: fieldPath(append([]string{GroupInput, c.name}, at...)...), Message: problem})
}

// message reads the next message.
func (c *conversation) message(in *jsonread.Reader) {
	var role string
	var content []byte
	for m := in.Among("content", "role"); m.Next(); {
		switch m.Name {
		case "content":
			content = in.Value()
		case "role":
			_, text := in.Text()
			role = string(text)
		}
	}
	at := strconv.Itoa(c.messages)
	switch {
	case role != roleSystem:
		c.talks = true
	case c.talks:
		c.row("can't be system after a message of another role", at, "role")
	}
	if len(content) == 0 || content[0] != '[' {
		return
	}
	parts := jsonread.New(content)
	parts.Open('[')
	for i := 0; parts.More(']'); i++ {
		kind := typeOf(&parts)
		if kind == partText {
			continue
		}
		if c.media++; role != roleUser {
			c.row("can't be part of a message of "+role, at, "content", strconv.Itoa(i), kind)
		}
	}
}

// typeOf reads a part and returns its type.
func typeOf(in *jsonread.Reader) (kind string) {
	for m := in.Among("type"); m.Next(); {
		_, text := in.Text()
		kind = string(text)
	}
	return kind
}

func (c *conversation) finish() {
	if !c.talks {
		c.row("must have a message of another role than system")
	}
	if c.media > maxConversationMedia {
		c.row(fmt.Sprintf("must have at most %d parts that aren't texts", maxConversationMedia))
	}
}
