package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/term"
)

// TestEditor types keys at the prompt of a conversation.
func TestEditor(t *testing.T) {
	long := strings.Repeat("x", 5000) // more than the line of a prompt has room for
	for name, tt := range map[string]struct {
		keys, want string
		err        error
	}{
		"a line":               {"hello\r", "hello", nil},
		"lines":                {"one\\\rtwo \\\r\rrest", "one\ntwo \n", nil},
		"a paste of lines":     {"see \x1b[200~one\r\ntwo\rthree\n\x1b[201~ please\r", "see one\ntwo\nthree\n please", nil},
		"two pastes":           {"\x1b[200~1\n2\x1b[201~ \x1b[200~3\n4\x1b[201~\r", "1\n2 3\n4", nil},
		"a short paste":        {"\x1b[200~a b\x1b[201~\r", "a b", nil},
		"a long paste":         {"\x1b[200~" + long + "\x1b[201~\r", long, nil},
		"a paste that steers":  {"\x1b[200~a\x1b]0;b\x07c\x1b[201~\r", "a]0;bc", nil},
		"a key like a paste":   {"ab\x1b[D\x1b[20x\r", "ab", nil},
		"Esc before a paste":   {"a\x1b\x1b[200~1\n2\x1b[201~\r", "a1\n2", nil},
		"a key cut by a paste": {"a\x1b[2\x1b[200~b c\x1b[201~\r", "ab c", nil},
		"recalled":             {"\x1b[A\r", "former\nlines", nil},
		"Ctrl-C with a text":   {"hello\x03", "", errCleared},
		"Ctrl-C":               {"\x03", "", errCleared},
		"Ctrl-D":               {"\x04", "", io.EOF},
		"the end of the input": {"hello", "", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			e := &editor{}
			e.remember("former\nlines")
			got, _, err := typed(e, tt.keys)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%.60q, %v, want %.60q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// TestEditorLeaves: the second of two Ctrl-C leaves, unless a message or a key stands between them.
func TestEditorLeaves(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  error
	}{
		"two in a row":     {[]string{"\x03", "\x03"}, io.EOF},
		"a line, then one": {[]string{"hello\x03", "\x03"}, io.EOF},
		"a message":        {[]string{"\x03", "hello\r", "\x03"}, errCleared},
		"a key":            {[]string{"\x03", "h\x03"}, errCleared},
	} {
		t.Run(name, func(t *testing.T) {
			e := &editor{}
			var err error
			for _, keys := range tt.lines {
				_, _, err = typed(e, keys)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

// TestEditorShows: a paste of many lines doesn't fill the screen.
func TestEditorShows(t *testing.T) {
	_, screen, err := typed(&editor{}, "\x1b[200~secret\nlines\x1b[201~\r")
	if err != nil || !strings.Contains(screen, "[paste 1: 2 lines]") || strings.Contains(screen, "secret") {
		t.Errorf("%q, %v", screen, err)
	}
}

// typed reads a message from keys, and returns all that the terminal showed too.
func typed(e *editor, keys string) (text, screen string, err error) {
	var out strings.Builder
	k := &keyReader{in: strings.NewReader(keys), editor: e, resize: func() {}}
	line := term.NewTerminal(keyboard{k, &out}, "› ")
	line.History = e
	if text, err = e.message(line); err != nil {
		err = e.left(err, k, func(string) {})
	}
	return text, out.String(), err
}
