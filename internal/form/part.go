package form

import (
	"path/filepath"
	"slices"
	"strings"

	"unitask/internal/catalog"
)

// PartKinds returns the input member whose messages have parts, and which kinds of media these may be; nil if a
// capability has no such member.
func PartKinds(fields []catalog.Field) (messages string, kinds []string) {
	for _, field := range fields {
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

// PartOf returns a medium as a part of a message, and its kind; "" for bytes that are of none. name is that of the
// file, "" if it isn't known: it tells Markdown from other texts.
func PartOf(name string, medium map[string]any) (part map[string]any, kind string) {
	contentType, _ := medium["content_type"].(string)
	family, _, _ := strings.Cut(contentType, "/")
	switch {
	case family == "image" || family == "audio":
		kind = family
	case contentType == "video/mp4" || contentType == "video/webm":
		kind = "audio"
	case contentType == "application/pdf":
		kind = "document"
	case family == "text":
		kind, medium["content_type"] = "document", "text/plain"
		if slices.Contains([]string{".md", ".markdown"}, strings.ToLower(filepath.Ext(name))) {
			medium["content_type"] = "text/markdown"
		}
	default:
		return nil, ""
	}
	return map[string]any{"type": kind, kind: medium}, kind
}

// Suits reports whether files of a content type, as TypeOf tells it, are taken as one of the kinds: those of media,
// or "JSON".
func Suits(kinds []string, contentType string) bool {
	family, _, _ := strings.Cut(contentType, "/")
	film := contentType == "video/mp4" || contentType == "video/webm"
	return slices.ContainsFunc(kinds, func(kind string) bool {
		switch kind {
		case "image":
			return slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, contentType)
		case "audio":
			return family == "audio" || contentType == "application/ogg" || film
		case "video":
			return film
		case "JSON":
			return contentType == "application/json" || strings.HasSuffix(contentType, "+json")
		case "document":
			return contentType == "application/pdf" || family == "text"
		default:
			return true
		}
	})
}

// textPart returns a text as a part of a message.
func textPart(text any) map[string]any { return map[string]any{"type": "text", "text": text} }
