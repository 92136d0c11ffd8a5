package form

import (
	"strings"

	"unitask/internal/catalog"
)

// PrefixFile begins a text that stands for a file, and the data of a medium without its bytes. No base64 begins so.
const PrefixFile = "file:"

// medium is an item of a medium's entry.
type medium struct {
	name  string // of the file, "" if it isn't known
	value map[string]any
}

// media returns the media of a name in their order. Files without a text of their own come first.
func (p Posted) media(name string, split bool) []medium {
	var files [][]byte
	for _, raw := range p.Files[name] {
		if len(raw) > 0 { // an empty one is the browser's word for no file
			files = append(files, raw)
		}
	}
	lines := p.lines(name, split)
	named := 0
	for _, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), PrefixFile) {
			named++
		}
	}
	var all []medium
	for ; len(files) > named; files = files[1:] {
		all = append(all, medium{value: Inline(files[0])})
	}
	for _, line := range lines {
		m := readMedium(strings.TrimSpace(line))
		if m.name != "" && len(files) > 0 {
			m.value, files = Inline(files[0]), files[1:]
		}
		all = append(all, m)
	}
	return all
}

// readMedium reads a medium that isn't here: an address, an artifact's id, or the name and the type of a file.
func readMedium(text string) medium {
	if value, ok := Reference(text); ok {
		return medium{value: value}
	}
	if name, ok := strings.CutPrefix(text, PrefixFile); ok {
		contentType := "application/octet-stream"
		if at := strings.LastIndexByte(name, ' '); at >= 0 {
			name, contentType = strings.TrimSpace(name[:at]), name[at+1:]
		}
		return medium{name, map[string]any{"data": PrefixFile + name, "content_type": contentType}}
	}
	return medium{value: map[string]any{"url": text}}
}

// mediumText returns the text that readMedium reads as the medium; "" without one.
func mediumText(value any) string {
	m, _ := value.(map[string]any)
	for _, member := range []string{"url", "artifact"} {
		if text, ok := m[member].(string); ok {
			return text
		}
	}
	data, _ := m["data"].(string)
	contentType, _ := m["content_type"].(string)
	if !strings.HasPrefix(data, PrefixFile) {
		return ""
	}
	return data + " " + contentType
}

// attached adds the files to the last row, as parts of its content. A file of no kind that a message may have is left
// for the schema to refuse, as a document.
func (p Posted) attached(e Entry, rows []any) []any {
	texts := Posted{Texts: map[string][]string{}, Files: p.Files}
	var types []string // of the named ones
	for _, line := range p.lines(e.Attaches(), true) {
		text, contentType := line, ""
		if !strings.HasPrefix(line, PrefixFile) {
			text, contentType, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		texts.Texts[e.Attaches()] = append(texts.Texts[e.Attaches()], text)
		types = append(types, contentType)
	}
	var parts []any
	media := texts.media(e.Attaches(), false)
	for i, one := range media {
		contentType := ""
		if at := i - (len(media) - len(types)); at >= 0 {
			contentType = types[at]
		}
		if part := attachedPart(one, contentType); part != nil {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return rows
	}
	into := Values{catalog.GroupInput: {}}
	if len(rows) > 0 {
		into[catalog.GroupInput][e.Path[0]] = rows
	}
	if _, err := into.Attach(e.Path[0], "", parts); err != nil { // rows are objects
		return rows
	}
	rows, _ = into[catalog.GroupInput][e.Path[0]].([]any)
	return rows
}

// attachedPart returns a medium as a part of a message, of the kind that its content type tells: that beside a name, if
// it is one; nil for a name without a type.
func attachedPart(m medium, contentType string) any {
	if contentType == "" && m.value["content_type"] == nil {
		return nil
	}
	if contentType == "" {
		part, kind := PartOf(m.name, m.value)
		if kind == "" {
			part = map[string]any{"type": "document", "document": m.value}
		}
		return part
	}
	part, kind := PartOf("", map[string]any{"content_type": contentType})
	if kind == "" {
		return nil
	}
	part[kind] = m.value
	return part
}

// attachedTexts returns the texts that attached reads as the parts, and the words before them; false if there are
// other parts.
func attachedTexts(content any) (words string, texts []string, ok bool) {
	parts, _ := content.([]any)
	for i, one := range parts {
		part, _ := one.(map[string]any)
		kind, _ := part["type"].(string)
		text := mediumText(part[kind])
		switch {
		case kind == "text" && i == 0:
			words, ok = part["text"].(string)
			if !ok {
				return "", nil, false
			}
		case text == "":
			return "", nil, false
		case strings.HasPrefix(text, PrefixFile):
			texts = append(texts, text)
		default:
			texts = append(texts, text+" "+typeOfKind[kind])
		}
	}
	return words, texts, len(texts) > 0
}

// typeOfKind is a content type that PartOf takes as the kind.
var typeOfKind = map[string]string{"image": "image/*", "audio": "audio/*", "document": "application/pdf"}
