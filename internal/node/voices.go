package node

import (
	"slices"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/supplier"
)

// voiced returns a kind that refuses speech by other voices than a route has; with no voices, the kind itself.
func voiced(k supplier.Kind, voices []string) supplier.Kind {
	if len(voices) == 0 {
		return k
	}
	refuses := k.Refuses
	k.Refuses = func(r supplier.Request) string {
		if r.Capability == string(catalog.AudioSpeech) {
			in := jsonread.New(r.Parameters)
			for m := in.Among("voice"); m.Next(); {
				if _, name := in.Text(); !slices.Contains(voices, string(name)) {
					return "the route has no such voice"
				}
			}
		}
		if refuses == nil {
			return ""
		}
		return refuses(r)
	}
	return k
}
