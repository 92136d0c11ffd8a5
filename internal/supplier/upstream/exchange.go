package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

var errNoJSON = errors.New("the answer is no JSON of the expected form")

// Format is the part of an exchange that one supplier's wire format adds.
type Format struct {
	Client   *Client
	Header   http.Header // of every call; may be nil
	Meanings Meanings
	// Judge may correct the error of an answer that isn't a success; nil: no correction.
	Judge func(a Answer, e *supplier.Error)
}

// Post sends body as JSON, once, and returns the answer of a success, which may still hide an error
// (see Envelope). A body that is Written goes as it stands. limit bounds the answer in bytes; 0: DefaultLimit.
func (f Format) Post(ctx context.Context, path string, body any, limit int64) (Answer, error) {
	call, err := encode(path, body, limit)
	if err != nil {
		return Answer{}, err
	}
	return f.Send(ctx, call)
}

// Get sends a free request and returns the answer of a success.
func (f Format) Get(ctx context.Context, path string, limit int64) (Answer, error) {
	return f.Send(ctx, Call{Method: http.MethodGet, Path: path, Limit: limit})
}

// Probe sends a free request, for a supplier.Prober.
func (f Format) Probe(ctx context.Context, path string, limit int64) (keyed bool, err error) {
	_, err = f.Get(ctx, path, limit)
	return f.Client.key != nil, err
}

// Send sends call, once, and returns the answer of a success, which may still hide an error.
func (f Format) Send(ctx context.Context, call Call) (Answer, error) {
	return f.succeed(f.Client.Do(ctx, f.complete(call)))
}

// complete adds the format's headers to a call.
func (f Format) complete(call Call) Call {
	if len(f.Header) == 0 {
		return call
	}
	h := maps.Clone(f.Header)
	maps.Copy(h, call.Header)
	call.Header = h
	return call
}

func (f Format) succeed(a Answer, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	if !a.OK() {
		return Answer{}, f.Refusal(a)
	}
	return a, nil
}

// Refusal judges an answer that isn't a success, or a success that hides an error.
func (f Format) Refusal(a Answer) *supplier.Error {
	e := Refusal(a, f.Meanings, time.Now())
	if f.Judge != nil {
		f.Judge(a, e)
	}
	return e
}

// Problem returns the error of an answer of success that hides one (e is its decoded part) or, if err is the error of
// decoding it, is only an error; nil otherwise.
func (f Format) Problem(a Answer, e Envelope, err error) error {
	if err == nil && len(e.Error) == 0 && e.Object != "error" {
		return nil
	}
	if json.Valid(a.Body) && ParseProblem(a.Body).Present {
		return f.Refusal(a)
	}
	if err != nil {
		return Unusable(a.Status, errNoJSON)
	}
	return nil
}

// Envelope is the members that any answer may have instead of a result; answers embed it.
type Envelope struct {
	Error  json.RawMessage `json:"error"`
	Object string          `json:"object"`
}

// Unfit is the failure of a request that should never have got to the adapter. A cause that is an adapter's error
// already, such as Unsuited, is returned as it is.
func Unfit(cause error) *supplier.Error {
	if e, ok := errors.AsType[*supplier.Error](cause); ok {
		return e
	}
	return Failure(supplier.NotSent, fault.Internal, cause)
}

// Written is JSON that is written already, in pieces, of which there is one at least. They must stay as they are until
// the answer is there.
type Written [][]byte

func encode(path string, body any, limit int64) (Call, error) {
	if written, ok := body.(Written); ok {
		return Call{Path: path, Body: written[0], More: written[1:], Limit: limit}, nil
	}
	encoded, err := jsonv2.Marshal(body)
	if err != nil {
		return Call{}, Unfit(errors.New("the request can't be encoded"))
	}
	return Call{Path: path, Body: encoded, Limit: limit}, nil
}
