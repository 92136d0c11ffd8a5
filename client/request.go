package client

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"time"
)

// Input is the request of a task whose output is an Out: a generated input such as TextChatInput, a Request or a Body.
type Input[Out any] interface {
	body() (json.RawMessage, error)
	output() Out // says what Out is, and isn't called
}

// Request is a request of any capability, for those that only a service's own catalog has. Input and Parameters are
// written as JSON; Out is the type that the output is decoded into, json.RawMessage for any.
type Request[Out any] struct {
	Capability string            `json:"capability"`
	Input      any               `json:"input"`
	Parameters any               `json:"parameters,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
}

func (r Request[Out]) body() (json.RawMessage, error) {
	if r.Input == nil {
		r.Input = struct{}{}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, &Error{Code: CodeInvalidRequest, Message: "the request can't be written as JSON", cause: err}
	}
	return raw, nil
}

func (Request[Out]) output() (out Out) { return out }

// Body is the JSON of a whole request, which is sent as it is.
type Body[Out any] json.RawMessage

func (b Body[Out]) body() (json.RawMessage, error) { return json.RawMessage(b), nil }

func (Body[Out]) output() (out Out) { return out }

// Media is a picture, a recording, a video or a document: at an address that the service fetches, as bytes with their
// type, or as an artifact, which is a file of an earlier task or an upload. Just one of the three is set.
type Media struct {
	URL         string `json:"url,omitempty"`
	Data        []byte `json:"data,omitempty"`
	ContentType string `json:"content_type,omitempty"` // of Data, such as image/png
	Artifact    string `json:"artifact,omitempty"`     // its id
}

// Artifact is a file that the service keeps for a while: a result, which Download fetches, or an upload.
type Artifact struct {
	ID          string    `json:"id"`
	URL         string    `json:"url"` // signed, made afresh at each read; it expires
	ContentType string    `json:"content_type"`
	Bytes       int64     `json:"bytes"`
	SHA256      string    `json:"sha256"`
	Width       *int      `json:"width"`            // in pixels
	Height      *int      `json:"height"`           // in pixels
	Duration    *float64  `json:"duration_seconds"` // of videos and audio
	ExpiresAt   time.Time `json:"expires_at"`
}

// Media is the artifact as a value of a later request.
func (a Artifact) Media() Media { return Media{Artifact: a.ID} }

// Vector is an embedding, of either encoding.
type Vector []float32

// UnmarshalJSON reads numbers, or the base64 of their single precision, each low byte first.
func (v *Vector) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		return json.Unmarshal(b, (*[]float32)(v))
	}
	var raw []byte
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return errors.New("an embedding isn't a whole number of floats")
	}
	*v = make(Vector, len(raw)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

// Several is a value that is a text or a list of parts. Parts are sent if there are any.
type Several[Part any] struct {
	Text  string
	Parts []Part
}

// MarshalJSON writes the text or the parts.
func (s Several[Part]) MarshalJSON() ([]byte, error) {
	if len(s.Parts) > 0 {
		return json.Marshal(s.Parts)
	}
	return json.Marshal(s.Text)
}

// UnmarshalJSON reads either.
func (s *Several[Part]) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, &s.Parts)
	}
	return json.Unmarshal(b, &s.Text)
}
