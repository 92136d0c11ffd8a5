package recording_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/cellbuf"
	"github.com/google/go-cmp/cmp"

	"unitask/test/recording"
)

// sample is a session of five frames; the third shows the first one's second row again, and the last a wide letter.
func sample() *recording.Recording {
	r := &recording.Recording{Title: "a <sample>", Width: 12, Height: 3}
	at := time.Date(2026, 11, 26, 16, 0, 0, 0, time.UTC)
	for i, s := range []recording.Screen{
		{Rows: "\x1b[1;32m$\x1b[0m \nfirst\n", X: 2, Pointer: true},
		{Rows: "\x1b[1;32m$\x1b[0m a\nother\n", X: 3, Pointer: true},
		{Rows: "\x1b[1;32m$\x1b[0m a\nother\n", X: 3, Pointer: true},
		{Rows: "\x1b[31mred\x1b[39m & <\nfirst\n▀\x1b[44m▄ \x1b[0m", Pointer: false},
		{Rows: "\n\n  🦊 fox", X: 7, Y: 2, Pointer: true},
		{Rows: "\x1b[7mend\x1b[0m\n\n  🦊 fox"},
	} {
		r.Add(s, at.Add(time.Duration(i)*5*time.Second))
		if i == 3 {
			r.Hold(2 * time.Second)
		}
	}
	return r
}

// texts are what the sample shows, frame by frame.
var texts = []string{"$\nfirst", "$ a\nother", "red & <\nfirst\n▀▄", "\n\n  🦊 fox", "end\n\n  🦊 fox"}

func TestFrames(t *testing.T) {
	r := sample()
	var got []string
	var times []time.Duration
	for _, f := range r.Frames() {
		got = append(got, f.Text())
		times = append(times, f.For)
	}
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
	want := []time.Duration{400 * time.Millisecond, 400 * time.Millisecond, 2 * time.Second, 400 * time.Millisecond, 4 * time.Second}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
	if r.Length() != 7200*time.Millisecond {
		t.Errorf("length %s", r.Length())
	}
}

