// Package anthropic is the adapter for Anthropic's messages, and for servers that speak the same format
// under another base URL. It builds no job, keeps no state and sends each request once.
//
// The format requires a bound of the output, so one is always sent. A conversation that ends with the assistant's
// words is refused before it is sent: the format takes those for the beginning of the answer. In a usage report,
// tokens written to and read from a cache count as input. Without one, tokens are estimated as a quarter of the
// text's bytes. The format has no seed; one is left out, as the directory says.
//
// How much a model reasons depends on its generation, which its name tells. Models from 4.6 on take an effort and decide
// themselves; those before, and models whose names the package doesn't know, take a budget of tokens within
// max_output_tokens: a fifth, a half or four fifths of it, and 1,024 at least. What a model refuses while it reasons, and
// models that can't but reason, are refused before anything is sent. A model with a budget needs to see again what it
// thought before the first of the tool calls that it is among. If that isn't known, because another supplier made the
// message or the caller left its state out, the request is sent without reasoning.
//
// The state of an answer that calls tools is its thoughts, with their signatures, and its searches. It goes back in front
// of the message's text and calls, or to its place among them. It is left out where the model doesn't think. Newer
// models check that the words before a thought are the same as at first; they are told to drop a thought that doesn't
// fit.
//
// A search of the web is the server's own tool, bounded to 5 searches an answer. A turn that the server pauses ends with
// "length", as one that is cut does: nothing goes on with it.
//
// Invariants: the server's name, its model, its ids and its words are dropped; thoughts are no part of the text.
package anthropic

import (
	"context"
	"fmt"
	"net/http"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

const (
	versionHeader = "Anthropic-Version"
	version       = "2023-06-01"
	chatPath      = "/v1/messages"
	probeLimit    = 4 << 20 // bytes of a list of models, of which only the status counts
	pagesRoom     = 1 << 20 // bytes of what a search finds, which comes encrypted
)

// Kind returns the wire format for the list of kinds.
func Kind() supplier.Kind {
	return supplier.Kind{Name: "anthropic", Capabilities: []string{string(catalog.TextChat)}, Chats: true, New: New, Refuses: refuses}
}

type adapter struct {
	format upstream.Format
}

// New returns an adapter, which is a Streamer and a Prober too. Its errors are about c.
func New(c supplier.Config) (supplier.Adapter, error) {
	if err := upstream.NoMaxTokensField(c); err != nil {
		return nil, err
	}
	client, err := upstream.Connect(c, authorize)
	if err != nil {
		return nil, err
	}
	return &adapter{upstream.Format{Client: client, Header: http.Header{versionHeader: {version}}, Meanings: meanings(), Judge: judge}}, nil
}

func authorize(h http.Header, key string) { h.Set("X-Api-Key", key) }

// Submit sends the request once.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := newChatRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.formatOf(ask).Post(ctx, chatPath, ask, ask.limit(r))
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeChat(answer, ask)
}

// Stream is Submit with the answer delivered as it comes.
func (a *adapter) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	ask, err := newChatRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	ask.Stream = true
	return a.formatOf(ask).Stream(ctx, chatPath, ask, ask.limit(r), &talk{adapter: a, ask: ask, said: content{searches: ask.searches}}, delta)
}

// limit bounds the answer, in bytes. One that rests on searches has the found pages in it.
func (c *chatRequest) limit(r supplier.Request) int64 {
	limit := upstream.TextLimit(r.Parameters)
	if c.searches {
		limit += maxSearches * pagesRoom
	}
	return limit
}

// Probe lists the models, which is free.
func (a *adapter) Probe(ctx context.Context) (keyed bool, err error) {
	return a.format.Probe(ctx, "/v1/models", probeLimit)
}

// checkCapability is the error of a request that should have gone to another kind.
func checkCapability(r supplier.Request) error {
	if catalog.Name(r.Capability) != catalog.TextChat {
		return fmt.Errorf("capability %s is none of this kind's", r.Capability)
	}
	return nil
}
