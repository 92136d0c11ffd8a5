package openai

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

type embedInput struct {
	Texts []string `json:"texts"`
}

type embedParameters struct {
	Dimensions *int `json:"dimensions"`
}

type embedRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	Dimensions     *int     `json:"dimensions,omitempty"`
	EncodingFormat string   `json:"encoding_format"`
}

func (s settings) newEmbedRequest(r supplier.Request) (*embedRequest, error) {
	var in embedInput
	var p embedParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	return &embedRequest{Model: r.Model, Input: in.Texts, Dimensions: p.Dimensions, EncodingFormat: s.vectors}, nil
}

func (e *embedRequest) bytes() int {
	n := 0
	for _, t := range e.Input {
		n += len(t)
	}
	return n
}

// vector is read from either of its encodings, whichever was asked for.
type vector []float32

var errNoVector = errors.New("neither numbers nor the base64 of finite ones")

// UnmarshalJSON reads numbers, or base64 of single-precision numbers with the low byte first. It doesn't keep raw.
func (v *vector) UnmarshalJSON(raw []byte) error {
	if raw[0] != '"' {
		return json.Unmarshal(raw, (*[]float32)(v))
	}
	var packed []byte
	if err := json.Unmarshal(raw, &packed); err != nil {
		return err
	}
	if len(packed)%4 != 0 {
		return errNoVector
	}
	numbers := make(vector, 0, len(packed)/4)
	for four := range slices.Chunk(packed, 4) {
		n := math.Float32frombits(binary.LittleEndian.Uint32(four))
		if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
			return errNoVector
		}
		numbers = append(numbers, n)
	}
	*v = numbers
	return nil
}

type embedAnswer struct {
	upstream.Envelope
	Data []struct {
		Index     *int   `json:"index"`
		Embedding vector `json:"embedding"`
	} `json:"data"`
	Usage json.RawMessage `json:"usage"`
}

// decodeEmbed turns an answer of success into one vector a text, in the texts' order and all of one
// length.
func (a *adapter) decodeEmbed(answer upstream.Answer, ask *embedRequest) (supplier.Outcome, error) {
	var body embedAnswer
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	vectors := body.vectors()
	if err := upstream.CheckVectors(answer.Status, vectors, len(ask.Input), ask.Dimensions); err != nil {
		return supplier.Outcome{}, err
	}
	reported := parseUsage(body.Usage)
	reported.OutputTokens = 0
	used := reported.tokens(ask.bytes(), 0)
	return supplier.Outcome{Result: &supplier.Result{Embeddings: vectors, Usage: used}}, nil
}

// vectors returns each vector at its index; without indexes, in the answer's order. An index out of range or given
// twice leaves a place empty.
func (b embedAnswer) vectors() [][]float32 {
	ordered := make([][]float32, len(b.Data))
	for i, d := range b.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i >= 0 && i < len(ordered) {
			ordered[i] = d.Embedding
		}
	}
	return ordered
}
