package httpmap

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/jq"
	"unitask/internal/supplier/upstream"
)

// mostFields is the most parts of a form.
const mostFields = 1000

// formCall makes the fields that a program gave the body of a call.
func formCall(c upstream.Call, v any, media map[string]supplier.Media) (upstream.Call, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return c, upstream.Unfit(errForm)
	}
	f := &form{media: media}
	f.writer = multipart.NewWriter(&f.body)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f.add(name, fields[name], false)
	}
	_ = f.writer.Close() // a buffer takes everything
	if f.err != nil {
		return c, upstream.Unfit(f.err)
	}
	c.Header.Set("Content-Type", f.writer.FormDataContentType())
	c.Body = f.body.Bytes()
	return c, nil
}

// form gathers the parts of a multipart body, and keeps the first fault.
type form struct {
	body   bytes.Buffer
	writer *multipart.Writer
	media  map[string]supplier.Media
	parts  int
	err    error
}

// add adds the part of a value, and of each element of a list one under the same name. null is left out.
func (f *form) add(name string, v any, listed bool) {
	if f.parts++; f.parts > mostFields {
		f.err = errForm
		return
	}
	switch v := v.(type) {
	case nil:
	case string:
		_ = f.writer.WriteField(name, v)
	case bool, int, float64, json.Number:
		text, err := jq.Encode(v)
		if err != nil {
			f.err = errForm
		}
		_ = f.writer.WriteField(name, string(text))
	case []any:
		if listed {
			f.err = errForm
			return
		}
		for _, e := range v {
			f.add(name, e, true)
		}
	case map[string]any:
		pointer, _ := v[mediaPointer].(string)
		m, known := f.media[pointer]
		if !known {
			f.err = errForm
			return
		}
		f.file(name, m)
	default:
		f.err = errForm
	}
}

// file adds a part with a media value. Servers tell its type by the name's ending.
func (f *form) file(name string, m supplier.Media) {
	data, err := upstream.ReadMedia(m)
	if err != nil {
		f.err = errMedia
		return
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", " ", "\n", " ").Replace(name)
	_, ending, _ := strings.Cut(m.ContentType, "/")
	part, err := f.writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + quoted + `"; filename="media.` + ending + `"`},
		"Content-Type":        {m.ContentType},
	})
	if err == nil {
		_, err = io.Copy(part, bytes.NewReader(data))
	}
	if err != nil {
		f.err = errMedia
	}
}
