// Package fastlane decodes and validates common request bodies without building values. It is the
// shortcut beside package catalog's general road, jsontext and jsonschema.
//
// Invariant: the fast lane accepts only bodies that it fully understands, with the general road's
// result. All others go to the general road, which decides, and words every error.
package fastlane

import (
	"bytes"
	"encoding/binary"
	"slices"

	"unitask/internal/bulk"
	"unitask/internal/jsonread"
)

const (
	maxDepth    = 32
	maxMembers  = 16      // of an object
	firstBuffer = 4 << 10 // bytes of the first allocation, before the body is known to be sound
	fixedTokens = 16      // more than the names, values and ends of a body's top level
	asideBuffer = 512     // bytes on the stack for the members that sortMembers puts aside
)

// Request is a decoded body. Input, Parameters and Metadata, nil if absent, are objects in canonical form and share no
// memory with the body. Base64 are long strings of Input, for jsonread's Reader.Passing.
type Request struct {
	Capability                  string
	Input, Parameters, Metadata []byte
	Base64                      [][]byte
}

// Decode reads a body of at most depth levels (0: any) and tokens names and values. It takes sound
// bodies whose strings and numbers are in canonical form already; white space and the order of
// members don't matter.
func Decode(body []byte, depth, tokens int) (r Request, ok bool) {
	if depth <= 0 || depth > maxDepth {
		depth = maxDepth
	}
	c := canonicalizer{
		in: jsonread.New(body).MaxDepth(depth), out: make([]byte, 0, min(len(body), firstBuffer)),
		size: len(body), tokens: tokens - fixedTokens,
	}
	for m := c.in.Only("capability", "input", "parameters", "metadata"); m.Next(); {
		switch m.Name {
		case "capability":
			_, name := c.in.Text()
			r.Capability = string(name)
		case "input":
			r.Input = c.part()
		case "parameters":
			r.Parameters = c.part()
		case "metadata":
			r.Metadata = c.part()
		}
	}
	if !c.in.Done() || r.Capability == "" || r.Input == nil {
		return Request{}, false
	}
	r.Input, r.Base64 = c.filled(r.Input)
	r.Parameters, _ = c.filled(r.Parameters)
	r.Metadata, _ = c.filled(r.Metadata)
	return r, true
}

// canonicalizer copies JSON in canonical form (RFC 8785). Its reader fails if that takes more than
// to drop white space and to sort members.
//
// Long strings of base64 are copied once, when everything stands in its place. Until then the output has a hole for each,
// of a byte that no JSON has.
type canonicalizer struct {
	in     jsonread.Reader
	out    []byte
	size   int // of the body without its long strings: the upper bound of out
	tokens int // that may still come: names, values, and ends of arrays and objects

	long [][]byte // strings of the body in their quotes, each named by its index in a hole
}

const (
	hole     = 0
	holeSize = 3 // the byte and the index of a string; a body has fewer tokens than it can tell apart
)

// filled returns an object with its long strings, and these as they stand in it, without their quotes.
func (c *canonicalizer) filled(part []byte) (whole []byte, base64 [][]byte) {
	if len(c.long) == 0 || bytes.IndexByte(part, hole) < 0 {
		return part, nil
	}
	var pieces [][]byte
	for at := bytes.IndexByte(part, hole); at >= 0; at = bytes.IndexByte(part, hole) {
		pieces = append(pieces, part[:at], c.long[binary.BigEndian.Uint16(part[at+1:])])
		part = part[at+holeSize:]
	}
	whole = bulk.Join(append(pieces, part)...)
	from := 0
	for i, p := range pieces {
		if i%2 == 1 {
			base64 = append(base64, whole[from+1:from+len(p)-1])
		}
		from += len(p)
	}
	return whole, base64
}

// count fails after too many tokens.
func (c *canonicalizer) count() {
	if c.tokens--; c.tokens < 0 {
		c.in.Fail()
	}
}

func (c *canonicalizer) part() []byte {
	from := len(c.out)
	c.object()
	return c.out[from:len(c.out):len(c.out)]
}

