package picture_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/sixel"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"unitask/internal/picture"
)

// quarters is a picture of red, green, blue and white quarters.
func quarters(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{255, 255, 255, 255}
			switch {
			case x < width/2 && y < height/2:
				c = color.RGBA{255, 0, 0, 255}
			case y < height/2:
				c = color.RGBA{0, 255, 0, 255}
			case x < width/2:
				c = color.RGBA{0, 0, 255, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func encoded(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// claiming is a PNG whose header claims a size; there are no bytes behind it.
func claiming(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	head = append(binary.BigEndian.AppendUint32(head, height), 8, 2, 0, 0, 0)
	raw := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(head))
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name string
		raw  []byte
		want image.Point
		says string
	}{
		{"small", encoded(t, quarters(30, 20)), image.Pt(30, 20), ""},
		{"large", encoded(t, quarters(1280, 320)), image.Pt(1024, 256), ""},
		{"a line", encoded(t, quarters(3000, 1)), image.Pt(1024, 1), ""},
		{"damaged", encoded(t, quarters(30, 20))[:60], image.Point{}, "the file is damaged"},
		{"foreign", []byte("%PDF-1.7"), image.Point{}, "the format isn't known here"},
		{"nothing", nil, image.Point{}, "the format isn't known here"},
		{"too many", claiming(100_000, 100_000), image.Point{}, "100000×100000 pixels are too many"},
		{"just too many", claiming(20_000_001, 1), image.Point{}, "20000001×1 pixels are too many"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			img, err := picture.Decode(tt.raw)
			var size image.Point
			if img != nil {
				size = img.Bounds().Size()
			}
			var says string
			if err != nil {
				says = err.Error()
			}
			if size != tt.want || says != tt.says {
				t.Errorf("%v %q, want %v %q", size, says, tt.want, tt.says)
			}
		})
	}
}

func TestTransparentIsBlack(t *testing.T) {
	img, err := picture.Decode(encoded(t, image.NewNRGBA(image.Rect(0, 0, 2, 2))))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := img.RGBAAt(1, 1), (color.RGBA{A: 255}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBlocks(t *testing.T) {
	tests := []struct {
		name          string
		columns, rows int
		profile       termenv.Profile
		want          []string
	}{
		{"true colours", 2, 1, termenv.TrueColor, []string{"\x1b[38;2;255;0;0;48;2;0;0;255m▀\x1b[38;2;0;255;0;48;2;255;255;255m▀\x1b[0m"}},
		{"256 colours", 2, 1, termenv.ANSI256, []string{"\x1b[38;5;196;48;5;21m▀\x1b[38;5;46;48;5;231m▀\x1b[0m"}},
		{"16 colours", 2, 1, termenv.ANSI, []string{"\x1b[91;104m▀\x1b[92;107m▀\x1b[0m"}},
		{"none", 4, 8, termenv.Ascii, []string{"░░▒▒", "  ██"}},
		{"one sequence a change", 4, 8, termenv.TrueColor, []string{
			"\x1b[38;2;255;0;0;48;2;255;0;0m▀▀\x1b[38;2;0;255;0;48;2;0;255;0m▀▀\x1b[0m",
			"\x1b[38;2;0;0;255;48;2;0;0;255m▀▀\x1b[38;2;255;255;255;48;2;255;255;255m▀▀\x1b[0m",
		}},
		{"no room", 0, 5, termenv.TrueColor, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			side := 4
			if tt.rows == 1 {
				side = 2
			}
			got := picture.Blocks(quarters(side, side), tt.columns, tt.rows, tt.profile)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBlocksFit: whatever the picture's proportions, it stays within its room and keeps them.
func TestBlocksFit(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {7, 300}, {300, 7}, {100, 100}, {1024, 3}, {5, 5}} {
		for columns := 1; columns < 90; columns += 22 {
			for rows := 1; rows < 40; rows += 9 {
				lines := picture.Blocks(quarters(size.X, size.Y), columns, rows, termenv.TrueColor)
				if len(lines) < 1 || len(lines) > rows {
					t.Fatalf("%v in %d×%d: %d lines", size, columns, rows, len(lines))
				}
				for _, l := range lines {
					if w := ansi.StringWidth(l); w < 1 || w > columns {
						t.Fatalf("%v in %d×%d: %d columns", size, columns, rows, w)
					}
				}
			}
		}
	}
	square := picture.Blocks(quarters(500, 500), 80, 20, termenv.Ascii)
	if len(square) != 20 || ansi.StringWidth(square[0]) != 40 {
		t.Errorf("a square is drawn in %d×%d characters", ansi.StringWidth(square[0]), len(square))
	}
}

func TestDetect(t *testing.T) {
	tests := []struct {
		env  string
		want picture.Protocol
	}{
		{"TERM=xterm-kitty", picture.Kitty},
		{"TERM=xterm-256color TERM_PROGRAM=ghostty", picture.Kitty},
		{"TERM=xterm-256color TERM_PROGRAM=iTerm.app", picture.ITerm2},
		{"TERM=xterm-256color TERM_PROGRAM=WezTerm", picture.ITerm2},
		{"TERM=xterm-256color LC_TERMINAL=iTerm2", picture.ITerm2},
		{"TERM=foot", picture.Sixel},
		{"TERM=foot-extra", picture.Sixel},
		{"TERM=xterm-256color", ""},
		{"", ""},
		{"TERM=xterm-kitty TMUX=/tmp/x,1,0", ""},
		{"TERM=tmux-256color TERM_PROGRAM=iTerm.app", ""},
		{"TERM=screen LC_TERMINAL=iTerm2", ""},
		{"TERM=xterm UNITASK_IMAGES=sixel", picture.Sixel},
		{"TERM=xterm-kitty UNITASK_IMAGES=none", ""},
		{"TERM=xterm-kitty UNITASK_IMAGES=vnc", ""},
	}
	for _, tt := range tests {
		t.Run(tt.env, func(t *testing.T) {
			env := map[string]string{}
			for word := range strings.FieldsSeq(tt.env) {
				name, value, _ := strings.Cut(word, "=")
				env[name] = value
			}
			if got := picture.Detect(func(name string) string { return env[name] }); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestProtocols reads back the bytes of each protocol: the picture, in the room it has.
func TestProtocols(t *testing.T) {
	tests := []struct {
		protocol picture.Protocol
		decode   func(t *testing.T, sent string) image.Image
	}{
		{picture.Kitty, kittyImage},
		{picture.ITerm2, func(t *testing.T, sent string) image.Image {
			head, rest, _ := strings.Cut(sent, ":")
			if !strings.HasPrefix(head, "\x1b]1337;File=size=") || !strings.HasSuffix(head, ";width=160px;inline=1") {
				t.Errorf("begins with %q", head)
			}
			return pngOf(t, strings.TrimSuffix(rest, "\a\n"))
		}},
		{picture.Sixel, func(t *testing.T, sent string) image.Image {
			payload := strings.TrimSuffix(strings.TrimPrefix(sent, "\x1bP0;1q"), "\x1b\\\n")
			img, err := new(sixel.Decoder).Decode(strings.NewReader(payload))
			if err != nil {
				t.Fatal(err)
			}
			return img
		}},
	}
	for _, tt := range tests {
		t.Run(string(tt.protocol), func(t *testing.T) {
			var b strings.Builder
			if err := tt.protocol.Write(&b, quarters(320, 160), 16, 8); err != nil {
				t.Fatal(err)
			}
			got := tt.decode(t, b.String())
			if size := got.Bounds().Size(); size.X != 160 || size.Y < 80 || size.Y > 85 { // sixels come in sixes
				t.Errorf("it is %v", size)
			}
			r, g, _, _ := got.At(120, 20).RGBA()
			if r>>8 > 10 || g>>8 < 245 {
				t.Errorf("the second quarter is %v", got.At(120, 20))
			}
		})
	}
	if err := picture.Protocol("").Write(&strings.Builder{}, quarters(2, 2), 2, 2); err == nil {
		t.Error("no protocol is no error")
	}
}

// kittyImage puts the pieces together; only the first describes them, only the last ends them.
func kittyImage(t *testing.T, sent string) image.Image {
	t.Helper()
	pieces := strings.Split(strings.TrimSuffix(sent, "\x1b\\\n"), "\x1b\\")
	var payload strings.Builder
	for i, p := range pieces {
		head, body, _ := strings.Cut(strings.TrimPrefix(p, "\x1b_G"), ";")
		want := "m=1"
		if i == len(pieces)-1 {
			want = "m=0"
		}
		if i == 0 {
			want = "a=T,f=100,q=2," + want
		}
		if head != want || len(body) > 4096 {
			t.Errorf("piece %d of %d bytes says %q, want %q", i, len(body), head, want)
		}
		payload.WriteString(body)
	}
	return pngOf(t, payload.String())
}

func pngOf(t *testing.T, b64 string) image.Image {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// FuzzDecode: whatever the file is, there is a picture within bounds or an error, and its drawing holds no control
// sequences but those of colours.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, quarters(9, 5)))
	f.Add(claiming(3, 3))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if c, _, err := image.DecodeConfig(bytes.NewReader(raw)); err == nil && c.Width > 1<<16/max(c.Height, 1) {
			t.Skip() // as many pixels as are allowed take their time
		}
		img, err := picture.Decode(raw)
		if err != nil {
			return
		}
		if size := img.Bounds().Size(); size.X < 1 || size.Y < 1 || size.X > picture.MaxSide || size.Y > picture.MaxSide {
			t.Fatalf("it is %v", size)
		}
		for _, l := range picture.Blocks(img, 20, 10, termenv.TrueColor) {
			if drawn := strings.Trim(ansi.Strip(l), "▀"); drawn != "" {
				t.Errorf("drawn: %q", drawn)
			}
		}
	})
}
