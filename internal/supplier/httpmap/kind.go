package httpmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// The options.
const (
	OptionKeyHeader = "key_header" // the header with the key; Authorization by default
	OptionKeyScheme = "key_scheme" // the word before the key, or none; Bearer by default in Authorization, else none
	OptionProbe     = "probe"      // the path of a free request that says whether the supplier is reachable
)

const (
	authorization = "Authorization"
	noScheme      = "none"
	probeLimit    = 1 << 20 // bytes of an answer of which only the status counts
)

// Kind returns the wire format for the list of kinds. Its maps decide which capabilities it serves, others than the
// built-in ones too.
func Kind() supplier.Kind {
	return supplier.Kind{
		Name: "http",
		Capabilities: []string{
			"audio.speech", "audio.transcribe", "image.background_remove", "image.edit", "image.generate", "image.upscale", "text.chat",
			"text.embed", "text.moderate", "text.rerank", "video.extend", "video.generate",
		},
		Maps:      true,
		AnyOutput: true,
		New:       New,
	}
}

// adapter is a Poller, a Canceler, a KeyHonorer, a Reacher, a Refuser and a Modeler.
type adapter struct {
	client *upstream.Client
	plans  map[planKey]*plan
	honors bool // of every map
}

// prober is an adapter whose configuration has a path for Probe.
type prober struct {
	*adapter
	path string
}

// New returns an adapter for the maps in the configuration's files. Its errors are about c.
func New(c supplier.Config) (supplier.Adapter, error) {
	if err := upstream.NoMaxTokensField(c); err != nil {
		return nil, err
	}
	header, scheme, err := keyOptions(c.Options)
	if err != nil {
		return nil, err
	}
	client, err := upstream.Connect(c, func(h http.Header, key string) { h.Set(header, scheme+key) },
		OptionKeyHeader, OptionKeyScheme, OptionProbe)
	if err != nil {
		return nil, err
	}
	plans, err := load(c.Models, header)
	if err != nil {
		return nil, err
	}
	a := &adapter{client: client, plans: plans, honors: len(plans) > 0}
	for _, p := range plans {
		p.format = upstream.Format{Client: client, Judge: p.judge}
		a.honors = a.honors && p.honorsKey
	}
	path := c.Options[OptionProbe]
	if path == "" {
		return a, nil
	}
	if _, err := newTemplate(path); err != nil {
		return nil, fmt.Errorf("option probe: %w", err)
	}
	return &prober{a, path}, nil
}

// keyOptions returns the header with the key, and the text before the key.
func keyOptions(options map[string]string) (header, scheme string, err error) {
	header = cmp.Or(options[OptionKeyHeader], authorization)
	if !isToken(header) || slices.Contains(reserved, http.CanonicalHeaderKey(header)) {
		return "", "", errors.New("option key_header is no header that may have a key")
	}
	scheme = options[OptionKeyScheme]
	switch {
	case scheme == "" && strings.EqualFold(header, authorization):
		return header, "Bearer ", nil
	case scheme == "" || scheme == noScheme:
		return header, "", nil
	case !isToken(scheme):
		return "", "", errors.New("option key_scheme must be a word, or none")
	default:
		return header, scheme + " ", nil
	}
}

// isToken reports whether the text may be a header's name.
func isToken(text string) bool {
	other := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }
	return text != "" && !strings.ContainsFunc(text, other)
}

// Knows reports whether there is a map for the model.
func (a *adapter) Knows(c catalog.Name, model string) bool { return a.plans[planKey{c, model}] != nil }

// HonorsSubmitKey reports whether every map says that the supplier does.
func (a *adapter) HonorsSubmitKey() bool { return a.honors }

// Reach asks the address without a key.
func (a *adapter) Reach(ctx context.Context) error { return a.client.Reach(ctx) }

// Probe sends the configured request, which is free.
func (a *prober) Probe(ctx context.Context) (keyed bool, err error) {
	return upstream.Format{Client: a.client}.Probe(ctx, a.path, probeLimit)
}
