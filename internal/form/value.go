package form

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/task"
)

// ParseNumber keeps the digits as they are written, without rounding. The field's type, bounds and values hold.
func ParseNumber(f catalog.Field, entered string) (json.Number, error) {
	n, err := strconv.ParseFloat(entered, 64)
	if err != nil || !json.Valid([]byte(entered)) {
		return "", errors.New("must be a number")
	}
	if _, err := strconv.ParseInt(entered, 10, 64); f.Type == "integer" && err != nil {
		return "", errors.New("must be a whole number")
	}
	if f.Minimum != nil && n < *f.Minimum || f.Maximum != nil && n > *f.Maximum {
		return "", errors.New("must be " + f.Bounds())
	}
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, entered) {
		return "", errors.New("must be one of " + strings.Join(f.Enum, ", "))
	}
	return json.Number(entered), nil
}

// ReadJSON keeps a value as it is written. A member that stands twice in an object is refused too.
func ReadJSON(entered string) (json.RawMessage, error) {
	d := jsontext.NewDecoder(strings.NewReader(entered))
	_, err := d.ReadValue()
	if err == nil {
		_, err = d.ReadToken()
	}
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return json.RawMessage(entered), nil
	}
	wrong, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		return nil, errors.New("must be one JSON value")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("must be JSON: it ends too early")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return nil, fmt.Errorf("must be JSON: %s, %q stands there twice", place(entered, wrong.ByteOffset), wrong.JSONPointer.LastToken())
	default:
		return nil, fmt.Errorf("must be JSON: %s, %w", place(entered, wrong.ByteOffset), wrong.Err)
	}
}

// place is the line and the column of an offset.
func place(entered string, offset int64) string {
	before := entered[:min(int(offset), len(entered))]
	row := before[strings.LastIndexByte(before, '\n')+1:]
	return fmt.Sprintf("line %d, column %d", strings.Count(before, "\n")+1, utf8.RuneCountInString(row)+1)
}

// Reference reads a medium that is named: a URL or an artifact's id.
func Reference(entered string) (map[string]any, bool) {
	lower := strings.ToLower(entered)
	switch {
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
		return map[string]any{"url": entered}, true
	case strings.HasPrefix(entered, task.PrefixArtifact):
		return map[string]any{"artifact": entered}, true
	default:
		return nil, false
	}
}

// Inline makes a medium of its bytes; their type follows their text.
func Inline(raw []byte) map[string]any {
	return map[string]any{"data": base64.StdEncoding.EncodeToString(raw), "content_type": TypeOf(raw)}
}

// SniffLen is how many of a file's first bytes TypeOf looks at.
const SniffLen = 3072

// TypeOf returns the content type of bytes.
func TypeOf(raw []byte) string {
	contentType, _, _ := strings.Cut(mimetype.Detect(raw).String(), ";")
	return contentType
}

// FileType returns the content type of a file by its first bytes, as a request names it: of texts there are two, which
// the file's name tells apart.
func FileType(name string, r io.ReaderAt) (string, error) {
	head := make([]byte, SniffLen)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	medium := map[string]any{"content_type": TypeOf(head[:n])}
	PartOf(name, medium)
	kind, _ := medium["content_type"].(string)
	return kind, nil
}

// Values are the members of a request's groups: strings, json.Number, json.RawMessage and maps and
// lists of them.
type Values map[string]map[string]any

// Put sets the value of an entry; objects on its path are made.
func (v Values) Put(group string, path []string, value any) {
	if v[group] == nil {
		v[group] = map[string]any{}
	}
	into := v[group]
	for _, step := range path[:len(path)-1] {
		inner, ok := into[step].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[step] = inner
		}
		into = inner
	}
	into[path[len(path)-1]] = value
}

// Request writes the request that the values make. Empty parameters are left out.
func (v Values) Request(capability string) (req api.CreateRequest, err error) {
	req = api.CreateRequest{Capability: capability, Input: json.RawMessage("{}")}
	if input := v[catalog.GroupInput]; len(input) > 0 {
		if req.Input, err = json.Marshal(input); err != nil {
			return req, err
		}
	}
	if p := v[catalog.GroupParameters]; len(p) > 0 {
		req.Parameters, err = json.Marshal(p)
	}
	return req, err
}
