package media

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// Film is what can be told of an MP4 file without its pictures. Members that aren't known are 0.
type Film struct {
	Width, Height int     // pixels
	Seconds       float64 // of the whole
	Note          []byte  // that Noted has added; nil without one
}

// noteID is the type of the box in which a note stands.
var noteID = []byte("unitask-sandbox\x01")

// Noted returns an MP4 file with a note at its end, which players pass over.
func Noted(film, note []byte) []byte {
	return append(film, box("uuid", noteID, note)...)
}

// Watch reads an MP4 file. ok is false for other bytes.
func Watch(data []byte) (f Film, ok bool) {
	for kind, body := range boxes(data) {
		switch {
		case kind == "moov":
			ok = true
			f.index(body)
		case kind == "uuid" && bytes.HasPrefix(body, noteID):
			f.Note = body[len(noteID):]
		}
	}
	return f, ok
}

// index reads the length and the largest picture of the tracks.
func (f *Film) index(moov []byte) {
	for kind, body := range boxes(moov) {
		switch kind {
		case "mvhd":
			if len(body) >= 20 && body[0] == 0 && number(body[12:]) > 0 {
				f.Seconds = float64(number(body[16:])) / float64(number(body[12:]))
			}
			if len(body) >= 32 && body[0] == 1 && number(body[20:]) > 0 {
				f.Seconds = float64(binary.BigEndian.Uint64(body[24:])) / float64(number(body[20:]))
			}
		case "trak":
			for kind, header := range boxes(body) {
				if n := len(header); kind == "tkhd" && n >= 8 {
					w, h := number(header[n-8:])>>16, number(header[n-4:])>>16
					if w*h > f.Width*f.Height {
						f.Width, f.Height = w, h
					}
				}
			}
		}
	}
}

func number(b []byte) int { return int(binary.BigEndian.Uint32(b)) }

// boxes returns the boxes that follow one another in data, up to the first that isn't whole.
func boxes(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(kind string, body []byte) bool) {
		for len(data) >= 8 {
			size, head := uint64(number(data)), uint64(8)
			switch {
			case size == 0:
				size = uint64(len(data))
			case size == 1 && len(data) >= 16:
				size, head = binary.BigEndian.Uint64(data[8:]), 16
			}
			if size < head || size > uint64(len(data)) || !yield(string(data[4:8]), data[head:size]) {
				return
			}
			data = data[size:]
		}
	}
}
