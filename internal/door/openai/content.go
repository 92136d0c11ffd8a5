package openai

import (
	"bytes"
	"path"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/door"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
)

// content writes what a message says: a text, or parts.
func (r *request) content(w *jsonwrite.Writer, content []byte, at string) {
	r.eachPart(w, content, at, parts, "text, image_url, input_audio and file", r.part)
}

// saysNothing reports whether a content is a text of white space, or parts that are all such texts.
func saysNothing(content []byte) bool {
	if len(content) == 0 || content[0] != '[' {
		return catalog.IsBlank(content)
	}
	texts, others := 0, 0
	inbound.Elements(content, func(_ int, part []byte) {
		in := jsonread.Sound(part)
		if in.Peek() == '{' {
			for m := in.Among("text"); m.Next(); {
				if catalog.IsBlank(in.Value()) {
					texts++
				}
			}
		}
		others++
	})
	return texts > 0 && texts == others
}

// eachPart writes a text, or parts by write, which has the members that known allows for the part's kind.
func (r *request) eachPart(
	w *jsonwrite.Writer, content []byte, at string, known map[string]inbound.Rules, kinds string,
	write func(w *jsonwrite.Writer, kind string, given map[string][]byte, at string),
) {
	if content[0] != '[' {
		w.JSON(content)
		return
	}
	w.Begin('[')
	r.List(content, at, func(_ int, part []byte, at string) {
		kind, ok := r.Kind(part, at, "type", false)
		if !ok {
			return
		}
		members, isKnown := known[kind]
		if !isKnown {
			r.Row(inbound.Under(at, "type"), "must be one of "+kinds)
			return
		}
		write(w, kind, r.Members(part, at, members), at)
	})
	w.End(']')
}

func (r *request) part(w *jsonwrite.Writer, kind string, given map[string][]byte, at string) {
	value, ok := given[kind]
	if !ok {
		r.Row(inbound.Under(at, kind), "is required")
		return
	}
	w.Begin('{')
	w.Name("type")
	switch at = inbound.Under(at, kind); kind {
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
	given := r.Members(value, at, imageMembers)
	if given == nil {
		return
	}
	r.address(w, r.Text(given, at, "url"), inbound.Under(at, "url"))
}

// address writes a media value of an address, or of a data URL's bytes.
func (r *request) address(w *jsonwrite.Writer, address []byte, at string) {
	if kind, data, ok := fromDataURL(address); ok {
		media(w, kind, data)
		return
	}
	if isDataURL(address) {
		r.Row(at, "must be an http or https address, or data:TYPE;base64,DATA")
	}
	w.Begin('{')
	w.Name("url")
	w.String(string(address))
	w.End('}')
}

// audioTypes are the media types of the formats.
var audioTypes = map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}

func (r *request) audio(w *jsonwrite.Writer, value []byte, at string) {
	given := r.Members(value, at, audioMembers)
	if given == nil {
		return
	}
	data, format := r.Text(given, at, "data"), r.Text(given, at, "format")
	kind, known := audioTypes[string(format)]
	if !known && format != nil {
		r.Row(inbound.Under(at, "format"), "must be wav or mp3")
	}
	media(w, kind, data)
}

// documentTypes are the media types of files whose data doesn't say it.
var documentTypes = map[string]string{".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown"}

func (r *request) file(w *jsonwrite.Writer, value []byte, at string) {
	if given := r.Members(value, at, fileMembers); given != nil {
		r.fileData(w, given, at)
	}
}

// fileData writes the media value of a file whose data are sent along.
func (r *request) fileData(w *jsonwrite.Writer, given map[string][]byte, at string) {
	name, isText := inbound.TextOf(given["filename"])
	if given["filename"] != nil && !isText {
		r.Row(inbound.Under(at, "filename"), "must be a string")
	}
	said := r.Text(given, at, "file_data")
	kind, data, ok := fromDataURL(said)
	if !ok {
		kind, data = documentTypes[strings.ToLower(path.Ext(string(name)))], said
		if (kind == "" || isDataURL(said)) && said != nil {
			r.Row(inbound.Under(at, "file_data"), "must be data:TYPE;base64,DATA, or base64 beside a filename that ends in .pdf, .txt or .md")
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
