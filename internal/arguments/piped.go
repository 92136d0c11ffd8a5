package arguments

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"unitask/internal/catalog"
	"unitask/internal/form"
)

// pipe takes stdin although no word names it, as in "git diff | unitask run text.chat 'Write a commit message'": it goes
// along with a chat's prompt, or is the value that is lacking. Otherwise it is left alone.
func (f *fitter) pipe() error {
	primary, ok := form.Primary(f.fields)
	if !ok || !f.read.Piped || f.read.StdinUsed {
		return nil
	}
	input := f.groups[primary.Group]
	prompt, given := input[primary.Name].(string)
	messages, kinds := form.PartKinds(f.fields)
	along := given && kinds != nil
	into := primary
	if !along && !f.lacks(primary) {
		at := slices.IndexFunc(f.fields, func(x catalog.Field) bool { return x.Media && f.lacks(x) })
		if at < 0 && f.dash {
			return f.usage("there is no field left for stdin: NAME=- names one")
		}
		if at < 0 {
			return nil
		}
		into = f.fields[at]
	}
	head := bufio.NewReader(f.read.Stdin)
	f.read.Stdin = head
	if _, err := head.Peek(1); errors.Is(err, io.EOF) {
		return nil // as a program leaves it that has no input for this one
	}
	if !along {
		return f.put(f.groups[into.Group], into.Name, into, Argument{Name: into.Name, Value: "-"})
	}
	raw, err := f.read.bytes("-")
	if err != nil {
		return f.unread("", err)
	}
	if plainText(raw) {
		more := strings.TrimPrefix(string(raw), byteOrderMark)
		input[primary.Name] = prompt + "\n\n" + strings.TrimRight(more, "\r\n")
		return nil
	}
	part, kind := form.PartOf("", form.Inline(raw))
	if !slices.Contains(kinds, kind) {
		return f.usage("stdin is %s, and %s takes beside a prompt: text, %s", form.TypeOf(raw), f.capability.Name, strings.Join(kinds, ", "))
	}
	f.along.prompt, f.along.messages = primary.Name, messages
	f.along.parts = append(f.along.parts, part)
	return nil
}

// lacks reports whether a required field is absent, and each that may stand in its place.
func (f *fitter) lacks(field catalog.Field) bool {
	given := f.groups[field.Group]
	instead := slices.ContainsFunc(field.Unless, func(name string) bool { return given[name] != nil })
	return field.Required && !instead && given[field.Name] == nil
}

// plainText reports whether bytes are read by a person as they are: an SVG is, a PDF isn't.
func plainText(raw []byte) bool {
	return utf8.Valid(raw) && !bytes.ContainsRune(raw, 0) && form.TypeOf(raw) != "application/pdf"
}
