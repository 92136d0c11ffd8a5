package arguments

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/disk"
	"unitask/internal/hint"
)

const (
	maxLines = 100_000
	maxLine  = 16 << 20 // bytes; the service's own limit of a request is as high
)

// Line is one line of many requests, counted from 1 with the empty ones.
type Line struct {
	N    int
	Text string
}

// ReadLines reads "@FILE" or "-". Empty lines don't count.
func ReadLines(from string, stdin io.Reader) ([]Line, error) {
	if name, isFile := strings.CutPrefix(from, "@"); isFile {
		f, err := os.Open(name)
		if err != nil {
			return nil, &hint.UsageError{Message: fmt.Sprintf("%s: %v", name, disk.Cause(err))}
		}
		defer func() { _ = f.Close() }()
		stdin = f
	}
	scan := bufio.NewScanner(Unmarked(stdin))
	scan.Buffer(nil, maxLine)
	var lines []Line
	for n := 1; scan.Scan(); n++ {
		if text := strings.TrimSpace(scan.Text()); text != "" {
			lines = append(lines, Line{n, text})
		}
		if len(lines) > maxLines {
			return nil, &hint.UsageError{Message: fmt.Sprintf("there are more than %d lines", maxLines)}
		}
	}
	switch err := scan.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &hint.UsageError{Message: fmt.Sprintf("line %d is longer than %s", len(lines)+1, api.Size(maxLine))}
	case err != nil:
		return nil, err
	case len(lines) == 0:
		return nil, &hint.UsageError{Message: source(from) + " has no lines"}
	}
	return lines, nil
}

// FitLine makes the request of a line: a JSON object gives fields by their names, anything else is the
// prompt as it stands. words hold for every line.
func FitLine(c api.Capability, words []string, line Line, r *Reader) (api.CreateRequest, error) {
	f, err := newFitter(c, words, r)
	if err == nil && strings.HasPrefix(line.Text, "{") {
		err = f.addObject(line.Text)
	} else if err == nil {
		var text []byte
		if text, err = json.Marshal(line.Text); err == nil {
			err = f.addJSON("", text)
		}
	}
	var req api.CreateRequest
	if err == nil {
		req, err = f.finish()
	}
	if e, ok := errors.AsType[*hint.UsageError](err); ok {
		return req, &hint.UsageError{Message: fmt.Sprintf("line %d: %s", line.N, e.Message), Hint: e.Hint}
	}
	return req, err
}

func (f *fitter) addObject(text string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return f.usage("it begins as a JSON object and is none")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := f.addJSON(name, members[name]); err != nil {
			return err
		}
	}
	return nil
}

// addJSON adds a value as it stands; texts of media fields are files, URLs and artifacts as on a command
// line, and a single value of a list is its one item.
func (f *fitter) addJSON(name string, raw json.RawMessage) error {
	path, err := f.pathOf(name)
	if err != nil {
		return err
	}
	into, field, err := f.place(path)
	if err != nil {
		return err
	}
	items := []json.RawMessage{raw}
	isList := bytes.HasPrefix(raw, []byte("["))
	if field.Array && isList {
		if err := json.Unmarshal(raw, &items); err != nil {
			return f.unread(field.Name, err)
		}
	}
	values := make([]any, len(items))
	for i, item := range items {
		if values[i], err = f.itemOf(field, item); err != nil {
			return f.unread(field.Name, err)
		}
	}
	last := path[len(path)-1]
	if field.Array {
		into[last] = values
	} else {
		into[last] = values[0]
	}
	return nil
}

func (f *fitter) itemOf(field catalog.Field, raw json.RawMessage) (any, error) {
	if !bytes.HasPrefix(raw, []byte(`"`)) {
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	if field.Media {
		return f.read.media(text, field.MediaKind)
	}
	return text, oneOf(field, text)
}
