package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/disk"
	"unitask/internal/form"
	"unitask/internal/journal"
)

const maxRead = 128 << 20 // bytes of a file or of stdin; the service's own limits are lower

// magicWord is how the sandbox's magic inputs begin: no file, though they begin with @.
var magicWord = regexp.MustCompile(`^(unknown|full|[a-z]+:\S+)(\s|$)`)

// Reader turns the words of a command line into values. Stdin can be read once.
type Reader struct {
	Stdin     io.Reader
	StdinUsed bool
	Piped     bool           // whether stdin is read though no word names it
	Files     []journal.File // whose bytes became media
	AheadFunc AheadFunc      // nil: all files stand in the request
	// CheckFunc, if not nil, judges a request before its large files are sent: in it stands an address for each of them.
	CheckFunc func(api.CreateRequest) error

	waiting []*waiting // files that go ahead once the rest of the request is right
}

// AheadFunc sends a large file ahead of its task and returns the id of its artifact; "" if it has to stand in the
// request after all.
type AheadFunc func(f *os.File, bytes int64, contentType string) (id string, err error)

// aheadFrom is above how many bytes a file goes ahead.
const aheadFrom = 1 << 20

// value reads one value of a field: @file and - are files and stdin for texts and media.
func (r *Reader) value(f catalog.Field, text string) (any, error) {
	switch {
	case f.Media:
		return r.media(text, f.MediaKind)
	case f.Type == "object" && len(f.Members) > 0 && f.Array && !isJSON(text):
		return nil, errors.New("a list of objects: write it as JSON or @FILE")
	case f.Type == "object" && len(f.Members) > 0 && !isJSON(text):
		return nil, errors.New("an object: write its members as name.member=value, or all of it as JSON or @FILE")
	case f.Type == "string":
		text, err := r.text(text)
		if err != nil {
			return nil, err
		}
		return text, oneOf(f, text)
	case f.Type == "boolean":
		return boolean(text)
	case f.Type == "integer", f.Type == "number":
		return number(f, text)
	default:
		return r.json(text)
	}
}

// isJSON reports whether a value stands for an object or a list: as JSON, a file or stdin.
func isJSON(text string) bool {
	return text == "-" || strings.HasPrefix(text, "@") || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// items returns what a value adds to a list: the elements of a list, or the value.
func items(value any) []any {
	raw, ok := value.(json.RawMessage)
	var all []json.RawMessage
	if !ok || json.Unmarshal(raw, &all) != nil {
		return []any{value}
	}
	var each []any
	for _, one := range all {
		each = append(each, one)
	}
	return each
}

// Text reads a word that stands for a text, as the words of a command line do.
func (r *Reader) Text(word string) (string, error) { return r.text(word) }

// text reads a text; @@ begins one with an @ of its own.
func (r *Reader) text(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("this is no UTF-8 text")
	}
	literal, doubled := strings.CutPrefix(text, "@@")
	if doubled {
		return "@" + literal, nil
	}
	name, isFile := strings.CutPrefix(text, "@")
	if text != "-" && !isFile {
		return text, nil
	}
	raw, err := r.bytes(text)
	if errors.Is(err, fs.ErrNotExist) && magicWord.MatchString(name) {
		return text, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w; @@ begins a text with an @", err)
	}
	if err != nil {
		return "", err
	}
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("%s is no UTF-8 text", source(text))
	}
	whole := strings.TrimPrefix(string(raw), byteOrderMark)
	return strings.TrimSuffix(strings.TrimSuffix(whole, "\n"), "\r"), nil
}

// media reads a media value of a kind, "" for any: a file, stdin, a URL or the id of an artifact.
func (r *Reader) media(text, kind string) (any, error) {
	reference, named := form.Reference(text)
	switch {
	case named:
		return reference, nil
	case text != "-" && !strings.HasPrefix(text, "@"):
		return nil, fmt.Errorf("%q is no media: write @FILE, -, a URL or an artifact's id", text)
	}
	if medium, err := r.ahead(text, kind); err != nil || medium != nil {
		return medium, err
	}
	return r.inline(text)
}

// inline reads a media value whose bytes stand in the request.
func (r *Reader) inline(text string) (map[string]any, error) {
	raw, err := r.bytes(text)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 {
		return nil, fmt.Errorf("%s is empty", source(text))
	}
	if file, ok := regular(text, raw); ok {
		r.Files = append(r.Files, file)
	}
	return form.Inline(raw), nil
}

// json reads JSON, from a file or stdin too. Numbers stay as they are written.
func (r *Reader) json(text string) (any, error) {
	raw := []byte(text)
	if text == "-" || strings.HasPrefix(text, "@") {
		var err error
		if raw, err = r.bytes(text); err != nil {
			return nil, err
		}
		raw = bytes.TrimPrefix(raw, []byte(byteOrderMark))
	}
	if !json.Valid(raw) {
		return nil, errors.New("this is no JSON, and no @FILE with JSON")
	}
	return json.RawMessage(bytes.TrimSpace(raw)), nil
}

// bytes reads "-" or "@FILE".
func (r *Reader) bytes(text string) ([]byte, error) {
	from := r.Stdin
	if name, ok := strings.CutPrefix(text, "@"); ok {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, disk.Cause(err))
		}
		defer func() { _ = f.Close() }()
		from = f
	} else if r.StdinUsed {
		return nil, errors.New("stdin is read already")
	} else {
		r.StdinUsed = true
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxRead+1))
	if err == nil && len(raw) > maxRead {
		err = fmt.Errorf("%s is larger than %s", source(text), api.Size(maxRead))
	}
	return raw, err
}

// regular names the file behind @FILE if it can be read again.
func regular(text string, raw []byte) (journal.File, bool) {
	name, isFile := strings.CutPrefix(text, "@")
	full, err := filepath.Abs(name)
	if !isFile || err != nil {
		return journal.File{}, false
	}
	info, err := os.Stat(full)
	return journal.File{Path: full, Bytes: raw}, err == nil && info.Mode().IsRegular()
}

func source(text string) string {
	if text == "-" {
		return "stdin"
	}
	return strings.TrimPrefix(text, "@")
}

func boolean(text string) (any, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	default:
		return nil, fmt.Errorf("%q is neither true nor false", text)
	}
}

// number reads a number within the field's bounds.
func number(f catalog.Field, text string) (any, error) {
	n, err := form.ParseNumber(f, text)
	if err != nil {
		return nil, fmt.Errorf("%w, not %q", err, text)
	}
	return n, nil
}

// oneOf checks a value against those that are allowed.
func oneOf(f catalog.Field, text string) error {
	if len(f.Enum) == 0 || slices.Contains(f.Enum, text) {
		return nil
	}
	if near := catalog.Nearest(text, f.Enum); near != "" {
		return fmt.Errorf("%q isn't one of %s: did you mean %s?", text, strings.Join(f.Enum, ", "), near)
	}
	return fmt.Errorf("%q isn't one of %s", text, strings.Join(f.Enum, ", "))
}
