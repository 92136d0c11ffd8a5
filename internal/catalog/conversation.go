package catalog

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"unitask/internal/fault"
	"unitask/internal/jsonread"
)

// conversationAnnotation is the member of an input's schema which says that its value is a list of messages that all
// suppliers can take: those of role system come first, but not alone, only those of role user have parts that are
// media, and each tool call of the assistant is followed by its result.
const conversationAnnotation = "x-conversation"

// The values of a message's members that its place depends on.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
	roleTool      = "tool"
	partText      = "text"
)

// The members of a message.
const (
	memberCalls  = OutputCalls
	memberCallID = "tool_call_id"
	memberState  = "state"
)

// maxConversationMedia is how many media a conversation may have: as many as suppliers take in one request.
const maxConversationMedia = 100

// conversationRows returns what is wrong with the conversations of an input that is valid otherwise. An input without
// any isn't read: its canonical form shows that.
func (e *compiled) conversationRows(r Request) (rows []fault.Detail) {
	if len(e.conversations) == 0 || !bytes.Contains(r.Input, []byte(`"role":"`)) {
		return nil
	}
	in := jsonread.Sound(r.Input).Passing(r.Base64)
	for m := in.Among(e.conversations...); m.Next(); {
		c := conversation{name: m.Name, base64: r.Base64}
		for in.Open('['); in.More(']'); c.messages++ {
			c.message(readMessage(&in))
		}
		c.finish()
		rows = append(rows, c.rows...)
	}
	return rows
}

// message is the part of one that its place depends on.
type message struct {
	role    string
	content []byte
	calls   []byte // nil without any
	callID  string
	state   bool
}

func readMessage(in *jsonread.Reader) (said message) {
	for m := in.Among("content", "role", memberState, memberCallID, memberCalls); m.Next(); {
		switch m.Name {
		case "content":
			said.content = in.Value()
		case "role":
			_, text := in.Text()
			said.role = string(text)
		case memberCallID:
			_, text := in.Text()
			said.callID = string(text)
		case memberCalls:
			said.calls = in.Value()
		default:
			in.Skip()
			said.state = true
		}
	}
	return said
}

// conversation collects what is wrong with one.
type conversation struct {
	name     string
	messages int
	talks    bool // a message that isn't the system's has come
	media    int
	caller   int      // the message of the last tool calls
	open     []string // the ids of those without a result
	ids      map[string]bool
	rows     []fault.Detail
	base64   [][]byte // Request.Base64
}

func (c *conversation) row(problem string, at ...string) {
	c.rows = append(c.rows, fault.Detail{Field: fieldPath(append([]string{GroupInput, c.name}, at...)...), Message: problem})
}

// message takes the next message.
func (c *conversation) message(said message) {
	at := strconv.Itoa(c.messages)
	switch {
	case said.role != roleSystem:
		c.talks = true
	case c.talks:
		c.row("can't be system after a message of another role", at, "role")
	}
	c.members(said, at)
	if said.role == roleTool {
		c.result(said.callID, at)
	} else {
		c.answered()
	}
	if said.calls != nil && said.role == roleAssistant {
		c.call(said.calls, at)
	}
	c.parts(said, at)
}

// members checks that a message has those of its role.
func (c *conversation) members(said message, at string) {
	for _, m := range []struct {
		name, role string
		has        bool
	}{
		{memberCalls, roleAssistant, said.calls != nil},
		{memberState, roleAssistant, said.state},
		{memberCallID, roleTool, said.callID != ""},
	} {
		if m.has && m.role != said.role {
			c.row("can't be part of a message of "+said.role, at, m.name)
		}
	}
	mayBeBlank := said.role == roleTool || said.role == roleAssistant && said.calls != nil
	if !mayBeBlank && IsBlank(said.content) {
		c.row("must not be blank", at, "content")
	}
	if said.role == roleTool && said.callID == "" {
		c.row("is required", at, memberCallID)
	}
}

// IsBlank reports whether a content is a text of white space.
func IsBlank(content []byte) bool {
	if len(content) == 0 || content[0] != '"' {
		return false
	}
	in := jsonread.Sound(content)
	_, says := in.Text()
	return !notBlankPattern{}.Match(says)
}

// call takes the tool calls of a message, each of which needs a result.
func (c *conversation) call(calls []byte, at string) {
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	c.caller = c.messages
	in := jsonread.Sound(calls)
	in.Open('[')
	for i := 0; in.More(']'); i++ {
		for m := in.Among("id"); m.Next(); {
			_, text := in.Text()
			id := string(text)
			if c.ids[id] {
				c.row("must be another one than that of any call before", at, memberCalls, strconv.Itoa(i), "id")
			}
			c.ids[id] = true
			c.open = append(c.open, id)
		}
	}
}

// result takes the result of a tool call.
func (c *conversation) result(id, at string) {
	i := slices.Index(c.open, id)
	if i < 0 {
		if id != "" {
			c.row("must be the id of a tool call in the assistant's message before it that has no result yet", at, memberCallID)
		}
		return
	}
	c.open = slices.Delete(c.open, i, i+1)
}

// answered checks that the tool calls so far have their results.
func (c *conversation) answered() {
	if len(c.open) > 0 {
		c.row("must be followed by the result of each call, in a message of role tool", strconv.Itoa(c.caller), memberCalls)
	}
	c.open = nil
}

// parts takes the parts of a message.
func (c *conversation) parts(said message, at string) {
	if len(said.content) == 0 || said.content[0] != '[' {
		return
	}
	parts := jsonread.Sound(said.content).Passing(c.base64)
	parts.Open('[')
	for i := 0; parts.More(']'); i++ {
		kind := typeOf(&parts)
		if kind == partText {
			continue
		}
		if c.media++; said.role != roleUser {
			c.row("can't be part of a message of "+said.role, at, "content", strconv.Itoa(i), kind)
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
	c.answered()
	if !c.talks {
		c.row("must have a message of another role than system")
	}
	if c.media > maxConversationMedia {
		c.row(fmt.Sprintf("must have at most %d parts that aren't texts", maxConversationMedia))
	}
}
