// Package gemini is the adapter for Google's Gemini API: text, embeddings, images and speech, each in
// one exchange, and videos by Veo as a job that is polled. It keeps no state and sends each request once.
//
// The API can't cancel a job or find one by a key of ours. A video's bytes are opened with the supplier's key, which
// goes to the base URL's host alone; a redirect elsewhere is refused.
//
// The API's gaps are filled if that is free: an image of another format than was asked for is encoded anew, raw sound
// gets a WAV header, and instructions for a voice stand before the text. Sizes of images are those that the models
// make, to the pixel. Without a usage report, tokens are estimated as a quarter of the text's bytes.
//
// What a model can do beyond a chat depends on its series, which its name tells (traitsOf). Each series has a form of its
// own to say how much it thinks; maxOutputTokens bounds thoughts and text together. The signatures of an answer's parts
// are its state. The series 3 refuses its calls of tools without them, so that calls of another model, or whose state
// was left out, go with the word that Google gives for that. A search costs by its queries, or with a model before the
// series 3 by the request, and Usage.Searches counts so; what it found isn't charged as input. A search beside tools is
// refused: it works only with each part of the earlier answers sent back as it came, and a state may be left out.
//
// Invariants: the server's name, its model, its ids and its words are dropped; thoughts are Result.Reasoning and never
// part of a text, and sketches are no part of a result.
package gemini

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

const (
	version    = "/v1beta/"
	textLimit  = 16 << 20 // bytes of all vectors or of a job's state, far above any model's longest
	probeLimit = 4 << 20  // bytes of a list of models, of which only the status counts
)

// Kind returns the wire format for the list of kinds.
func Kind() supplier.Kind {
	return supplier.Kind{
		Name: "gemini",
		Capabilities: []string{
			string(catalog.AudioSpeech), string(catalog.ImageEdit), string(catalog.ImageGenerate), string(catalog.TextChat), string(catalog.TextEmbed), string(catalog.VideoGenerate),
		},
		New:     New,
		Refuses: refuses,
		Chats:   true,
	}
}

type adapter struct {
	format upstream.Format
}

// New returns an adapter, which is a Poller, a Streamer and a Prober too. Its errors are about c.
func New(c supplier.Config) (supplier.Adapter, error) {
	if err := upstream.NoMaxTokensField(c); err != nil {
		return nil, err
	}
	client, err := upstream.Connect(c, authorize)
	if err != nil {
		return nil, err
	}
	return &adapter{upstream.Format{Client: client, Meanings: meanings(), Judge: judge}}, nil
}

func authorize(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) }

// Submit sends the request once.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	switch catalog.Name(r.Capability) {
	case catalog.TextChat:
		return a.chat(ctx, r)
	case catalog.TextEmbed:
		return a.embed(ctx, r)
	case catalog.ImageGenerate, catalog.ImageEdit:
		return a.imagine(ctx, r)
	case catalog.AudioSpeech:
		return a.speak(ctx, r)
	case catalog.VideoGenerate:
		return a.film(ctx, r)
	default:
		return supplier.Outcome{}, upstream.Unfit(fmt.Errorf("capability %s is none of this kind's", r.Capability))
	}
}

// Probe lists the models, which is free.
func (a *adapter) Probe(ctx context.Context) (keyed bool, err error) {
	return a.format.Probe(ctx, version+"models", probeLimit)
}

// method returns the path of a model's method.
func method(model, name string) string {
	return version + "models/" + url.PathEscape(model) + ":" + name
}
