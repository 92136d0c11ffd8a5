package anthropic_test

import (
	"bytes"
	"strings"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/door/anthropic"
	"unitask/internal/fault"
	"unitask/test/fixture"
)

// FuzzTranslate holds that any body is refused in words, or becomes a creation that can be decoded, and that the
// directory's objections to it are about members of the request.
func FuzzTranslate(f *testing.F) {
	for _, tt := range refusals {
		f.Add([]byte(tt.request))
	}
	for _, tt := range translations {
		f.Add([]byte(tt.request))
	}
	directory := fixture.Must(defaultDirectory())(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		c, err := anthropic.Messages(body)
		if err != nil {
			if e := fault.From(err); e.Code != fault.InvalidRequest || len(e.Details) == 0 {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		if !bytes.Equal(given, body) {
			t.Fatal("the body was changed")
		}
		r, refused := catalog.Decode(c.Body("text.chat"), catalog.Limits{})
		if refused != nil {
			t.Fatalf("%q: %v", c.Body("text.chat"), refused)
		}
		if refused := directory.Validate(r); refused != nil {
			for _, d := range c.Explain(refused).Details {
				if d.Field == "" || strings.HasPrefix(d.Field, "parameters") || strings.HasPrefix(d.Field, "input.") {
					t.Fatalf("%q: %v", body, d)
				}
			}
		}
	})
}
