// Package openai is the adapter for OpenAI's chat completions and embeddings, and for the many
// servers that speak the same format under another base URL. It builds no job, keeps no state and
// sends each request once.
//
// What a server leaves out is filled in as follows. Without a usage report, tokens are estimated as
// a quarter of the text's bytes, rounded up. Without a finish_reason, an answer is taken as ended by
// itself; a stream without one has broken off. An answer of success that can't be used is of unknown
// outcome, because the work was probably done and paid, and so is a stream that fails after its
// first piece.
//
// Invariants: what a server calls itself, its model, its ids and its words are dropped; a vector of
// another length than was asked for is a failure, not a result.
package openai

import (
	"context"
	"fmt"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/wire"
)

// The capabilities of this kind.
const (
	chat  catalog.Name = "text.chat"
	embed catalog.Name = "text.embed"
)

const (
	fieldMaxTokens           = "max_tokens"
	fieldMaxCompletionTokens = "max_completion_tokens"

	// OptionStreamUsage, set to "off", keeps stream_options out of streamed requests, for servers
	// that refuse it; usage is then estimated.
	OptionStreamUsage = "stream_usage"
	// OptionProxy is the URL of an HTTP or SOCKS5 proxy; the environment's is not used.
	OptionProxy = "proxy"

	chatPath   = "/chat/completions"
	chatLimit  = 16 << 20 // bytes of a text answer, far above any model's longest
	probeLimit = 4 << 20  // bytes of a list of models, of which only the status counts
)

// Kind returns the wire format for the list of kinds.
func Kind() supplier.Kind {
	return supplier.Kind{
		Name:         "openai",
		Capabilities: []string{string(chat), string(embed)},
		New:          New,
		Refuses:      refuses,
	}
}

type adapter struct {
	format      wire.Format
	maxTokens   string // the field that bounds the output
	streamUsage bool
}

// New returns an adapter, which is a Streamer and a Prober too. Its errors are about c.
func New(c supplier.Config) (supplier.Adapter, error) {
	for name := range c.Options {
		if name != OptionStreamUsage && name != OptionProxy {
			return nil, fmt.Errorf("unknown option %q", name)
		}
	}
	switch c.Options[OptionStreamUsage] {
	case "", "on", "off":
	default:
		return nil, fmt.Errorf("option %s must be on or off", OptionStreamUsage)
	}
	client, err := wire.New(wire.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey, Timeout: c.Timeout, Proxy: c.Options[OptionProxy],
	})
	if err != nil {
		return nil, err
	}
	a := &adapter{format: wire.Format{Client: client, Meanings: meanings()}, maxTokens: c.MaxTokensField, streamUsage: c.Options[OptionStreamUsage] != "off"}
	switch a.maxTokens {
	case fieldMaxTokens, fieldMaxCompletionTokens:
	case "":
		a.maxTokens = defaultMaxTokens(client.Host())
	default:
		return nil, fmt.Errorf("max_tokens_field must be %s or %s", fieldMaxTokens, fieldMaxCompletionTokens)
	}
	return a, nil
}

// defaultMaxTokens returns the newer field for the format's author, the one that every compatible
// server knows for the rest: some ignore the newer.
func defaultMaxTokens(host string) string {
	if host == "api.openai.com" {
		return fieldMaxCompletionTokens
	}
	return fieldMaxTokens
}

// Submit sends the request once.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	switch catalog.Name(r.Capability) {
	case chat:
		return a.chat(ctx, r)
	case embed:
		return a.embed(ctx, r)
	default:
		return supplier.Outcome{}, wire.Unfit(fmt.Errorf("capability %s is none of this kind's", r.Capability))
	}
}

// Probe lists the models, which costs nothing.
func (a *adapter) Probe(ctx context.Context) error {
	_, err := a.format.Get(ctx, "/models", probeLimit)
	return err
}

func (a *adapter) chat(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := newChatRequest(r, a.maxTokens)
	if err != nil {
		return supplier.Outcome{}, wire.Unfit(err)
	}
	answer, err := a.format.Post(ctx, chatPath, ask, chatLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeChat(answer, ask.bytes())
}

func (a *adapter) embed(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := newEmbedRequest(r)
	if err != nil {
		return supplier.Outcome{}, wire.Unfit(err)
	}
	answer, err := a.format.Post(ctx, "/embeddings", ask, 0)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeEmbed(answer, ask)
}