func (c *canonicalizer) value() {
	switch c.in.Peek() {
	case '{':
		c.object()
	case '[':
		c.array()
	case '"':
		raw, spelling := c.in.Quoted()
		if spelling.Base64 {
			c.spare(raw)
		} else {
			c.copy(raw, spelling.Canonical)
		}
	case 't', 'f', 'n':
		c.copy(c.in.Value(), true)
	default:
		raw, _, canonical := c.in.Number()
		c.copy(raw, canonical)
	}
}

// copy appends a scalar value, and fails unless it is in canonical form.
func (c *canonicalizer) copy(raw []byte, canonical bool) {
	if !canonical {
		c.in.Fail()
	}
	c.count()
	if len(raw) > cap(c.out)-len(c.out) {
		c.out = slices.Grow(c.out, min(c.size-len(c.out), max(len(raw), 4*len(c.out))))
	}
	c.out = bulk.Append(c.out, raw)
}

// spare leaves a hole for a long string.
func (c *canonicalizer) spare(raw []byte) {
	c.count()
	c.out = binary.BigEndian.AppendUint16(append(c.out, hole), uint16(len(c.long)))
	c.long = append(c.long, raw)
	c.size -= len(raw) - holeSize
}

// open enters an array or an object and counts its two tokens.
func (c *canonicalizer) open(bracket byte) {
	c.count()
	c.count()
	c.in.Open(bracket)
	c.out = append(c.out, bracket)
}

func (c *canonicalizer) array() {
	c.open('[')
	for n := 0; c.in.More(']'); n++ {
		if n > 0 {
			c.out = append(c.out, ',')
		}
		c.value()
	}
	c.out = append(c.out, ']')
}

func (c *canonicalizer) object() {
	c.open('{')
	var members [maxMembers]member
	n := 0
	for ; c.in.More('}'); n++ {
		c.count()
		name, spelling := c.in.NameQuoted()
		if n == len(members) || name == nil || !spelling.ASCII || spelling.Escaped() {
			c.in.Fail()
			return
		}
		if n > 0 {
			c.out = append(c.out, ',')
		}
		from := len(c.out)
		c.out = append(append(c.out, name...), ':')
		c.value()
		members[n] = member{name[1 : len(name)-1], from, len(c.out)}
	}
	if !c.sortMembers(members[:n]) {
		c.in.Fail()
	}
	c.out = append(c.out, '}')
}

// member is a member of an object, and its place in the output: its name in quotes, a colon and its value.
type member struct {
	name     []byte
	from, to int
}

func compareNames(a, b member) int { return bytes.Compare(a.name, b.name) }

func compareSizes(a, b member) int { return (a.to - a.from) - (b.to - b.from) }

// sortMembers sorts the members at the end of the output by name; false if two names are equal. The
// largest member, which may be most of the request, moves once; the others are put aside meanwhile.
func (c *canonicalizer) sortMembers(members []member) bool {
	sorted := slices.IsSortedFunc(members, compareNames)
	if !sorted {
		slices.SortFunc(members, compareNames)
	}
	for i := 1; i < len(members); i++ {
		if bytes.Equal(members[i-1].name, members[i].name) {
			return false
		}
	}
	if sorted {
		return true
	}
	from := slices.MinFunc(members, func(a, b member) int { return a.from - b.from }).from
	largest := slices.MaxFunc(members, compareSizes)
	var buffer [asideBuffer]byte
	aside, before := buffer[:0], 0 // before is how many bytes of aside come before the largest member
	for i, m := range members {
		if i > 0 {
			aside = append(aside, ',')
		}
		if m.from == largest.from {
			before = len(aside)
			continue
		}
		aside = append(aside, c.out[m.from:m.to]...)
	}
	bulk.Move(c.out, from+before, largest.from, largest.to-largest.from)
	copy(c.out[from:], aside[:before])
	copy(c.out[from+before+largest.to-largest.from:], aside[before:])
	return true
}
