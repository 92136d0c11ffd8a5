package gemini

import (
	"context"
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

type embedInput struct {
	Texts []string `json:"texts"`
}

type embedParameters struct {
	Dimensions *int `json:"dimensions"`
}

// embedRequest asks for one vector. In a batch each names the model again.
type embedRequest struct {
	Model                string  `json:"model"`
	Content              content `json:"content"`
	OutputDimensionality *int    `json:"outputDimensionality,omitempty"`
}

type embedBatch struct {
	Requests []embedRequest `json:"requests"`
}

// embedAnswer is that of one text or of a batch.
type embedAnswer struct {
	upstream.Envelope
	Embedding     vector          `json:"embedding"`
	Embeddings    []vector        `json:"embeddings"`
	UsageMetadata json.RawMessage `json:"usageMetadata"`
}

type vector struct {
	Values []float32 `json:"values"`
}

func (a *adapter) embed(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	var in embedInput
	var p embedParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	batch, asked := embedBatch{}, 0
	for _, text := range in.Texts {
		batch.Requests = append(batch.Requests, embedRequest{
			Model: "models/" + r.Model, Content: textContent("", text), OutputDimensionality: p.Dimensions,
		})
		asked += len(text)
	}
	var answer upstream.Answer
	var err error
	if len(batch.Requests) == 1 {
		answer, err = a.format.Post(ctx, method(r.Model, "embedContent"), batch.Requests[0], textLimit)
	} else {
		answer, err = a.format.Post(ctx, method(r.Model, "batchEmbedContents"), batch, textLimit)
	}
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeEmbed(answer, len(in.Texts), p.Dimensions, asked)
}

// decodeEmbed turns an answer of success into n vectors, all of one length. asked is how much text the
// request carried.
func (a *adapter) decodeEmbed(answer upstream.Answer, n int, dimensions *int, asked int) (supplier.Outcome, error) {
	var body embedAnswer
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if n == 1 && len(body.Embeddings) == 0 {
		body.Embeddings = []vector{body.Embedding}
	}
	vectors := make([][]float32, 0, n)
	for _, v := range body.Embeddings {
		vectors = append(vectors, v.Values)
	}
	if err := upstream.CheckVectors(answer.Status, vectors, n, dimensions); err != nil {
		return supplier.Outcome{}, err
	}
	used := supplier.Usage{InputTokens: tokens(body.UsageMetadata, asked, 0).InputTokens}
	return supplier.Outcome{Result: &supplier.Result{Embeddings: vectors, Usage: used}}, nil
}
