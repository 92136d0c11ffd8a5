package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"time"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// pollAfter is the pause between two polls: the API gives no advice, and the quickest video takes twice as
// long.
const pollAfter = 5 * time.Second

var (
	errNoJob = errors.New("the answer names no operation")

	operationName = regexp.MustCompile(`^(models/[0-9A-Za-z][0-9A-Za-z._-]*/)?operations/[0-9A-Za-z][0-9A-Za-z._-]*$`)
)

// videoInput is the neutral input; the images come as Media.
type videoInput struct {
	Prompt        string            `json:"prompt"`
	Image         upstream.Passed   `json:"image"`
	LastImage     upstream.Passed   `json:"last_image"`
	References    []upstream.Passed `json:"reference_images"`
	Authorization upstream.Passed   `json:"authorization"`
}

type videoParameters struct {
	Seconds     *int            `json:"duration_seconds"`
	AspectRatio string          `json:"aspect_ratio"`
	Resolution  string          `json:"resolution"`
	Audio       *bool           `json:"audio"` // these videos always have sound
	Seed        json.RawMessage `json:"seed"`  // has no counterpart, and can do without
}

// filmRequest is the supplier's format.
type filmRequest struct {
	Instances  []filmInstance `json:"instances"`
	Parameters filmParameters `json:"parameters,omitzero"`
}

type filmInstance struct {
	Prompt          string      `json:"prompt,omitzero"`
	Image           *frame      `json:"image,omitempty"`
	LastFrame       *frame      `json:"lastFrame,omitempty"`
	ReferenceImages []reference `json:"referenceImages,omitempty"`
}

type filmParameters struct {
	DurationSeconds *int   `json:"durationSeconds,omitempty"`
	AspectRatio     string `json:"aspectRatio,omitzero"`
	Resolution      string `json:"resolution,omitzero"`
}

type frame struct {
	Data     []byte `json:"bytesBase64Encoded"`
	MimeType string `json:"mimeType"`
}

type reference struct {
	Image *frame `json:"image"`
	Type  string `json:"referenceType"`
}

// jobState is the stored part of a job beside its name.
type jobState struct {
	Seconds int `json:"seconds,omitzero"` // requested, 0 if the model decides
}

// film begins a video.
func (a *adapter) film(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := newFilmRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	var state jobState
	if s := ask.Parameters.DurationSeconds; s != nil {
		state.Seconds = *s
	}
	kept, err := json.Marshal(state)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.format.Post(ctx, method(r.Model, "predictLongRunning"), ask, textLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	var body operation
	err = upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if !operationName.MatchString(body.Name) {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoJob)
	}
	return supplier.Outcome{Job: &supplier.Job{ID: body.Name, Model: r.Model, State: kept, PollAfter: pollAfter}}, nil
}

func newFilmRequest(r supplier.Request) (*filmRequest, error) {
	var in videoInput
	var p videoParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	f := frames{media: r.Media}
	one := filmInstance{Prompt: in.Prompt}
	if bool(in.Image) {
		one.Image = f.read("/image")
	}
	if bool(in.LastImage) {
		one.LastFrame = f.read("/last_image")
	}
	for i := range in.References {
		image := f.read("/reference_images/" + strconv.Itoa(i))
		one.ReferenceImages = append(one.ReferenceImages, reference{Image: image, Type: "ASSET"})
	}
	return &filmRequest{
		Instances:  []filmInstance{one},
		Parameters: filmParameters{DurationSeconds: p.Seconds, AspectRatio: p.AspectRatio, Resolution: p.Resolution},
	}, f.err
}

// frames reads media and keeps the first error.
type frames struct {
	media map[string]supplier.Media
	err   error
}

func (f *frames) read(pointer string) *frame {
	m := f.media[pointer]
	data, err := upstream.ReadMedia(m)
	if err != nil && f.err == nil {
		f.err = err
	}
	return &frame{Data: data, MimeType: m.ContentType}
}
