package catalog

import (
	"crypto/sha256"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/bulk"
)

// Fingerprint is the SHA-256 of the canonical form (RFC 8785) of {capability, input, parameters}.
// White space, member order, the spelling of numbers and escapes don't matter, and absent parameters
// equal an empty object. It relies on Input and Parameters being canonical.
func (r Request) Fingerprint() [sha256.Size]byte {
	parameters := []byte(r.Parameters)
	if len(parameters) == 0 {
		parameters = []byte("{}")
	}
	// AppendQuote objects to invalid UTF-8 alone, which no name of Decode or of a catalog holds.
	name, err := jsontext.AppendQuote(make([]byte, 0, 64), string(r.Capability))
	if err != nil {
		name = []byte("null")
	}
	// The three names are in the canonical order already.
	h := sha256.New()
	for _, part := range [][]byte{
		[]byte(`{"capability":`), name, []byte(`,"input":`), r.Input,
		[]byte(`,"parameters":`), parameters, []byte(`}`),
	} {
		bulk.Hash(h, part)
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}
