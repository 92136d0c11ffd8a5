package arguments

import (
	"os"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/form"
)

// attachment is the words @FILE that follow a prompt: they go along with it as parts of one message.
type attachment struct {
	prompt   string // the prompt's member of the input
	messages string // the member that takes its place
	parts    []any
}

// leads reports whether the word is a file that stands before the prompt: one of a chat's files that isn't text.
func (f *fitter) leads(word string) bool {
	name, isFile := strings.CutPrefix(word, "@")
	_, kinds := form.PartKinds(f.fields)
	if !isFile || kinds == nil || strings.HasPrefix(name, "@") {
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false // whoever reads it says why
	}
	defer func() { _ = file.Close() }()
	contentType, err := form.FileType(name, file)
	return err == nil && !strings.HasPrefix(contentType, "text/") && form.Suits(kinds, contentType)
}

// attach takes the word as a file that goes along with the prompt; false if it is no such word, or the capability has
// no messages with parts.
func (f *fitter) attach(prompt, word string) (bool, error) {
	name, isFile := strings.CutPrefix(word, "@")
	messages, kinds := form.PartKinds(f.fields)
	if !isFile || strings.HasPrefix(name, "@") || kinds == nil {
		return false, nil
	}
	unfit := func() error {
		return f.usage("%s is nothing that %s takes beside a prompt: it takes %s", name, f.capability.Name, strings.Join(kinds, ", "))
	}
	part, kind := form.PartOf(name, map[string]any{"content_type": f.read.typeOf(word)})
	if part != nil && !slices.Contains(kinds, kind) {
		return true, unfit() // before it is sent
	}
	value, err := f.read.media(word, "")
	if err != nil {
		return true, f.unread("", err)
	}
	medium, _ := value.(map[string]any)
	if medium["artifact"] != nil && part != nil {
		as, _ := part[kind].(map[string]any)
		f.read.waiting[len(f.read.waiting)-1].inlineType, _ = as["content_type"].(string)
		part[kind] = medium
	} else if part, kind = form.PartOf(name, medium); !slices.Contains(kinds, kind) {
		return true, unfit()
	}
	f.along.prompt, f.along.messages = prompt, messages
	f.along.parts = append(f.along.parts, part)
	return true, nil
}

// combine makes one message of the prompt and the files beside it.
func (f *fitter) combine() error {
	if len(f.along.parts) == 0 {
		return nil
	}
	input := f.groups[catalog.GroupInput]
	if input[f.along.messages] != nil {
		return f.usage("files go along with a prompt, not with %s: put them into its parts", f.along.messages)
	}
	_, err := f.groups.Attach(f.along.messages, f.along.prompt, f.along.parts)
	return err
}
