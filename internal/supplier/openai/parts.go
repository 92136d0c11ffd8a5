package openai

import (
	"encoding/base64"
	"errors"

	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// copyParts writes the n-th message of a list of parts, and returns said with the bytes of their texts added.
func copyParts(w *jsonwrite.Writer, r supplier.Request, n int, role, parts []byte, said int) (int, error) {
	w.Begin('{')
	w.Name("role")
	w.JSON(role)
	w.Name("content")
	w.Begin('[')
	in := jsonread.New(parts)
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
		if err := writePart(w, r, upstream.MediaPlace(n, i, string(kind)), string(kind), text); err != nil {
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
func writePart(w *jsonwrite.Writer, r supplier.Request, place, kind string, text []byte) error {
	if kind == upstream.PartText && text != nil {
		w.Begin('{')
		w.Name("type")
		w.String("text")
		w.Name("text")
		w.JSON(text)
		w.End('}')
		return nil
	}
	m := r.Media[place]
	data, err := upstream.ReadMedia(m)
	if err != nil {
		return err
	}
	switch kind {
	case upstream.PartImage:
		writeMember(w, "image_url", func() {
			w.Name("url")
			writeData(w, "data:"+m.ContentType+";base64,", data)
		})
	case upstream.PartAudio:
		format := audioFormats[m.ContentType]
		if format == "" {
			return upstream.Unsuited(kind)
		}
		writeMember(w, "input_audio", func() {
			w.Name("data")
			writeData(w, "", data)
			w.Name("format")
			w.String(format)
		})
	case upstream.PartDocument:
		if m.ContentType != "application/pdf" {
			writeText(w, string(data)) // the format's files have no type for it
			return nil
		}
		writeMember(w, "file", func() {
			w.Name("filename")
			w.String("document.pdf")
			w.Name("file_data")
			writeData(w, "data:"+m.ContentType+";base64,", data)
		})
	default:
		return errors.New(unread)
	}
	return nil
}

// audioFormats are the format's names of the recordings that it takes.
var audioFormats = map[string]string{"audio/wav": "wav", "audio/mpeg": "mp3"}

// writeText writes a part that is a text.
func writeText(w *jsonwrite.Writer, text string) {
	w.Begin('{')
	w.Name("type")
	w.String("text")
	w.Name("text")
	w.String(text)
	w.End('}')
}

// writeMember writes a part whose type is the name of its member, an object.
func writeMember(w *jsonwrite.Writer, name string, members func()) {
	w.Begin('{')
	w.Name("type")
	w.String(name)
	w.Name(name)
	w.Begin('{')
	members()
	w.End('}')
	w.End('}')
}

// writeData writes bytes as a string in base64 after a prefix, both of which need no escaping.
func writeData(w *jsonwrite.Writer, prefix string, data []byte) {
	quoted := append(make([]byte, 0, len(prefix)+base64.StdEncoding.EncodedLen(len(data))+2), '"')
	quoted = append(quoted, prefix...)
	quoted = base64.StdEncoding.AppendEncode(quoted, data)
	w.JSON(append(quoted, '"'))
}
