package artifact_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

// TestReadDocument tells PDFs and texts from other bytes, wherever these are.
func TestReadDocument(t *testing.T) {
	const pdf = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
	long := strings.Repeat("x", 32<<10-1)
	for _, tt := range []struct{ name, body, claim, want, problem string }{
		{"a PDF", pdf + "trailer <</Root 1 0 R>>", "application/pdf", "application/pdf", ""},
		{"a PDF claimed as text", pdf, "text/plain", "application/pdf", ""},
		{"no claim", "hello", "", "text/plain", ""},
		{"markdown", "# hello", "text/markdown", "text/markdown", ""},
		{"a rune at the end of a piece", long + "é" + long + "🦊", "", "text/plain", ""},
		{"a PDF about encryption", pdf + "stream (the entry /Encrypt of a trailer) /Encryption 5 0 R /Encrypt 5 R endstream", "", "application/pdf", ""},
		{"encrypted", pdf + "trailer <</Encrypt 5 0 R/Root 1 0 R>>", "", "", "is an encrypted PDF"},
		{"encrypted at the end of a piece", pdf + long[:len(long)-len(pdf)-13] + "trailer <</Encrypt\r\n5 0 R>>" + long, "", "", "is an encrypted PDF"},
		{"encrypted in place", pdf + "/Encrypt<</Filter/Standard>>", "", "", "is an encrypted PDF"},
		{"a zip", "PK\x03\x04\x00", "text/plain", "", "is neither a PDF nor text in UTF-8"},
		{"Latin-1", "caf\xe9 au lait", "", "", "is neither a PDF nor text in UTF-8"},
		{"half a rune at the end", "caf\xc3", "", "", "is neither a PDF nor text in UTF-8"},
		{"a late NUL", long + long + "\x00", "", "", "is neither a PDF nor text in UTF-8"},
		{"late bytes", long + long + "\xff" + long, "", "", "is neither a PDF nor text in UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.body), iotest.HalfReader(strings.NewReader(tt.body))} {
				got, err := artifact.ReadDocument(r, tt.claim, artifact.FromCaller("input.document"))
				problem := ""
				if err != nil {
					problem = strings.TrimPrefix(fault.From(err).Message, "input.document ")
				}
				if got != tt.want || problem != tt.problem {
					t.Errorf("got %q, %q; want %q, %q", got, problem, tt.want, tt.problem)
				}
			}
		})
	}
	if _, err := artifact.ReadDocument(iotest.ErrReader(io.ErrClosedPipe), "", artifact.FromCaller("a")); err != io.ErrClosedPipe { //nolint:errorlint // as it is
		t.Errorf("got %v", err)
	}
}
