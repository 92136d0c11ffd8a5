package console

import (
	"encoding/json"
	"reflect"

	"unitask/internal/api"
	"unitask/internal/gateway"
)

// peer is a capability that can be run beside another one, with the same inputs.
type peer struct {
	Name, Title string
	Price       api.Price
}

// peersOf returns the offers with the same base and the same inputs as the one at the index: its base and the tiers of it.
func peersOf(offers []gateway.Offer, at int) []peer {
	var all []peer
	for i, o := range offers {
		if i != at && o.Capability.Base() == offers[at].Capability.Base() && sameSchema(o.Capability.InputSchema, offers[at].Capability.InputSchema) {
			all = append(all, peer{string(o.Capability.Name), o.Capability.Title, api.FromCapability(o.Capability, o.Price).Price})
		}
	}
	return all
}

// sameSchema reports whether two schemas are the same document.
func sameSchema(one, other json.RawMessage) bool {
	var a, b any
	return json.Unmarshal(one, &a) == nil && json.Unmarshal(other, &b) == nil && reflect.DeepEqual(a, b)
}
