package gemini

import (
	"context"
	"encoding/json"
	"strconv"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// imageInput is the neutral input of both image capabilities; the images come as Media.
type imageInput struct {
	Prompt        string            `json:"prompt"`
	Images        []upstream.Passed `json:"images"`
	Authorization upstream.Passed   `json:"authorization"`
}

type imageParameters struct {
	N           *int            `json:"n"`
	AspectRatio string          `json:"aspect_ratio"`
	Size        string          `json:"size"`
	Format      string          `json:"format"`
	Background  string          `json:"background"`
	Seed        json.RawMessage `json:"seed"`
}

func (a *adapter) imagine(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	var in imageInput
	var p imageParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	ask := content{Role: "user"}
	for i := range in.Images {
		m := r.Media["/images/"+strconv.Itoa(i)]
		data, err := upstream.ReadMedia(m)
		if err != nil {
			return supplier.Outcome{}, upstream.Unfit(err)
		}
		ask.Parts = append(ask.Parts, part{InlineData: &blob{MimeType: m.ContentType, Data: data}})
	}
	ask.Parts = append(ask.Parts, part{Text: in.Prompt})
	shape, _ := newImageConfig(r.Model, p) // whatever is wrong with it was refused before
	answer, err := a.format.Post(ctx, method(r.Model, "generateContent"), &generateRequest{
		Contents:         []content{ask},
		GenerationConfig: generationConfig{ResponseModalities: []string{"IMAGE"}, ImageConfig: shape, Seed: p.Seed},
	}, 0)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeImage(answer, p.Format, len(in.Prompt))
}

// decodeImage turns an answer of success into the one image that was asked for. The format "" is
// whatever comes.
func (a *adapter) decodeImage(answer upstream.Answer, format string, asked int) (supplier.Outcome, error) {
	body, err := a.decodeGenerate(answer)
	if err != nil {
		return supplier.Outcome{}, err
	}
	images := body.blobs()
	if len(images) == 0 {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoContent)
	}
	file, err := encodeAs(images[0].Data, format)
	if err != nil {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, err)
	}
	used := tokens(body.UsageMetadata, asked, 0)
	used.Images = 1
	return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{file}, Usage: used}}, nil
}
