// Package openai is the adapter for OpenAI's responses, chat completions, embeddings, images, speech, transcription and
// moderations, and for the many servers that speak the same formats under another base URL. It builds no job, keeps
// no state and sends each request once. A chat goes by one of the two APIs for it (see OptionChatAPI). A server's differences from the format's author are configuration (the Option
// constants), and a missing ability excludes its route.
//
// Missing members of an answer are filled in as follows. Without a usage report, tokens are estimated as a quarter of
// the text's bytes, rounded up. Without a finish_reason, an answer is taken as ended by itself; a stream without one
// has broken off. An answer of success that can't be used is of unknown outcome, because the work was probably done
// and paid, and so is a stream that fails after its first piece.
//
// Invariants: a server's name, its model, its ids and its words are dropped; a vector of another length than was
// asked for is a failure, not a result, and so is a transcript without the times that were asked for.
package openai

import (
	"context"
	"fmt"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

const (
	fieldMaxTokens           = "max_tokens"
	fieldMaxCompletionTokens = "max_completion_tokens"

	chatPath   = "/chat/completions"
	chatLimit  = 16 << 20 // bytes of a transcript or a verdict, far above any model's longest
	probeLimit = 4 << 20  // bytes of a list of models, of which only the status counts
)

// Kind returns the wire format for the list of kinds.
func Kind() supplier.Kind {
	return supplier.Kind{
		Name: "openai",
		Capabilities: []string{
			string(catalog.AudioSpeech), string(catalog.AudioTranscribe), string(catalog.ImageEdit), string(catalog.ImageGenerate), string(catalog.TextChat), string(catalog.TextEmbed),
			string(catalog.TextModerate),
		},
		New:       New,
		Refuses:   refuses,
		Moderates: true,
		Chats:     true,
	}
}

type adapter struct {
	settings
	format upstream.Format
}

// New returns an adapter, which is a Streamer, a Moderator, a Prober and a Refuser too. Its errors are about c.
func New(c supplier.Config) (supplier.Adapter, error) {
	client, err := upstream.Connect(c, nil,
		OptionChatAPI, OptionSummaries, OptionStreamUsage, OptionReportedCost, OptionFeatures, OptionVectors,
		OptionImageFields, OptionImageFormat, OptionImageAnswer,
		OptionSpeechFields, OptionSpeechFormats, OptionVoice, OptionTranscripts, OptionTranscriptFeatures)
	if err != nil {
		return nil, err
	}
	s, err := newSettings(c, client.Host())
	if err != nil {
		return nil, err
	}
	return &adapter{settings: s, format: upstream.Format{Client: client, Meanings: meanings()}}, nil
}

// Submit sends the request once.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	switch catalog.Name(r.Capability) {
	case catalog.TextChat:
		return a.chat(ctx, r)
	case catalog.TextEmbed:
		return a.embed(ctx, r)
	case catalog.TextModerate:
		return a.judge(ctx, r)
	case catalog.ImageGenerate:
		return a.imagine(ctx, r)
	case catalog.ImageEdit:
		return a.edit(ctx, r)
	case catalog.AudioSpeech:
		return a.speak(ctx, r)
	case catalog.AudioTranscribe:
		return a.transcribe(ctx, r)
	default:
		return supplier.Outcome{}, upstream.Unfit(fmt.Errorf("capability %s is none of this kind's", r.Capability))
	}
}

// Probe lists the models, which is free.
func (a *adapter) Probe(ctx context.Context) (keyed bool, err error) {
	return a.format.Probe(ctx, "/models", probeLimit)
}

func (a *adapter) chat(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	api := a.api(r)
	ask, err := a.ask(r, api, false)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.format.Post(ctx, api.path(), ask.body, api.limit(r))
	if err != nil {
		return supplier.Outcome{}, err
	}
	var out supplier.Outcome
	if api == responses {
		out, err = a.decodeResponse(answer, ask.bytes)
	} else {
		out, err = a.decodeChat(answer, ask.bytes)
	}
	answer.Vacate() // the outcome holds copies
	return out, err
}

func (a *adapter) embed(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := a.newEmbedRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.format.Post(ctx, "/embeddings", ask, upstream.VectorsLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeEmbed(answer, ask)
}
