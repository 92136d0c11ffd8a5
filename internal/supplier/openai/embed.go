package openai

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/wire"
)

type embedAnswer struct {
	wire.Envelope
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Usage json.RawMessage `json:"usage"`
}

// decodeEmbed turns an answer of success into one vector a text, in the texts' order and all of one
// length.
func (a *adapter) decodeEmbed(answer wire.Answer, ask *embedRequest) (supplier.Outcome, error) {
	var body embedAnswer
	err := wire.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	vectors, err := body.vectors(len(ask.Input))
	if err != nil {
		return supplier.Outcome{}, wire.Unusable(answer.Status, err)
	}
	if ask.Dimensions != nil && len(vectors[0]) != *ask.Dimensions {
		e := wire.Unusable(answer.Status, errDimensions)
		e.Operator = true // the route's model can't do what the catalog promises
		return supplier.Outcome{}, e
	}
	used := parseUsage(body.Usage).tokens(ask.bytes(), 0)
	used.OutputTokens = 0
	return supplier.Outcome{Result: &supplier.Result{Embeddings: vectors, Usage: used}}, nil
}

// vectors returns n vectors, each at its index; where none has an index, in the answer's order.
func (b embedAnswer) vectors(n int) ([][]float32, error) {
	if len(b.Data) != n || n == 0 {
		return nil, errVectors
	}
	ordered := make([][]float32, n)
	for i, d := range b.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= n || len(d.Embedding) == 0 {
			return nil, errVectors
		}
		ordered[i] = d.Embedding
	}
	for _, v := range ordered { // an index given twice leaves a place empty
		if len(v) != len(ordered[0]) {
			return nil, errVectors
		}
	}
	return ordered, nil
}
