package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// editor has the messages of before for the prompt, and the pastes of the message that is being written. It is a
// term.History.
type editor struct {
	past   []string
	pastes []string
	idle   bool // the last key was a Ctrl-C on an empty line
}

// lineEnd stands for the end of a line within a message that is recalled into the one line of the prompt.
const lineEnd = "⏎"

// remember adds a message to the history.
func (e *editor) remember(text string) {
	if len(e.past) == 0 || e.past[len(e.past)-1] != text {
		e.past = append(e.past, text)
	}
}

// Add ignores the lines that messages consist of.
func (e *editor) Add(string) {}

// Len is how many messages there are.
func (e *editor) Len() int { return len(e.past) }

// At returns a message, the newest at 0.
func (e *editor) At(i int) string {
	return strings.ReplaceAll(printable(e.past[len(e.past)-1-i]), "\n", lineEnd)
}

// errCleared is a Ctrl-C at the prompt.
var errCleared = errors.New("the line was cleared")

// read asks for a message, which has several lines if each but the last ends with a backslash. It returns io.EOF for a
// Ctrl-D and a second Ctrl-C, and errCleared for the first one.
func (s *chatSession) read(ctx context.Context, prompt string) (string, error) {
	return s.t.ask(ctx, func(f *os.File, in io.Reader) (string, error) {
		before, err := term.MakeRaw(int(f.Fd()))
		if err != nil {
			return "", err
		}
		defer func() { _ = term.Restore(int(f.Fd()), before) }()
		keys := &keyReader{in: in, editor: &s.editor}
		line := term.NewTerminal(keyboard{keys, s.t.err}, s.t.errStyle.bold.Render(prompt))
		line.History = &s.editor
		keys.resize = func() {
			if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
				_ = line.SetSize(w, h) // a write, whose fault the next one has too
			}
		}
		keys.resize()
		text, err := s.editor.message(line)
		if err != nil {
			_, _ = io.WriteString(s.t.err, "\r\n")
			err = s.editor.left(err, keys, func(note string) { _, _ = io.WriteString(s.t.err, note+"\r\n") })
		}
		return text, err
	})
}

// markPastes has the terminal tell pastes from keys, also those that come during an answer and wait for the next prompt.
func (t *terminal) markPastes() (end func()) {
	if os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	_, _ = io.WriteString(t.err, "\x1b[?2004h")
	return func() { _, _ = io.WriteString(t.err, "\x1b[?2004l") }
}

// keyboard is the two sides of a prompt.
type keyboard struct {
	io.Reader
	io.Writer
}

// message reads lines up to the first that doesn't end with a backslash.
func (e *editor) message(line *term.Terminal) (string, error) {
	e.pastes = nil
	var text string
	for {
		next, err := line.ReadLine()
		if err != nil {
			return "", err
		}
		more, goesOn := strings.CutSuffix(next, `\`)
		if text += more; !goesOn {
			break
		}
		text += "\n"
		line.SetPrompt("… ")
	}
	e.idle = false
	text = strings.ReplaceAll(text, lineEnd, "\n")
	for i, paste := range e.pastes {
		text = strings.Replace(text, placeholder(i, paste), paste, 1)
	}
	if strings.TrimSpace(text) != "" {
		e.remember(text)
	}
	return text, nil
}

// left tells a Ctrl-C from a Ctrl-D and from an end of the input.
func (e *editor) left(err error, keys *keyReader, note func(string)) error {
	if keys.last != ctrlC || !errors.Is(err, io.EOF) || e.idle && !keys.typed {
		return err
	}
	if e.idle = true; !keys.typed {
		note("Ctrl-C again, or Ctrl-D, leaves")
	}
	return errCleared
}

const (
	ctrlC      = 3
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"

	longestTyped = 200 // characters of a paste that is shown as if it were typed
)

// keyReader gives keys one by one, so that those typed ahead stay for the next prompt. A paste of several lines becomes
// a placeholder for it, because a line of the prompt has room for 4,096 characters and no line ends.
type keyReader struct {
	in      io.Reader
	editor  *editor
	resize  func()
	head    []byte // that may begin a paste
	paste   []byte // nil without one
	pending []byte
	last    byte
	typed   bool // a key other than Ctrl-C was read
}

// Read returns one byte.
func (k *keyReader) Read(p []byte) (int, error) {
	for len(k.pending) == 0 {
		var one [1]byte
		if n, err := k.in.Read(one[:]); err != nil || n == 0 {
			return 0, err
		}
		k.take(one[0])
	}
	k.resize()
	p[0], k.last, k.pending = k.pending[0], k.pending[0], k.pending[1:]
	k.typed = k.typed || k.last != ctrlC
	return 1, nil
}

func (k *keyReader) take(b byte) {
	if k.paste != nil {
		k.paste = append(k.paste, b)
		if text, ended := bytes.CutSuffix(k.paste, []byte(pasteEnd)); ended {
			k.pending, k.paste = []byte(k.editor.pasted(string(text))), nil
		}
		return
	}
	k.head = append(k.head, b)
	switch {
	case string(k.head) == pasteStart:
		k.head, k.paste = nil, []byte{}
	case strings.HasPrefix(pasteStart, string(k.head)):
	case b == pasteStart[0]: // a key that is left before its end, such as a lone Esc, would take the first of the next one
		k.head = []byte{b}
	default:
		k.pending, k.head = k.head, nil
	}
}

// pasted returns the text that stands for a paste at the prompt: a short one as it is.
func (e *editor) pasted(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "�"))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	if !strings.ContainsAny(text, "\n\t") && utf8.RuneCountInString(text) <= longestTyped {
		return text
	}
	e.pastes = append(e.pastes, text)
	return placeholder(len(e.pastes)-1, text)
}

// placeholder stands for a paste in the line of the prompt.
func placeholder(n int, text string) string {
	if lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; lines > 1 {
		return fmt.Sprintf("[paste %d: %d lines]", n+1, lines)
	}
	return fmt.Sprintf("[paste %d: %d characters]", n+1, utf8.RuneCountInString(text))
}
