package arguments

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"unitask/internal/form"
)

// waiting is a file that is to go ahead, and the media value that its id goes into.
type waiting struct {
	text, contentType string
	medium            map[string]any
	inlineType        string // of the bytes, should they stand in the request; "" as they say themselves
}

// ahead returns a media value for the file behind @FILE if it is large, which send fills in; nil for one that stands in
// the request. One that isn't of the kind isn't sent in vain.
func (r *Reader) ahead(text, kind string) (map[string]any, error) {
	f, _ := r.large(text)
	if f == nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }()
	name := source(text)
	contentType, err := form.FileType(name, f)
	if err != nil {
		return nil, err
	}
	if kind != "" && !form.Suits([]string{kind}, contentType) {
		return nil, fmt.Errorf("%s is no %s", name, kind)
	}
	w := &waiting{text: text, contentType: contentType, medium: map[string]any{"artifact": ""}}
	r.waiting = append(r.waiting, w)
	return w.medium, nil
}

// standIn is the address that stands for a file in a request that is checked before.
const standIn = "https://example.com/"

// judge has the request checked before its large files are sent.
func (f *fitter) judge() error {
	if len(f.read.waiting) == 0 || f.read.CheckFunc == nil {
		return nil
	}
	for _, w := range f.read.waiting {
		delete(w.medium, "artifact")
		w.medium["url"] = standIn
	}
	req, err := f.groups.Request(string(f.capability.Name))
	if err == nil {
		err = f.read.CheckFunc(req)
	}
	for _, w := range f.read.waiting {
		delete(w.medium, "url")
	}
	return err
}

// send sends the files ahead that wait for it. One that the service doesn't take so stands in the request.
func (r *Reader) send() error {
	for _, w := range r.waiting {
		var id string
		f, size := r.large(w.text)
		if f != nil { // it may have become small meanwhile
			var err error
			id, err = r.AheadFunc(f, size, w.contentType)
			_ = f.Close()
			if err != nil {
				return &unsentError{err}
			}
		}
		if w.medium["artifact"] = id; id != "" {
			continue
		}
		delete(w.medium, "artifact")
		bytes, err := r.inline(w.text)
		if err != nil {
			return err
		}
		if maps.Copy(w.medium, bytes); w.inlineType != "" {
			w.medium["content_type"] = w.inlineType
		}
	}
	return nil
}

// unsentError is a file that couldn't be sent ahead, which is no error of the command line.
type unsentError struct{ error }

// unread is the error of a field's value: one of the command line, but for a file that couldn't be sent.
func (f *fitter) unread(name string, err error) error {
	if unsent, ok := errors.AsType[*unsentError](err); ok {
		return unsent.error
	}
	if name == "" {
		return f.usage("%v", err)
	}
	return f.usage("%s: %v", name, err)
}

// large opens the file behind @FILE if it is one that goes ahead; nil for any other word.
func (r *Reader) large(text string) (*os.File, int64) {
	name, isFile := strings.CutPrefix(text, "@")
	if r.AheadFunc == nil || !isFile {
		return nil, 0
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= aheadFrom {
		return nil, 0
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0 // whoever reads it says why
	}
	return f, info.Size()
}

// typeOf returns the content type of the file behind @FILE if it goes ahead; "" for any other word.
func (r *Reader) typeOf(text string) string {
	f, _ := r.large(text)
	if f == nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	kind, _ := form.FileType(source(text), f) // whoever reads it says why it can't be
	return kind
}