// TestCast plays the asciicast on a screen of its own and compares each frame.
func TestCast(t *testing.T) {
	raw, err := sample().Cast()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Scan()
	var header struct{ Version, Width, Height int }
	if err := json.Unmarshal(lines.Bytes(), &header); err != nil || header.Version != 2 || header.Width != 12 || header.Height != 3 {
		t.Fatalf("the header %s: %v", lines.Bytes(), err)
	}
	screen := make([]string, header.Height)
	var got []string
	var times []float64
	for lines.Scan() {
		var event []any
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil || len(event) != 3 || event[1] != "o" {
			t.Fatalf("the event %s: %v", lines.Bytes(), err)
		}
		times = append(times, event[0].(float64))
		for _, m := range regexp.MustCompile(`(?s)\x1b\[(?:(\d+);1)?H\x1b\[m(.*?)\x1b\[m\x1b\[K`).FindAllStringSubmatch(event[2].(string), -1) {
			y, _ := strconv.Atoi(m[1])
			screen[max(y, 1)-1] = strings.TrimRight(ansi.Strip(m[2]), " ")
		}
		got = append(got, strings.TrimRight(strings.Join(screen, "\n"), "\n"))
	}
	if diff := cmp.Diff(append(texts, texts[len(texts)-1]), got); diff != "" {
		t.Errorf("what is played (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{0, .4, .8, 2.8, 3.2, 7.2}, times); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
	if !bytes.Contains(raw, []byte(`\u001b[31mred\u001b[m`)) || !bytes.Contains(raw, []byte(`\u001b[7mend`)) {
		t.Errorf("the colours are lost:\n%s", raw)
	}
}

// TestSVG reads the picture as a browser does: at the middle of each frame, the letters that are visible then.
func TestSVG(t *testing.T) {
	r := sample()
	p := parse(t, r.SVG())
	var at time.Duration
	for i, f := range r.Frames() {
		if got, want := p.text((at + f.For/2).Seconds()), strings.TrimSuffix(texts[i], "\n▀▄"); got != want {
			t.Errorf("frame %d shows %q, want %q", i, got, want)
		}
		at += f.For
	}
	if got := p.text(-1); got != texts[len(texts)-1] {
		t.Errorf("without motion it shows %q", got)
	}
	if p.seconds != r.Length().Seconds() {
		t.Errorf("it takes %v s, want %s", p.seconds, r.Length())
	}
}

// TestLooks: colours, bold and reversed letters, halves of cells.
func TestLooks(t *testing.T) {
	for _, c := range []struct{ rows, want string }{
		{"\x1b[31mred", `<text x="0" y="14" textLength="27" class="c1">red</text>`},
		{"\x1b[91mred", `<text x="0" y="14" textLength="27" class="c9">red</text>`},
		{"\x1b[1;38;5;4mb", `<text x="0" y="14" class="c4 b">b</text>`},
		{"\x1b[38;5;196mx", `<text x="0" y="14" style="fill:#ff0000">x</text>`},
		{"\x1b[38;2;1;2;3mx", `<text x="0" y="14" style="fill:#010203">x</text>`},
		{"\x1b[3;4;9mx", `<text x="0" y="14" class="i u s">x</text>`},
		{"\x1b[2mx", `<text x="0" y="14" style="fill:#92999f">x</text>`},
		{"\x1b[7mx", `<path fill="#e6edf3" d="M0 0h9v18h-9z"/><text x="0" y="14" style="fill:#161b22">x</text>`},
		{"\x1b[44m x", `<path fill="#58a6ff" d="M0 0h18v18h-18z"/><text x="9" y="14">x</text>`},
		{"\x1b[31;42m▀▀", `<path fill="#ff7b72" d="M0 0h18v9h-18z"/><path fill="#3fb950" d="M0 9h18v9h-18z"/>`},
		{"\x1b[31m▄█", `<path fill="#ff7b72" d="M0 9h9v9h-9zM9 0h9v18h-9z"/>`},
		{"\x1b[31m──\x1b[39m│", `<path fill="#ff7b72" d="M0 9h18v1h-18z"/><path fill="#e6edf3" d="M22 0h1v18h-1z"/>`},
		{"a\x1b[31m \x1b[39mb  c", `<text x="0" y="14" textLength="27">a b</text><text x="45" y="14">c</text>`},
		{"a\x1b[31mb\x1b[39m", `<text x="0" y="14">a</text><text x="9" y="14" class="c1">b</text>`},
		{"🦊a", `<text x="0" y="14" textLength="27">🦊a</text>`},
	} {
		r := &recording.Recording{Width: 10, Height: 1}
		r.Add(recording.Screen{Rows: c.rows}, time.Time{})
		if _, got, _ := bytes.Cut(r.SVG(), []byte(`class="f l">`)); !bytes.HasPrefix(got, []byte(c.want+"</g>")) {
			t.Errorf("%q is drawn as %s, want %s", c.rows, got, c.want)
		}
	}
}

// picture is an SVG as its reader understands it.
type picture struct {
	seconds float64
	frames  map[string][]key // by the group's id
	groups  []drawn
}

type key struct {
	percent float64
	visible bool
}

type drawn struct {
	ID    string `xml:"id,attr"`
	Class string `xml:"class,attr"`
	Texts []struct {
		X    int    `xml:"x,attr"`
		Y    int    `xml:"y,attr"`
		Text string `xml:",chardata"`
	} `xml:"text"`
}

func parse(t *testing.T, raw []byte) picture {
	t.Helper()
	var doc struct {
		Style  string  `xml:"style"`
		Groups []drawn `xml:"g>g"`
	}
	if err := xml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	p := picture{frames: map[string][]key{}, groups: doc.Groups}
	if _, err := fmt.Sscanf(doc.Style[strings.Index(doc.Style, ".f{animation:"):], ".f{animation:%fs", &p.seconds); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`#(g\d+)\{animation-name:k\d+\}@keyframes k\d+\{(.*)\}\n`).FindAllStringSubmatch(doc.Style, -1) {
		for _, k := range regexp.MustCompile(`([\d.]+)%\{visibility:(\w+)\}`).FindAllStringSubmatch(m[2], -1) {
			percent, err := strconv.ParseFloat(k[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			p.frames[m[1]] = append(p.frames[m[1]], key{percent, k[2] == "visible"})
		}
	}
	if len(p.groups) == 0 || len(p.frames) != len(p.groups) {
		t.Fatalf("%d groups, of which %d move", len(p.groups), len(p.frames))
	}
	return p
}

// text is what is visible at the second, or without motion if it is below 0.
func (p picture) text(second float64) string {
	screen := cellbuf.NewBuffer(12, 3)
	for _, g := range p.groups {
		visible := strings.HasSuffix(g.Class, " l")
		if second >= 0 {
			for _, k := range p.frames[g.ID] {
				if k.percent <= 100*second/p.seconds {
					visible = k.visible
				}
			}
		}
		for _, text := range g.Texts {
			if visible {
				cellbuf.SetContentRect(screen, text.Text, cellbuf.Rect(text.X/9, text.Y/18, ansi.StringWidth(text.Text), 1))
			}
		}
	}
	lines := strings.Split(ansi.Strip(cellbuf.Render(screen)), "\r\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
