package catalog

import (
	"bytes"
	"encoding/json"
	"slices"

	"unitask/internal/bulk"
	"unitask/internal/jsonread"
)

const (
	plainDepth  = 32
	mostPlain   = maxTokens - 16 // names and values of input and parameters: the top level has a few more
	mostOrdered = 16             // members of an object
	firstRoom   = 4 << 10        // bytes that are taken before it is known whether a body is plain
)

// decodePlain is decode for ordinary bodies: sound, and in canonical form but for white space and the order of
// members. A body that it doesn't take may be valid all the same.
func decodePlain(body []byte, lim Limits) (Request, bool) {
	depth := plainDepth
	if lim.Depth > 0 {
		depth = min(depth, lim.Depth)
	}
	p := plain{in: jsonread.New(body), size: len(body), out: make([]byte, 0, min(len(body), firstRoom))}
	var r Request
	for m := p.in.Only("capability", "input", "parameters"); m.Next(); {
		switch m.Name {
		case "capability":
			_, says := p.in.Text()
			r.Capability = Name(says)
		case "input":
			r.Input = p.part(depth - 1)
		case "parameters":
			r.Parameters = p.part(depth - 1)
		}
	}
	if !p.in.Done() || r.Capability == "" || r.Input == nil {
		return Request{}, false
	}
	if r.Parameters == nil {
		r.Parameters = json.RawMessage("{}")
	}
	return r, true
}

// plain copies JSON in canonical form. Its reader fails if that takes more than leaving out white space and ordering
// members.
type plain struct {
	in     jsonread.Reader
	out    []byte
	size   int // of the body, and so the most that out can take
	tokens int // names and values, and the ends of arrays and objects
}

// count fails once there are too many names and values.
func (p *plain) count(n int) {
	if p.tokens += n; p.tokens > mostPlain {
		p.in.Fail()
	}
}

func (p *plain) part(depth int) json.RawMessage {
	from := len(p.out)
	p.object(depth)
	return p.out[from:len(p.out):len(p.out)]
}

// value copies a value whose arrays and objects are nested at most so deep.
func (p *plain) value(depth int) {
	p.count(1)
	switch p.in.Peek() {
	case '{':
		p.object(depth)
	case '[':
		p.array(depth)
	case '"':
		raw, how := p.in.Quoted()
		p.keep(raw, how.Canonical)
	case 't', 'f', 'n':
		p.keep(p.in.Value(), true)
	default:
		raw, _, ok := p.in.Number()
		p.keep(raw, ok)
	}
}

// keep copies a value in canonical form.
func (p *plain) keep(raw []byte, canonical bool) {
	if !canonical {
		p.in.Fail()
	}
	if len(raw) > cap(p.out)-len(p.out) {
		p.out = slices.Grow(p.out, p.size-len(p.out))
	}
	p.out = bulk.Append(p.out, raw)
}

// open enters an object or an array that is nested at most so deep.
func (p *plain) open(bracket byte, depth int) {
	if depth == 0 {
		p.in.Fail()
	}
	p.in.Open(bracket)
	p.count(1) // the end
	p.out = append(p.out, bracket)
}

func (p *plain) array(depth int) {
	p.open('[', depth)
	for n := 0; p.in.More(']'); n++ {
		if n > 0 {
			p.out = append(p.out, ',')
		}
		p.value(depth - 1)
	}
	p.out = append(p.out, ']')
}

func (p *plain) object(depth int) {
	p.open('{', depth)
	var members [mostOrdered]span
	n := 0
	for ; p.in.More('}'); n++ {
		p.count(1)
		name, how := p.in.NameQuoted()
		if n == len(members) || name == nil || !how.ASCII || how.Escaped() {
			p.in.Fail()
			return
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		m := span{from: len(p.out)}
		p.out = append(append(p.out, name...), ':')
		m.value = len(p.out)
		p.value(depth - 1)
		m.end = len(p.out)
		members[n] = m
	}
	if !p.order(members[:n]) {
		p.in.Fail()
	}
	p.out = append(p.out, '}')
}

// span is the place of a copied member.
type span struct{ from, value, end int }

func (s span) size() int { return s.end - s.from }

func (p *plain) called(s span) []byte { return p.out[s.from+1 : s.value-len(`":`)] }

// order puts the members that were copied last, all of one object, in the order of their names; false if two have the
// same.
func (p *plain) order(members []span) bool {
	if p.ascend(members) {
		return true
	}
	slices.SortFunc(members, func(a, b span) int { return bytes.Compare(p.called(a), p.called(b)) })
	distinct := p.ascend(members)
	p.place(members)
	return distinct
}

// place moves the members that were copied last to their places in the order given. The largest, which may be most of
// the request, moves once; the others are put aside meanwhile.
func (p *plain) place(members []span) {
	from, largest := members[0].from, 0
	for i, m := range members {
		from = min(from, m.from)
		if m.size() > members[largest].size() {
			largest = i
		}
	}
	var space [512]byte
	aside, to := space[:0], from
	for i, m := range members {
		if i != largest {
			aside = append(aside, p.out[m.from:m.end]...)
		}
		if i < largest {
			to += m.size() + len(",")
		}
	}
	bulk.Move(p.out, to, members[largest].from, members[largest].size())
	at := from
	for i, m := range members {
		if i > 0 {
			p.out[at] = ','
			at++
		}
		if i != largest {
			copy(p.out[at:], aside[:m.size()])
			aside = aside[m.size():]
		}
		at += m.size()
	}
}

func (p *plain) ascend(members []span) bool {
	for i := 1; i < len(members); i++ {
		if bytes.Compare(p.called(members[i-1]), p.called(members[i])) >= 0 {
			return false
		}
	}
	return true
}
