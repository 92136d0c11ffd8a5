package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	version  = 1
	maxEntry = 256 << 20 // bytes; more than any request
)

// record is the first line of an entry.
type record struct {
	Version int     `json:"version"`
	Key     string  `json:"key"`
	BaseURL string  `json:"base_url"`
	Profile string  `json:"profile,omitempty"`
	DataDir string  `json:"data_dir,omitempty"`
	Mode    string  `json:"mode,omitempty"`
	Output  string  `json:"output,omitempty"`
	JSON    bool    `json:"json,omitempty"`
	Body    []Piece `json:"body"`
}

// note is each later line; the last whole one counts.
type note struct {
	TaskID string `json:"task_id,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// ErrUnsent reports an entry whose first line isn't whole: its process ended before it sent anything.
var ErrUnsent = errors.New("the entry was never finished, so nothing was sent")

// DamagedError reports a file that isn't an entry.
type DamagedError struct{ cause error }

// Error describes the fault without the content.
func (e *DamagedError) Error() string { return fmt.Sprintf("the entry is damaged: %v", e.cause) }

// Unwrap returns the fault.
func (e *DamagedError) Unwrap() error { return e.cause }

func encode(s Submission) ([]byte, error) {
	if !utf8.Valid(s.Body) {
		return nil, errors.New("the request is no valid UTF-8")
	}
	return line(record{
		Version: version, Key: s.Key, BaseURL: s.BaseURL, Profile: s.Profile, DataDir: s.DataDir, Mode: s.Mode,
		Output: s.Output, JSON: s.JSON, Body: Split(string(s.Body), s.Files),
	})
}

func line(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v) // ends the line
	return out.Bytes(), err
}

// decode reads an entry. A later line that isn't whole, or isn't a fact, is ignored: it was being written when its
// process ended.
func decode(raw []byte) (*Entry, error) {
	first, rest, whole := bytes.Cut(raw, []byte("\n"))
	if !whole {
		return nil, ErrUnsent
	}
	var r record
	if err := strictly(first, &r); err != nil {
		return nil, &DamagedError{errors.New("its first line can't be read")}
	}
	if err := r.check(); err != nil {
		return nil, &DamagedError{err}
	}
	e := &Entry{Submission: Submission{
		Key: r.Key, BaseURL: r.BaseURL, Profile: r.Profile, DataDir: r.DataDir, Mode: r.Mode, Output: r.Output, JSON: r.JSON, pieces: r.Body,
	}}
	for part := range bytes.SplitSeq(rest, []byte("\n")) {
		var n note
		if strictly(part, &n) == nil {
			e.TaskID, e.Failed = n.TaskID, n.Failed
		}
	}
	return e, nil
}

func (r record) check() error {
	switch {
	case r.Version != version:
		return fmt.Errorf("it is of version %d, this program knows %d", r.Version, version)
	case r.Key == "" || r.BaseURL == "" || len(r.Body) == 0:
		return errors.New("its key, its address or its request is missing")
	}
	if !Sound(r.Body) {
		return errors.New("its request can't be put together")
	}
	return nil
}

// strictly reads exactly one JSON value without unknown members.
func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if !errors.Is(d.Decode(&struct{}{}), io.EOF) {
		return errors.New("there is more than one JSON value")
	}
	return nil
}
