package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"unitask/internal/supplier"
)

// timesOfBoth is the value of timestamps that asks for segments and, beside them, words.
const timesOfBoth = "both"

// askedPieces leaves of a transcript the pieces that the caller asked for. Its error, which wraps errUnfit, says that a
// recording in which something is said lacks them.
func (w *work) askedPieces(r *supplier.Result) error {
	asked := struct {
		Timestamps string `json:"timestamps"`
		Speakers   bool   `json:"speakers"`
	}{}
	if err := json.Unmarshal(w.t.Parameters, &asked); err != nil {
		return fmt.Errorf("%w: the parameters can't be read", errUnfit)
	}
	timed := asked.Timestamps != "" && asked.Timestamps != "none"
	if !timed && !asked.Speakers {
		r.Segments = nil
	}
	if asked.Timestamps != timesOfBoth {
		r.Words = nil
	}
	if !asked.Speakers {
		r.Segments, r.Words = unnamed(r.Segments), unnamed(r.Words)
	}
	said := r.Text != nil && strings.TrimSpace(strings.TrimPrefix(*r.Text, "WEBVTT")) != ""
	switch {
	case !said:
		return nil
	case timed && r.Segments == nil, asked.Timestamps == timesOfBoth && r.Words == nil:
		return fmt.Errorf("%w: the transcript lacks the times that were asked for", errUnfit)
	case asked.Speakers && !slices.ContainsFunc(r.Segments, func(s supplier.Segment) bool { return s.Speaker != "" }):
		return fmt.Errorf("%w: the transcript lacks the speakers that were asked for", errUnfit)
	}
	return nil
}

// unnamed returns pieces without their speakers.
func unnamed(pieces []supplier.Segment) []supplier.Segment {
	pieces = slices.Clone(pieces)
	for i := range pieces {
		pieces[i].Speaker = ""
	}
	return pieces
}
