package openai

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var errNoImages = errors.New("the answer holds no images, or one that is no image")

// imageInput is the neutral input of both image capabilities. The declaration about a person is the
// gateway's matter; images and mask come as Media.
type imageInput struct {
	Prompt        string          `json:"prompt"`
	Images        upstream.Passed `json:"images"`
	Mask          upstream.Passed `json:"mask"`
	Authorization upstream.Passed `json:"authorization"`
}

type imageParameters struct {
	N           *int   `json:"n"`
	AspectRatio string `json:"aspect_ratio"`
	Size        string `json:"size"`
	Format      string `json:"format"`
	Quality     string `json:"quality"`
	Background  string `json:"background"`
	Fidelity    string `json:"input_fidelity"`
	Seed        *int64 `json:"seed"`
}

// imageRequest is the supplier's format. An edit has the same fields as parts of a form.
type imageRequest struct {
	Model          string `json:"model"`
	Prompt         string `json:"prompt"`
	N              *int   `json:"n,omitempty"`
	Size           string `json:"size,omitempty"`
	AspectRatio    string `json:"aspect_ratio,omitempty"`
	Quality        string `json:"quality,omitempty"`
	Background     string `json:"background,omitempty"`
	InputFidelity  string `json:"input_fidelity,omitempty"`
	OutputFormat   string `json:"output_format,omitempty"`
	ResponseFormat string `json:"response_format,omitempty"`
	Seed           *int64 `json:"seed,omitempty"`
}

func (a *adapter) imagine(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := a.newImageRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.format.Post(ctx, "/images/generations", ask, 0)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeImages(answer, ask)
}

func (a *adapter) edit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := a.newImageRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	f := ask.form()
	for i := range len(r.Media) {
		if m, ok := r.Media["/images/"+strconv.Itoa(i)]; ok {
			f.file("image[]", m)
		}
	}
	if m, ok := r.Media["/mask"]; ok {
		f.file("mask", m)
	}
	answer, err := a.sendForm(ctx, "/images/edits", f, 0)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeImages(answer, ask)
}

// newImageRequest leaves out members that the server doesn't take; requests that it can't honour were refused before.
func (s settings) newImageRequest(r supplier.Request) (*imageRequest, error) {
	var in imageInput
	var p imageParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	ask := &imageRequest{Model: r.Model, Prompt: in.Prompt, Size: p.Size, Quality: p.Quality, ResponseFormat: s.imageAnswer}
	takes := func(field string) bool { return slices.Contains(s.imageFields, field) }
	if takes("n") {
		ask.N = p.N
	}
	if takes("background") {
		ask.Background = p.Background
	}
	if takes("input_fidelity") && !alwaysFaithful(r.Model) {
		ask.InputFidelity = p.Fidelity
	}
	if takes("output_format") {
		ask.OutputFormat = p.Format
	}
	if takes("seed") {
		ask.Seed = p.Seed
	}
	if takes("aspect_ratio") {
		ask.AspectRatio = p.AspectRatio
	} else if p.AspectRatio != "" {
		ask.Size = sizes[p.AspectRatio]
	}
	return ask, nil
}

// form returns the request as the parts of a form.
func (i *imageRequest) form() *form {
	f := newForm()
	f.field("model", i.Model)
	f.field("prompt", i.Prompt)
	if i.N != nil {
		f.field("n", strconv.Itoa(*i.N))
	}
	if i.Seed != nil {
		f.field("seed", strconv.FormatInt(*i.Seed, 10))
	}
	f.field("size", i.Size)
	f.field("aspect_ratio", i.AspectRatio)
	f.field("quality", i.Quality)
	f.field("background", i.Background)
	f.field("input_fidelity", i.InputFidelity)
	f.field("output_format", i.OutputFormat)
	f.field("response_format", i.ResponseFormat)
	return f
}

type imageAnswer struct {
	upstream.Envelope
	Data []struct {
		Bytes string `json:"b64_json"`
		URL   string `json:"url"`
	} `json:"data"`
	Usage json.RawMessage `json:"usage"`
}

// decodeImages turns an answer of success into images, at most as many as were asked for.
func (a *adapter) decodeImages(answer upstream.Answer, ask *imageRequest) (supplier.Outcome, error) {
	var body imageAnswer
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	most := 1
	if ask.N != nil {
		most = *ask.N
	}
	var files []supplier.File
	for _, d := range body.Data[:min(len(body.Data), most)] {
		f, ok := imageFile(d.Bytes, d.URL)
		if !ok {
			return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoImages)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoImages)
	}
	reported := parseUsage(body.Usage)
	used := reported.tokens(len(ask.Prompt), 0)
	used.Images = int64(len(files))
	return supplier.Outcome{Result: &supplier.Result{Files: files, Usage: used, Charged: a.charged(reported)}}, nil
}

// imageFile returns an image given by its bytes or by its address.
func imageFile(encoded, address string) (supplier.File, bool) {
	if encoded == "" || strings.HasPrefix(encoded, "data:") {
		return upstream.File(cmp.Or(encoded, address))
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	return supplier.File{Data: data}, err == nil && len(data) > 0
}
