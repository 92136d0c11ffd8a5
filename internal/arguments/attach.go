package arguments

import (
	"path/filepath"
	"slices"
	"strings"

	"unitask/internal/catalog"
)

// attachment is the words @FILE that follow a prompt: they go along with it as parts of one message.
type attachment struct {
	prompt   string // the prompt's member of the input
	messages string // the member that takes its place
	parts    []any
}

// attach takes the word as a file that goes along with the prompt; false if it is no such word, or the capability has
// no messages with parts.
func (f *fitter) attach(prompt, word string) (bool, error) {
	name, isFile := strings.CutPrefix(word, "@")
	messages, kinds := f.partKinds()
	if !isFile || strings.HasPrefix(name, "@") || kinds == nil {
		return false, nil
	}
	value, err := f.read.media(word)
	if err != nil {
		return true, f.usage("%v", err)
	}
	medium, _ := value.(map[string]any)
	kind := kindOf(name, medium)
	if !slices.Contains(kinds, kind) {
		return true, f.usage("%s is nothing that %s takes beside a prompt: it takes %s", name, f.capability.Name, strings.Join(kinds, ", "))
	}
	f.along.prompt, f.along.messages = prompt, messages
	f.along.parts = append(f.along.parts, map[string]any{"type": kind, kind: medium})
	return true, nil
}

// partKinds returns the input member whose messages have parts, and which kinds of media these may be.
func (f *fitter) partKinds() (messages string, kinds []string) {
	for _, field := range f.fields {
		for _, member := range field.Members {
			for _, part := range member.Parts {
				if field.Group == catalog.GroupInput && field.Array && part.Media {
					messages, kinds = field.Name, append(kinds, part.MediaKind)
				}
			}
		}
	}
	return messages, kinds
}

// kindOf returns the kind of a file's bytes; "" for bytes that are of none. It sets the content type of texts, which
// bytes don't tell.
func kindOf(name string, medium map[string]any) string {
	contentType, _ := medium["content_type"].(string)
	family, _, _ := strings.Cut(contentType, "/")
	switch {
	case family == "image" || family == "audio":
		return family
	case contentType == "video/mp4" || contentType == "video/webm":
		return "audio"
	case contentType == "application/pdf":
		return "document"
	case family == "text":
		medium["content_type"] = "text/plain"
		if slices.Contains([]string{".md", ".markdown"}, strings.ToLower(filepath.Ext(name))) {
			medium["content_type"] = "text/markdown"
		}
		return "document"
	default:
		return ""
	}
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
	text := map[string]any{"type": "text", "text": input[f.along.prompt]}
	delete(input, f.along.prompt)
	input[f.along.messages] = []any{map[string]any{"role": "user", "content": append([]any{text}, f.along.parts...)}}
	return nil
}
