package artifact

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"unicode/utf8"
)

const (
	documentPiece  = 32 << 10 // bytes that are read at once
	documentMargin = 64       // bytes of them that are looked at again: more than what is looked for
)

// encryption is the entry of a PDF's trailer that only encrypted files have: a reference to a dictionary, or one.
var encryption = regexp.MustCompile(`/Encrypt[\x00\t\n\f\r ]*(<<|[0-9]{1,10}[\x00\t\n\f\r ]+[0-9]{1,5}[\x00\t\n\f\r ]+R)`)

// ReadDocument reads a document to its end and returns its content type: that of a PDF, else the claimed one of a text,
// which is text/plain unless the claim says more. Its faults are the source's: bytes that are neither, and a PDF that
// takes a password. A piece of the document is in memory at a time.
func ReadDocument(r io.Reader, claim string, source Source) (string, error) {
	d := document{buffer: make([]byte, 0, documentPiece)}
	for {
		n, err := io.ReadFull(r, d.buffer[len(d.buffer):cap(d.buffer)])
		d.buffer = d.buffer[:len(d.buffer)+n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return "", err
		}
		if problem := d.look(last); problem != "" {
			return "", source.bad(problem, nil)
		}
		if last {
			break
		}
	}
	if d.pdf {
		return typePDF, nil
	}
	return cmp.Or(textKind(claim), typeText), nil
}

// document is what has been read of one.
type document struct {
	buffer  []byte // a piece, from the end of the piece before it
	started bool
	pdf     bool
}

// look returns what is wrong with the next piece, and keeps the end of it.
func (d *document) look(last bool) (problem string) {
	if !d.started {
		d.started, d.pdf = true, isPDF(d.buffer)
	}
	keep := min(len(d.buffer), documentMargin)
	if d.pdf {
		if encryption.Match(d.buffer) {
			return "is an encrypted PDF"
		}
	} else {
		keep = 0
		for !last && keep < utf8.UTFMax && keep < len(d.buffer) && !utf8.Valid(d.buffer[:len(d.buffer)-keep]) {
			keep++ // a rune that the end of the piece cuts
		}
		text := d.buffer[:len(d.buffer)-keep]
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			return "is neither a PDF nor text in UTF-8"
		}
	}
	d.buffer = append(d.buffer[:0], d.buffer[len(d.buffer)-keep:]...)
	return ""
}
