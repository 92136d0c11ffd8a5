package openai

import (
	"context"
	"errors"
	"mime"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var errNoSpeech = errors.New("the answer is no recording")

type speechInput struct {
	Text         string `json:"text"`
	Instructions string `json:"instructions"`
}

type speechParameters struct {
	Voice  string   `json:"voice"`
	Format string   `json:"format"`
	Speed  *float64 `json:"speed"`
}

type speechRequest struct {
	Model          string   `json:"model"`
	Input          string   `json:"input"`
	Voice          string   `json:"voice"`
	Instructions   string   `json:"instructions,omitempty"`
	ResponseFormat string   `json:"response_format,omitempty"`
	Speed          *float64 `json:"speed,omitempty"`
}

func (a *adapter) speak(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := a.newSpeechRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.format.Post(ctx, "/audio/speech", ask, 0)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeSpeech(answer)
}

func (s settings) newSpeechRequest(r supplier.Request) (*speechRequest, error) {
	var in speechInput
	var p speechParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	ask := &speechRequest{
		Model: r.Model, Input: in.Text, Voice: p.Voice, Instructions: in.Instructions, ResponseFormat: p.Format,
	}
	if ask.Voice == "" {
		ask.Voice = s.voice
	}
	if p.Speed != nil && *p.Speed != 1 { // the format's own default; some servers know no speed
		ask.Speed = p.Speed
	}
	return ask, nil
}

// decodeSpeech takes the bytes as they are, if the answer says that they are sound. The gateway counts the characters
// and measures the length: the format doesn't report them.
func (a *adapter) decodeSpeech(answer upstream.Answer) (supplier.Outcome, error) {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if len(answer.Body) > 0 && (strings.HasPrefix(kind, "audio/") || kind == "application/octet-stream") {
		return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{{ContentType: kind, Data: answer.Body}}}}, nil
	}
	var body upstream.Envelope
	if err := upstream.Decode(answer.Body, &body); err == nil {
		if problem := a.format.Problem(answer, body, nil); problem != nil {
			return supplier.Outcome{}, problem
		}
	}
	return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoSpeech)
}
