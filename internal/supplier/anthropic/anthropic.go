// Package anthropic is the adapter for Anthropic's messages, and for servers that speak the same format
// under another base URL. It builds no job, keeps no state and sends each request once.
//
// The format requires a bound of the output, so one is always sent. A conversation that ends with the assistant's
// words is refused before it is sent: the format takes those for the beginning of the answer. In a usage report,
// tokens written to and read from a cache count as input. Without one, tokens are estimated as a quarter of the
// text's bytes. The format has no seed; one is left out, as the directory says.
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
	version    = "2023-06-01"
	chatPath   = "/v1/messages"
	probeLimit = 4 << 20 // bytes of a list of models, of which only the status counts
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
	return &adapter{upstream.Format{Client: client, Header: http.Header{"Anthropic-Version": {version}}, Meanings: meanings(), Judge: judge}}, nil
}

func authorize(h http.Header, key string) { h.Set("X-Api-Key", key) }

// Submit sends the request once.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := newChatRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.format.Post(ctx, chatPath, ask, upstream.TextLimit(r.Parameters))
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeChat(answer, ask.bytes())
}

// Stream is Submit with the text delivered as it comes.
func (a *adapter) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	ask, err := newChatRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	ask.Stream = true
	return a.format.Stream(ctx, chatPath, ask, upstream.TextLimit(r.Parameters), &talk{adapter: a, asked: ask.bytes()}, delta)
}

// Probe lists the models, which is free.
func (a *adapter) Probe(ctx context.Context) error {
	_, err := a.format.Get(ctx, "/v1/models", probeLimit)
	return err
}

// checkCapability is the error of a request that should have gone to another kind.
func checkCapability(r supplier.Request) error {
	if catalog.Name(r.Capability) != catalog.TextChat {
		return fmt.Errorf("capability %s is none of this kind's", r.Capability)
	}
	return nil
}
