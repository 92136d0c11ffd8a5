package console

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/form"
)

// trialBytes bounds a posted trial with its files. The API itself bounds it.
const trialBytes = 16 << 20

// posted is a trial as a browser sent it.
type posted struct{ form.Posted }

func (p posted) one(name string) string {
	if all := p.Texts[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// readTrial reads a multipart form into memory: no file of it touches a disk here.
func readTrial(x exchange) (posted, error) {
	p := posted{form.Posted{Texts: map[string][]string{}, Files: map[string][][]byte{}}}
	x.r.Body = http.MaxBytesReader(x, x.r.Body, trialBytes)
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return p, fault.Invalid("Content-Type", "must be multipart/form-data").WithAspect(fault.AspectMediaType)
	}
	parts := multipart.NewReader(x.r.Body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		var raw []byte
		if err == nil {
			raw, err = io.ReadAll(part)
		}
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			return p, fault.Newf(fault.InvalidRequest, "the form is larger than %s", api.Size(trialBytes)).WithAspect(fault.AspectSize)
		}
		if err != nil {
			return p, fault.Wrap(fault.InvalidRequest, err, "the form didn't arrive whole")
		}
		if part.FileName() != "" {
			p.Files[part.FormName()] = append(p.Files[part.FormName()], raw)
		} else {
			p.Texts[part.FormName()] = append(p.Texts[part.FormName()], string(raw))
		}
	}
}
