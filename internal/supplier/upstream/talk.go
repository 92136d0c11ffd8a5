package upstream

import (
	"context"
	"errors"
	"mime"
	"net/http"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream/http1"
)

var (
	// ErrDone, returned by Talk.Event, ends the stream.
	ErrDone = errors.New("the stream is complete")

	errCut = errors.New("the supplier broke its work off")
)

// Talk is a format's reader of one streamed answer. It is used for one stream, by one goroutine.
type Talk interface {
	// Whole takes an answer of success that isn't a stream.
	Whole(a Answer) (supplier.Outcome, error)
	// Event takes one event of an answer with this status and returns its piece, which may be empty.
	Event(status int, e Event) (piece supplier.Delta, err error)
	// Complete says whether only the usage report can still be lost; empty: nothing has come.
	Complete(empty bool) bool
	// Outcome returns the result of all pieces.
	Outcome(told *supplier.Told) supplier.Outcome
}

// pieceRoom is the extra length of a stream, in bytes, for each piece in it: the pieces of a long answer are a
// token each, with hundreds of bytes around it.
const pieceRoom = 1 << 10

// Stream sends body as JSON, once, and delivers the text as it comes. A server that doesn't stream gives it in one
// piece. limit bounds the text, and events without any.
func (f Format) Stream(ctx context.Context, path string, body any, limit int64, talk Talk, delta func(supplier.Delta)) (supplier.Outcome, error) {
	call, err := encode(path, body, limit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	call.Header = http.Header{"Accept": {"text/event-stream"}}
	s, err := f.Client.Open(ctx, f.complete(call))
	if err != nil {
		return supplier.Outcome{}, err
	}
	defer s.Close()
	if s.Status < 200 || s.Status > 299 || isJSON(s.Header) {
		return f.whole(s, talk, delta)
	}
	return listen(s, talk, delta)
}

func isJSON(h http1.Header) bool {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return t == "application/json"
}

// whole takes an answer that isn't a stream.
func (f Format) whole(s *Stream, talk Talk, delta func(supplier.Delta)) (supplier.Outcome, error) {
	answer, err := f.succeed(s.Answer())
	if err != nil {
		return supplier.Outcome{}, err
	}
	out, err := talk.Whole(answer)
	if err == nil && out.Result != nil {
		if piece := out.Result.Piece(); piece.Size() > 0 {
			delta(piece)
		}
	}
	return out, err
}

// listen takes a stream to its end. A complete text can't fail any more: only the usage report may still be lost,
// which is waited for no longer than a moment. One event may be as long as the whole answer, which some repeat.
func listen(s *Stream, talk Talk, delta func(supplier.Delta)) (supplier.Outcome, error) {
	var told supplier.Told
	size, most, bounded := 0, s.left, false
	for event, err := range Events(s, int(most)) {
		complete := talk.Complete(size == 0)
		var piece supplier.Delta
		if err == nil {
			piece, err = talk.Event(s.Status, event)
		}
		if errors.Is(err, ErrDone) {
			break
		}
		if err == nil && int64(size+piece.Size()) > most {
			err = Unusable(s.Status, errTooLarge)
		}
		if err != nil && !complete {
			if size > 0 {
				err = supplier.AfterText(err)
			}
			return supplier.Outcome{}, err
		}
		if piece.Size() > 0 && !complete {
			told.Add(piece)
			size += piece.Size()
			s.left += pieceRoom
			delta(piece)
		}
		if !bounded && talk.Complete(size == 0) {
			bounded = true
			s.bound(reportTime)
		}
	}
	if !talk.Complete(size == 0) {
		return supplier.Outcome{}, Unusable(s.Status, errCut)
	}
	return talk.Outcome(&told), nil
}
