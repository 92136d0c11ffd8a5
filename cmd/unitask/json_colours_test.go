package main

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"unicode/utf8"

	"unitask/internal/shown"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// FuzzJSONColours: without its colours the text is the same.
func FuzzJSONColours(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e+3,true,null,"x"],"b\\":":"\"c\": 1","":{}}`, `"true"`, `[]`, `"\\"`, `{"a" : "\u001b[31m"}`} {
		f.Add([]byte(seed))
	}
	styles := colouredStyles()
	f.Fuzz(func(t *testing.T, raw []byte) {
		var indented bytes.Buffer
		if json.Indent(&indented, raw, "", "  ") != nil || !utf8.Valid(raw) {
			t.Skip("no JSON as this program writes it")
		}
		plain := shown.JSON(indented.Bytes())
		if got := ansi.Strip(string(styles.json(plain))); got != string(plain) {
			t.Errorf("%q became %q", plain, got)
		}
	})
}

// colouredStyles are those of a terminal with colours.
func colouredStyles() styles {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI)
	return styles{bold: r.NewStyle().Bold(true), good: r.NewStyle().Foreground(lipgloss.Color("2")), busy: r.NewStyle().Foreground(lipgloss.Color("6"))}
}

func TestJSONColours(t *testing.T) {
	got := string(colouredStyles().json([]byte("{\n  \"a\": \"b: \\\"c\\\"\",\n  \"n\": -1.5\n}")))
	want := "{\n  \x1b[36m\"a\"\x1b[0m: \x1b[32m\"b: \\\"c\\\"\"\x1b[0m,\n  \x1b[36m\"n\"\x1b[0m: \x1b[1m-1.5\x1b[0m\n}"
	if got != want {
		t.Errorf("coloured:\n%q, want\n%q", got, want)
	}
}
