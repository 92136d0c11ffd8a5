package openai

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"unitask/internal/door"
	"unitask/internal/jsonwrite"
)

// content writes what a message says: a text, or parts.
func (r *request) content(w *jsonwrite.Writer, content []byte, at string) {
	r.eachPart(w, content, at, parts, "text, image_url, input_audio and file", r.part)
}

// eachPart writes a text, or parts by write, which has the members that known allows for the part's kind.
func (r *request) eachPart(
	w *jsonwrite.Writer, content []byte, at string, known map[string]rules, kinds string,
	write func(w *jsonwrite.Writer, kind string, given map[string][]byte, at string),
) {
	if content[0] != '[' {
		w.JSON(content)
		return
	}
	w.Begin('[')
	elements(content, func(i int, part []byte) {
		at := at + "[" + strconv.Itoa(i) + "]"
		kind, ok := r.kind(part, at, "type")
		if !ok {
			return
		}
		members, isKnown := known[kind]
		if !isKnown {
			r.row(under(at, "type"), "must be one of "+kinds)
			return
		}
		write(w, kind, r.members(part, at, members), at)
	})
	w.End(']')
}

func (r *request) part(w *jsonwrite.Writer, kind string, given map[string][]byte, at string) {
	value, ok := given[kind]
	if !ok {
		r.row(under(at, kind), "is required")
		return
	}
	w.Begin('{')
	w.Name("type")
	switch at = under(at, kind); kind {
	case "text":
		w.String("text")
		w.Name("text")
		w.JSON(value)
	case "image_url":
		w.String("image")
		w.Name("image")
		r.image(w, value, at)
	case "input_audio":
		w.String("audio")
		w.Name("audio")
		r.audio(w, value, at)
	case "file":
		w.String("document")
		w.Name("document")
		r.file(w, value, at)
	}
	w.End('}')
}

func (r *request) image(w *jsonwrite.Writer, value []byte, at string) {
	given := r.members(value, at, imageMembers)
	if given == nil {
		return
	}
	r.address(w, r.text(given, at, "url"), under(at, "url"))
}

// address writes a media value of an address, or of a data URL's bytes.
func (r *request) address(w *jsonwrite.Writer, address []byte, at string) {
	if kind, data, ok := fromDataURL(address); ok {
		media(w, kind, data)
		return
	}
	if isDataURL(address) {
		r.row(at, "must be an http or https address, or data:TYPE;base64,DATA")
	}
	w.Begin('{')
	w.Name("url")
	w.String(string(address))
	w.End('}')
}

// audioTypes are the media types of the formats.
var audioTypes = map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}

func (r *request) audio(w *jsonwrite.Writer, value []byte, at string) {
	given := r.members(value, at, audioMembers)
	if given == nil {
		return
	}
	data, format := r.text(given, at, "data"), r.text(given, at, "format")
	kind, known := audioTypes[string(format)]
	if !known && format != nil {
		r.row(under(at, "format"), "must be wav or mp3")
	}
	media(w, kind, data)
}

// documentTypes are the media types of files whose data doesn't say it.
var documentTypes = map[string]string{".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown"}

func (r *request) file(w *jsonwrite.Writer, value []byte, at string) {
	if given := r.members(value, at, fileMembers); given != nil {
		r.fileData(w, given, at)
	}
}

// fileData writes the media value of a file whose data are sent along.
func (r *request) fileData(w *jsonwrite.Writer, given map[string][]byte, at string) {
	name, isText := textOf(given["filename"])
	if given["filename"] != nil && !isText {
		r.row(under(at, "filename"), "must be a string")
	}
	said := r.text(given, at, "file_data")
	kind, data, ok := fromDataURL(said)
	if !ok {
		kind, data = documentTypes[strings.ToLower(path.Ext(string(name)))], said
		if (kind == "" || isDataURL(said)) && said != nil {
			r.row(under(at, "file_data"), "must be data:TYPE;base64,DATA, or base64 beside a filename that ends in .pdf, .txt or .md")
		}
	}
	media(w, kind, data)
}

// media writes a media value of inline data.
func media(w *jsonwrite.Writer, kind string, data []byte) {
	w.Begin('{')
	w.Name("data")
	if !door.IsPlain(data) {
		w.String(string(data)) // no base64, which the gateway says
	} else {
		w.Text(func(to []byte) ([]byte, error) { return append(to, data...), nil })
	}
	w.Name("content_type")
	w.String(kind)
	w.End('}')
}

const dataScheme = "data:"

func isDataURL(address []byte) bool {
	return len(address) >= len(dataScheme) && strings.EqualFold(string(address[:len(dataScheme)]), dataScheme)
}

// fromDataURL returns the media type and the base64 of a data URL.
func fromDataURL(address []byte) (kind string, data []byte, ok bool) {
	if !isDataURL(address) {
		return "", nil, false
	}
	head, data, ok := bytes.Cut(address[len(dataScheme):], []byte(","))
	before, isBase64 := strings.CutSuffix(string(head), ";base64")
	kind, _, _ = strings.Cut(before, ";")
	return strings.ToLower(strings.TrimSpace(kind)), data, ok && isBase64 && kind != ""
}
