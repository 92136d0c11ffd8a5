package httpmap

import (
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/jq"
)

// The members of a media value as programs see it.
const (
	mediaType    = "content_type"
	mediaBytes   = "bytes"
	mediaBase64  = "base64"
	mediaDataURI = "data_uri"
	mediaPointer = "pointer" // into the input; a form sends the bytes of a value that has one
)

// mostMedia is the most bytes of all media of a request: more has no room in a program's result.
const mostMedia = 45 << 20

var (
	errMedia = errors.New("a media value can't be read")
	errLarge = errors.New("the media are too large for a program")
)

// standIns returns the media values as a program sees them, by pointer, with their bytes as it names them.
func standIns(media map[string]supplier.Media, program *jq.Program) (map[string]any, error) {
	all, total := map[string]any{}, int64(0)
	for pointer, m := range media {
		v := map[string]any{mediaType: m.ContentType, mediaBytes: int(m.Bytes), mediaPointer: pointer}
		for _, form := range []struct{ name, head string }{{mediaBase64, ""}, {mediaDataURI, "data:" + m.ContentType + ";base64,"}} {
			if !program.Uses(form.name) {
				continue
			}
			if total += m.Bytes; total > mostMedia {
				return nil, errLarge
			}
			text, err := encoded(m, form.head)
			if err != nil {
				return nil, err
			}
			v[form.name] = text
		}
		all[pointer] = v
	}
	return all, nil
}

// encoded returns the head and then the bytes of m in base64, held once.
func encoded(m supplier.Media, head string) (string, error) {
	if m.Open == nil {
		return "", errMedia
	}
	body, err := m.Open()
	if err != nil {
		return "", errMedia
	}
	defer func() { _ = body.Close() }()
	var b strings.Builder
	b.Grow(len(head) + base64.StdEncoding.EncodedLen(int(m.Bytes)))
	b.WriteString(head)
	w := base64.NewEncoder(base64.StdEncoding, &b)
	if _, err := io.Copy(w, io.LimitReader(body, mostMedia)); err != nil {
		return "", errMedia
	}
	_ = w.Close() // a Builder takes everything
	return b.String(), nil
}

// place puts v at a pointer into a decoded value, if there is such a place.
func place(in any, pointer string, v any) {
	path := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range path {
		token = unescape.Replace(token)
		last := i == len(path)-1
		switch here := in.(type) {
		case map[string]any:
			if _, has := here[token]; last && has {
				here[token] = v
			}
			in = here[token]
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil || n < 0 || n >= len(here) {
				return
			}
			if last {
				here[n] = v
			}
			in = here[n]
		default:
			return
		}
	}
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// unread adds to each value that has the form of a media value the members by which programs read it, empty: which values
// are media isn't known before they are fetched.
func unread(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unread(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = unread(v[name])
		}
		for _, name := range []string{"url", "data", "artifact"} {
			if _, is := v[name].(string); is && len(v) <= 2 {
				v[mediaBase64], v[mediaDataURI], v[mediaPointer] = "", "", ""
				break
			}
		}
	}
	return v
}
