package arguments

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"unitask/internal/form"
)

// ahead sends the file behind @FILE ahead if it is large, and returns the id of its artifact; "" for one that stands in
// the request. One that isn't of the kind isn't sent in vain.
func (r *Reader) ahead(text, kind string) (id string, err error) {
	f, size := r.large(text)
	if f == nil {
		return "", nil
	}
	defer func() { _ = f.Close() }()
	name := source(text)
	contentType, err := form.FileType(name, f)
	if err != nil {
		return "", err
	}
	if kind != "" && !form.Suits([]string{kind}, contentType) {
		return "", fmt.Errorf("%s is no %s", name, kind)
	}
	if id, err = r.AheadFunc(f, size, contentType); err != nil {
		return "", &unsentError{err}
	}
	return id, nil
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
