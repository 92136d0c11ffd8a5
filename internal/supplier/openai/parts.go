package openai

import (
	"errors"

	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// copyParts writes the n-th message, of a list of parts, and returns said with the bytes of their texts added.
func copyParts(w *jsonwrite.Writer, r supplier.Request, api chatAPI, n int, message message, said int) (int, error) {
	w.Begin('{')
	w.Name("role")
	w.JSON(message.role)
	w.Name("content")
	w.Begin('[')
	in := jsonread.Sound(message.parts).Passing(r.Base64)
	in.Open('[')
	for i := 0; in.More(']'); i++ {
		var kind, text, says []byte
		for m := in.Only("audio", "document", "image", "text", "type"); m.Next(); {
			switch m.Name {
			case "text":
				text, says = in.Text()
			case "type":
				_, kind = in.Text()
			default:
				in.Skip() // it comes as Media
			}
		}
		said += len(says)
		if err := writePart(w, r, api, upstream.MediaPlace(n, i, string(kind)), string(kind), text); err != nil {
			return said, err
		}
	}
	w.End(']')
	w.End('}')
	if !in.Done() {
		return said, errors.New(unread)
	}
	return said, nil
}

// writePart writes a text, or the media value at a place in the request.
func writePart(w *jsonwrite.Writer, r supplier.Request, api chatAPI, place, kind string, text []byte) error {
	if kind == upstream.PartText && text != nil {
		beginText(w, api)
		w.JSON(text)
		w.End('}')
		return nil
	}
	m := r.Media[place]
	switch kind {
	case upstream.PartImage:
		writeImage(w, api, m)
	case upstream.PartAudio:
		format := audioFormats[m.ContentType]
		if format == "" || api == responses { // a recording goes by the other API (see settings.api)
			return upstream.Unsuited(kind)
		}
		writeTyped(w, api, "input_audio", func() {
			w.Name("data")
			writeData(w, "", m)
			w.Name("format")
			w.String(format)
		})
	case upstream.PartDocument:
		if m.ContentType != "application/pdf" {
			data, err := upstream.ReadMedia(m)
			beginText(w, api) // the format's files have no type for it
			w.String(string(data))
			w.End('}')
			return err
		}
		writeTyped(w, api, api.file(), func() {
			w.Name("filename")
			w.String("document.pdf")
			w.Name("file_data")
			writeData(w, "data:"+m.ContentType+";base64,", m)
		})
	default:
		return errors.New(unread)
	}
	return nil
}

func writeImage(w *jsonwrite.Writer, api chatAPI, m supplier.Media) {
	prefix := "data:" + m.ContentType + ";base64,"
	if api == completions {
		writeTyped(w, api, "image_url", func() {
			w.Name("url")
			writeData(w, prefix, m)
		})
		return
	}
	writeTyped(w, api, "input_image", func() {
		w.Name("detail")
		w.String("auto")
		w.Name("image_url")
		writeData(w, prefix, m)
	})
}

// audioFormats are the format's names of the recordings that it takes.
var audioFormats = map[string]string{"audio/wav": "wav", "audio/mpeg": "mp3"}

// beginText begins a part that is a text: its value comes next, and the end.
func beginText(w *jsonwrite.Writer, api chatAPI) {
	w.Begin('{')
	w.Name("type")
	w.String(api.text())
	w.Name("text")
}

// writeTyped writes an object of a type: its members, which in chat completions stand in a member that is called as the
// type is.
func writeTyped(w *jsonwrite.Writer, api chatAPI, name string, members func()) {
	w.Begin('{')
	w.Name("type")
	w.String(name)
	if api == completions {
		w.Name(name)
		w.Begin('{')
	}
	members()
	if api == completions {
		w.End('}')
	}
	w.End('}')
}

// writeData writes a media value's bytes as a string in base64 after a prefix, both of which need no escaping.
func writeData(w *jsonwrite.Writer, prefix string, m supplier.Media) {
	if m.Base64 != nil {
		w.Long(prefix, m.Base64)
		return
	}
	w.Text(func(to []byte) ([]byte, error) { return upstream.AppendBase64(append(to, prefix...), m) })
}
