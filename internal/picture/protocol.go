package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"
)

// Protocol is a terminal's way to show a picture as it is, "" without one.
type Protocol string

// The protocols, by the names that EnvProtocol takes.
const (
	Kitty  Protocol = "kitty"
	ITerm2 Protocol = "iterm2"
	Sixel  Protocol = "sixel"
)

// EnvProtocol is the variable that names the terminal's protocol if Detect doesn't know better, or "none".
const EnvProtocol = "UNITASK_IMAGES"

// A character's size in pixels, as most terminals have it. Only the size on the screen depends on it.
const cellWidth, cellHeight = 10, 20

// Detect tells a terminal's protocol from the environment. Within tmux and screen, which don't pass pictures on by
// themselves, and on an unknown terminal, it is empty.
func Detect(getenv func(string) string) Protocol {
	if said := getenv(EnvProtocol); said != "" {
		return named(said)
	}
	term, program := getenv("TERM"), getenv("TERM_PROGRAM")
	switch {
	case getenv("TMUX") != "" || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen"):
		return ""
	case term == "xterm-kitty" || term == "xterm-ghostty" || program == "ghostty":
		return Kitty
	case slices.Contains([]string{"iTerm.app", "WezTerm", "mintty"}, program) || getenv("LC_TERMINAL") == "iTerm2":
		return ITerm2
	case strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "mlterm") || strings.Contains(term, "sixel"):
		return Sixel
	default:
		return ""
	}
}

func named(word string) Protocol {
	if p := Protocol(word); p == Kitty || p == ITerm2 || p == Sixel {
		return p
	}
	return ""
}

// Write shows a picture at the cursor, in at most so many columns and rows, and ends the line.
func (p Protocol) Write(w io.Writer, img image.Image, columns, rows int) error {
	size := fit(img.Bounds().Size(), image.Pt(max(1, columns)*cellWidth, max(1, rows)*cellHeight))
	small := scaled(img, size)
	var sequence string
	var err error
	switch p {
	case Kitty:
		sequence, err = kittySequence(small)
	case ITerm2:
		sequence, err = iterm2Sequence(small)
	case Sixel:
		sequence, err = sixelSequence(small)
	default:
		err = fmt.Errorf("no image protocol %q", string(p))
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, sequence+"\n")
	return err
}

// kittySequence transmits a PNG in pieces. The terminal doesn't answer (q=2), because the answer would stay unread.
func kittySequence(img image.Image) (string, error) {
	encoded, err := base64PNG(img)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for first := true; first || len(encoded) > 0; first = false {
		piece := encoded[:min(len(encoded), kitty.MaxChunkSize)]
		encoded = encoded[len(piece):]
		options := []string{"m=0"}
		if len(encoded) > 0 {
			options[0] = "m=1"
		}
		if first {
			options = append([]string{"a=T", "f=100", "q=2"}, options...)
		}
		b.WriteString(ansi.KittyGraphics(piece, options...))
	}
	return b.String(), nil
}

func iterm2Sequence(img image.Image) (string, error) {
	encoded, err := base64PNG(img)
	if err != nil {
		return "", err
	}
	return ansi.ITerm2(iterm2.File{
		Size: int64(base64.StdEncoding.DecodedLen(len(encoded))), Inline: true,
		Width: iterm2.Pixels(img.Bounds().Dx()), Content: encoded,
	}), nil
}

func sixelSequence(img image.Image) (string, error) {
	var b bytes.Buffer
	err := new(sixel.Encoder).Encode(&b, img)
	return ansi.SixelGraphics(0, 1, 0, b.Bytes()), err
}

func base64PNG(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, b.Bytes()), nil
}
