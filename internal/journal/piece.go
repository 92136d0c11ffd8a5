package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Piece is a part of a request's JSON: text as it stands there, or the base64 of a file.
type Piece struct {
	Text   string `json:"text,omitempty"`
	File   string `json:"file,omitempty"` // absolute
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
}

// Split puts a reference to a file wherever its base64 stands. Join makes the same body of the pieces, whatever the
// files hold.
func Split(body string, files []File) []Piece {
	var pieces []Piece
	for body != "" {
		at, length, next := len(body), 0, Piece{}
		for _, f := range files {
			data := base64.StdEncoding.EncodeToString(f.Bytes)
			if i := strings.Index(body, data); data != "" && i >= 0 && i < at {
				sum := sha256.Sum256(f.Bytes)
				at, length = i, len(data)
				next = Piece{File: f.Path, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(f.Bytes))}
			}
		}
		if at > 0 {
			pieces = append(pieces, Piece{Text: body[:at]})
		}
		if length > 0 {
			pieces = append(pieces, next)
		}
		body = body[at+length:]
	}
	return pieces
}

// Join puts pieces together again, byte for byte as they were split, and returns the files that it read. It returns
// *ChangedError if one of them has other bytes by now.
func Join(pieces []Piece) ([]byte, []File, error) {
	var body bytes.Buffer
	var files []File
	for _, p := range pieces {
		if p.File == "" {
			body.WriteString(p.Text)
			continue
		}
		raw, err := p.read()
		if err != nil {
			return nil, nil, err
		}
		files = append(files, File{Path: p.File, Bytes: raw})
		body.WriteString(base64.StdEncoding.EncodeToString(raw))
	}
	return body.Bytes(), files, nil
}

// Sound reports whether pieces can be put together: each is a text or a file.
func Sound(pieces []Piece) bool {
	for _, p := range pieces {
		if p.File == "" && p.Text == "" || p.File != "" && (p.Text != "" || !filepath.IsAbs(p.File)) {
			return false
		}
	}
	return len(pieces) > 0
}

// read returns the file's bytes if they are those that were sent.
func (p Piece) read() ([]byte, error) {
	info, err := os.Stat(p.File)
	if err != nil {
		return nil, &ChangedError{Path: p.File, cause: cause(err)}
	}
	if info.Size() != p.Bytes || !info.Mode().IsRegular() {
		return nil, &ChangedError{Path: p.File}
	}
	raw, err := os.ReadFile(p.File)
	if err != nil {
		return nil, &ChangedError{Path: p.File, cause: cause(err)}
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != p.SHA256 {
		return nil, &ChangedError{Path: p.File}
	}
	return raw, nil
}

// cause is an error of the file system without the path, which stands beside it.
func cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}
