package catalog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/fault"
)

// The bounds of a request's metadata. Lengths are in characters, which are Unicode code points.
const (
	MaxMetadata     = 16 // pairs
	MaxMetadataName = 64
	MaxMetadataText = 512
)

const metadataMember = "metadata"

// MetadataNameProblem returns what is wrong with a name in the metadata, "" for a good one. Names are of characters
// that stand for themselves in addresses, in shells and in the paths of errors.
func MetadataNameProblem(name string) string {
	if name == "" || utf8.RuneCountInString(name) > MaxMetadataName {
		return fmt.Sprintf("must have a name of 1 to %d characters", MaxMetadataName)
	}
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		default:
			return "must have a name of the characters A to Z, a to z, 0 to 9, _ and -"
		}
	}
	return ""
}

// MetadataTextProblem returns what is wrong with a text in the metadata, "" for a good one.
func MetadataTextProblem(text string) string {
	if utf8.RuneCountInString(text) > MaxMetadataText {
		return fmt.Sprintf("must have at most %d characters", MaxMetadataText)
	}
	switch {
	case !utf8.ValidString(text):
		return "must be valid UTF-8"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "must have no control characters"
	default:
		return ""
	}
}

// MetadataRows returns a row for each pair that breaks a rule, by name, after one for too many pairs.
func MetadataRows(metadata map[string]string) (rows []fault.Detail) {
	if n := len(metadata); n > MaxMetadata {
		rows = append(rows, fault.Detail{
			Field: metadataMember, Message: fmt.Sprintf("must have at most %d pairs, this has %d", MaxMetadata, n),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		problem := MetadataNameProblem(name)
		if problem == "" {
			problem = MetadataTextProblem(metadata[name])
		}
		if problem != "" {
			rows = append(rows, fault.Detail{Field: fieldPath(metadataMember, name), Message: problem})
		}
	}
	return rows[:min(len(rows), maxRows)]
}

// metadataOf returns the pairs of an object that was read once already, nil for one without pairs, and rows for those that
// break a rule.
func metadataOf(raw []byte) (metadata map[string]string, rows []fault.Detail) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, nil
		}
		member := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, nil
		}
		if value.Kind() != '"' {
			if len(rows) < maxRows {
				rows = append(rows, fault.Detail{Field: fieldPath(metadataMember, member), Message: "must be a string"})
			}
			continue
		}
		text, _ := jsontext.AppendUnquote(nil, value)
		if metadata == nil {
			metadata = map[string]string{}
		}
		metadata[member] = string(text)
	}
	rows = append(rows, MetadataRows(metadata)...)
	return metadata, rows[:min(len(rows), maxRows)]
}
