package tui

import (
	"slices"
	"strings"

	"unitask/internal/chat"
)

// outgoing is a message that has left the entry: on its way into the conversation, or kept until that is open again.
type outgoing struct {
	write editor
	files []string // the lines that name them
}

// takeOut takes the message out of the entry, where the next one may be written.
func (p *talkPane) takeOut() outgoing {
	o := outgoing{p.write, p.files.written()}
	p.write, p.up = editor{lines: true}, 0
	p.files.write("")
	return o
}

// takeBack puts a message that isn't in the conversation back, before the words and files written since.
func (p *talkPane) takeBack(o outgoing) {
	next := p.write.value()
	p.write = o.write
	p.write.lines = true
	if next != "" {
		p.write.at = len(p.write.clusters)
		if !p.write.empty() {
			next = "\n" + next
		}
		p.write.insert(next)
	}
	files := o.files
	for _, l := range p.files.written() {
		if !slices.Contains(files, l) {
			files = append(files, l)
		}
	}
	p.files.write(strings.Join(files, "\n"))
}

// message is the outgoing one as the conversation has it later.
func (o *outgoing) message() chat.Said {
	m := chat.Said{Role: roleUser, Text: o.write.value()}
	for _, l := range o.files {
		m.Files = append(m.Files, strings.TrimPrefix(l, "@"))
	}
	return m
}

// drafts are the messages that were being written in conversations that were left, by their ids: that of one without a
// message, which is in no list, is "".
type drafts map[string]outgoing

func draftOf(v chat.View) string {
	if v.Changed.IsZero() && len(v.Messages) == 0 {
		return ""
	}
	return v.ID
}

// take returns a conversation's draft, which is kept no longer.
func (d drafts) take(v chat.View) outgoing {
	o := d[draftOf(v)]
	delete(d, draftOf(v))
	return o
}

// empty leaves the conversation. It reports whether there is a draft, which is kept until the dashboard ends
// or goes over to another profile.
func (p *talkPane) empty() (kept bool) {
	if p.drafts == nil {
		p.drafts = drafts{}
	}
	o := p.takeOut()
	if kept = !o.write.empty() || len(o.files) > 0; kept {
		p.drafts[draftOf(p.view)] = o
	}
	*p = talkPane{list: p.list, from: p.from, drafts: p.drafts}
	return kept
}
