package catalog

import (
	"crypto/sha256"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/bulk"
)

// Fingerprint is the SHA-256 of the canonical form (RFC 8785) of {capability, input, parameters}.
// White space, member order, the spelling of numbers and escapes don't matter, and absent parameters
// equal an empty object. It relies on Input and Parameters being canonical.
func (r Request) Fingerprint() [sha256.Size]byte {
	parameters := r.Parameters
	if len(parameters) == 0 {
		parameters = []byte("{}")
	}
	// The three names are in the canonical order already. AppendQuote objects to invalid UTF-8 alone, which no name of
	// Decode or of a catalog holds.
	head, err := jsontext.AppendQuote([]byte(`{"capability":`), string(r.Capability))
	if err != nil {
		head = []byte(`{"capability":null`)
	}
	tail := slices.Concat([]byte(`,"parameters":`), parameters, []byte(`}`))
	h := sha256.New()
	for _, part := range [][]byte{append(head, `,"input":`...), r.Input, tail} {
		bulk.Hash(h, part)
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}
