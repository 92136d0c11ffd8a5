package catalog

import (
	"bytes"
	"encoding/json"
	"slices"

	"unitask/internal/jsonscan"
)

const (
	mostPlain   = maxTokens // bytes: their names and values can't be too many
	plainDepth  = 32
	mostOrdered = 16 // members of an object
)

// decodePlain is decode for what nearly everybody sends: sound, and in canonical form but for white space
// and the order of members. What it doesn't take may be sound all the same.
func decodePlain(body []byte, lim Limits) (Request, bool) {
	if len(body) > mostPlain {
		return Request{}, false
	}
	depth := plainDepth
	if lim.Depth > 0 {
		depth = min(depth, lim.Depth)
	}
	p := plain{in: body, out: make([]byte, 0, len(body))}
	var r Request
	for more := p.next('{'); more; more = p.next(',') {
		if !p.member(&r, depth-1) {
			return Request{}, false
		}
	}
	if !p.next('}') || p.next(0) || p.at < len(body) || r.Capability == "" || r.Input == nil {
		return Request{}, false
	}
	if r.Parameters == nil {
		r.Parameters = json.RawMessage("{}")
	}
	return r, true
}

// plain copies JSON in canonical form. Its methods report false where that takes more than leaving out
// white space and putting members in order.
type plain struct {
	in  []byte
	at  int
	out []byte
}

// member reads one of the top level.
func (p *plain) member(r *Request, depth int) bool {
	name, ok := p.name()
	if !ok {
		return false
	}
	switch string(name) {
	case "capability":
		capability, ok := p.text()
		if !ok || len(capability) == 0 || r.Capability != "" {
			return false
		}
		r.Capability = Name(capability)
		return true
	case "input":
		return r.Input == nil && p.part(&r.Input, depth)
	case "parameters":
		return r.Parameters == nil && p.part(&r.Parameters, depth)
	default:
		return false
	}
}

func (p *plain) part(to *json.RawMessage, depth int) bool {
	from := len(p.out)
	if !p.next('{') || depth == 0 || !p.object(depth-1) {
		return false
	}
	*to = p.out[from:len(p.out):len(p.out)]
	return true
}

// next passes over white space, and over c if that is next.
func (p *plain) next(c byte) bool {
	for p.at < len(p.in) && (p.in[p.at] == ' ' || p.in[p.at] == '\n' || p.in[p.at] == '\r' || p.in[p.at] == '\t') {
		p.at++
	}
	if p.at == len(p.in) || p.in[p.at] != c {
		return false
	}
	p.at++
	return true
}

// text passes over a string and returns what it stands for, which is in ASCII and has no escapes.
func (p *plain) text() ([]byte, bool) {
	if !p.next('"') {
		return nil, false
	}
	end, runes, ok := jsonscan.String(p.in, p.at-1)
	if !ok || p.at+runes+1 != end {
		return nil, false
	}
	text := p.in[p.at : end-1]
	p.at = end
	return text, true
}

func (p *plain) name() ([]byte, bool) {
	name, ok := p.text()
	return name, ok && p.next(':')
}

// value copies a value whose arrays and objects are nested at most so deep.
func (p *plain) value(depth int) bool {
	switch {
	case p.next('{'):
		return depth > 0 && p.object(depth-1)
	case p.next('['):
		return depth > 0 && p.array(depth-1)
	case p.at == len(p.in):
		return false
	}
	var end int
	var ok bool
	switch p.in[p.at] {
	case '"':
		end, _, ok = jsonscan.String(p.in, p.at)
	case 't':
		end, ok = p.word("true")
	case 'f':
		end, ok = p.word("false")
	case 'n':
		end, ok = p.word("null")
	default:
		end, _, ok = jsonscan.Number(p.in, p.at)
	}
	if ok {
		p.out = append(p.out, p.in[p.at:end]...)
		p.at = end
	}
	return ok
}

func (p *plain) word(w string) (end int, ok bool) {
	return p.at + len(w), bytes.HasPrefix(p.in[p.at:], []byte(w))
}

func (p *plain) array(depth int) bool {
	p.out = append(p.out, '[')
	if p.next(']') {
		p.out = append(p.out, ']')
		return true
	}
	for p.value(depth) {
		if !p.next(',') {
			p.out = append(p.out, ']')
			return p.next(']')
		}
		p.out = append(p.out, ',')
	}
	return false
}

func (p *plain) object(depth int) bool {
	p.out = append(p.out, '{')
	if p.next('}') {
		p.out = append(p.out, '}')
		return true
	}
	var members [mostOrdered]span
	for n := range members {
		m := span{from: len(p.out)}
		name, ok := p.name()
		if !ok {
			return false
		}
		p.out = append(append(append(p.out, '"'), name...), '"', ':')
		m.value = len(p.out)
		if !p.value(depth) {
			return false
		}
		m.end = len(p.out)
		members[n] = m
		if !p.next(',') {
			ordered := p.order(members[:n+1])
			p.out = append(p.out, '}')
			return ordered && p.next('}')
		}
		p.out = append(p.out, ',')
	}
	return false
}

// span is where a member was copied to.
type span struct{ from, value, end int }

func (p *plain) called(s span) []byte { return p.out[s.from+1 : s.value-len(`":`)] }

// order puts the members that were copied last, all of one object, in the order of their names; false
// where two have one.
func (p *plain) order(members []span) bool {
	if p.ascend(members) {
		return true
	}
	slices.SortFunc(members, func(a, b span) int { return bytes.Compare(p.called(a), p.called(b)) })
	distinct := p.ascend(members)
	from, end := len(p.out), len(p.out)
	for _, m := range members {
		from = min(from, m.from)
		p.out = append(append(p.out, p.out[m.from:m.end]...), ',')
	}
	p.out = p.out[:from+copy(p.out[from:end], p.out[end:])]
	return distinct
}

func (p *plain) ascend(members []span) bool {
	for i := 1; i < len(members); i++ {
		if bytes.Compare(p.called(members[i-1]), p.called(members[i])) >= 0 {
			return false
		}
	}
	return true
}
