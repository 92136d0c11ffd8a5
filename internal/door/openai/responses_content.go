package openai

import (
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
)

// writeIf writes a member that is JSON already, unless it is nil.
func writeIf(w *jsonwrite.Writer, name string, value []byte) {
	if value != nil {
		w.Name(name)
		w.JSON(value)
	}
}

// jsonOf returns a text as JSON.
func jsonOf(text string) []byte {
	w := jsonwrite.New(len(text) + 2)
	w.String(text)
	out, _ := w.Bytes() // a text can be written
	return out
}

// itemContent writes the content of an item: a text, or parts.
func (r *request) itemContent(w *jsonwrite.Writer, content []byte, at string) {
	r.eachPart(w, content, at, responseParts, "input_text, output_text, input_image, input_audio and input_file", r.itemPart)
}

func (r *request) itemPart(w *jsonwrite.Writer, kind string, given map[string][]byte, at string) {
	w.Begin('{')
	switch kind {
	case "input_text", "output_text":
		named(w, "type", "text")
		if r.Text(given, at, "text") != nil {
			inbound.Copy(w, given, "text", "text")
		}
	case "input_image":
		named(w, "type", "image")
		w.Name("image")
		r.address(w, r.Text(given, at, "image_url"), inbound.Under(at, "image_url"))
	case "input_audio":
		named(w, "type", "audio")
		w.Name("audio")
		if value, ok := given[kind]; ok {
			r.audio(w, value, inbound.Under(at, kind))
		} else {
			r.Row(inbound.Under(at, kind), "is required")
			w.Null()
		}
	case "input_file":
		named(w, "type", "document")
		w.Name("document")
		r.itemFile(w, given, at)
	}
	w.End('}')
}

// itemFile writes the media value of a file that is sent along, or that the service fetches.
func (r *request) itemFile(w *jsonwrite.Writer, given map[string][]byte, at string) {
	if _, ok := given["file_url"]; !ok {
		r.fileData(w, given, at)
		return
	}
	if _, both := given["file_data"]; both {
		r.Row(inbound.Under(at, "file_url"), "must not be given together with file_data")
	}
	w.Begin('{')
	w.Name("url")
	w.String(string(r.Text(given, at, "file_url")))
	w.End('}')
}
