package arguments

import (
	"path/filepath"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
)

// format is the parameter that decides the content type of a result's files.
const format = "format"

// WithFormat returns the words with one more if they name no format and the ending of the file that takes the result
// is one that the capability has.
func WithFormat(c api.Capability, words []string, file string) []string {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	switch ending {
	case "jpg":
		ending = "jpeg"
	case "txt":
		ending = "text"
	}
	given := func(word string) bool { return Parse(word).Name == format }
	fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil || ending == "" || slices.ContainsFunc(words, given) {
		return words
	}
	offers := func(f catalog.Field) bool {
		return f.Group == catalog.GroupParameters && f.Name == format && slices.Contains(f.Enum, ending)
	}
	if !slices.ContainsFunc(fields, offers) {
		return words
	}
	return append(slices.Clip(words), format+"="+ending)
}
