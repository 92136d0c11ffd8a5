package console_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/gateway"
	"unitask/internal/server/console"
	"unitask/test/fixture"
)

// TestPeers: a capability is compared with its base and the tiers of it that take the same inputs.
func TestPeers(t *testing.T) {
	all := fixture.Must(catalog.Load([]byte(`capabilities:
  - {name: text.chat.large, extends: text.chat, title: Large, description: Answers hard questions.}
  - {name: text.chat.fast, extends: text.chat, title: Fast, description: Answers at once., parameters: {properties: {seed: null}}}
  - {name: text.chat.short, extends: text.chat, title: Short, description: Takes a prompt., input: {properties: {messages: null}}}
`)))(t).All()
	var offers, closed []gateway.Offer
	for _, c := range all {
		offers = append(offers, gateway.Offer{Capability: c})
		if c.Name != "text.chat" {
			closed = append(closed, gateway.Offer{Capability: c})
		}
	}
	for _, tt := range []struct {
		offers []gateway.Offer
		name   catalog.Name
		want   []string
	}{
		{offers, "text.chat", []string{"text.chat.fast", "text.chat.large"}},
		{offers, "text.chat.fast", []string{"text.chat", "text.chat.large"}},
		{closed, "text.chat.fast", []string{"text.chat.large"}},
		{offers, "text.chat.short", nil},
		{offers, "text.embed", nil},
	} {
		if diff := cmp.Diff(tt.want, console.Peers(tt.offers, tt.name)); diff != "" {
			t.Errorf("%s of %d (-want +got):\n%s", tt.name, len(tt.offers), diff)
		}
	}
}
