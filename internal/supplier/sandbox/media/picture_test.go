package media_test

import (
	"bytes"
	"image"
	"image/color"
	"strings"
	"testing"

	"unitask/internal/supplier/sandbox/media"
)

// colours counts a picture's distinct colours.
func colours(img *image.RGBA) int {
	seen := map[[3]byte]bool{}
	for i := 0; i < len(img.Pix); i += 4 {
		seen[[3]byte(img.Pix[i:i+3])] = true
	}
	return len(seen)
}

func TestDrawHonoursItsSpec(t *testing.T) {
	t.Parallel()
	base := media.PictureSpec{Prompt: "a red fox", Width: 96, Height: 64, Detail: media.Medium}
	first := media.Draw(base)
	if got := first.Bounds(); got != image.Rect(0, 0, 96, 64) {
		t.Errorf("bounds %v", got)
	}
	if got := colours(first); got < 50 {
		t.Errorf("only %d colours", got)
	}
	if !bytes.Equal(first.Pix, media.Draw(base).Pix) {
		t.Error("the same spec gives another picture")
	}
	for name, change := range map[string]func(*media.PictureSpec){
		"prompt": func(s *media.PictureSpec) { s.Prompt = "a blue fox" },
		"avoid":  func(s *media.PictureSpec) { s.Avoid = "red" },
		"seed":   func(s *media.PictureSpec) { s.Seed = 7 },
		"detail": func(s *media.PictureSpec) { s.Detail = media.High },
	} {
		spec := base
		change(&spec)
		if bytes.Equal(first.Pix, media.Draw(spec).Pix) {
			t.Errorf("%s changes nothing", name)
		}
	}
}

// TestTransparent decodes pictures of both formats that can be transparent.
func TestTransparent(t *testing.T) {
	t.Parallel()
	spec := media.PictureSpec{Width: 400, Height: 100, Detail: media.Medium, Transparent: true}
	for _, format := range []string{"png", "webp"} {
		data, err := media.Encode(media.Draw(spec), format, media.Medium)
		if err != nil {
			t.Fatal(err)
		}
		img, err := media.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, corner := img.At(0, 0).RGBA()
		_, _, _, edge := img.At(379, 50).RGBA()
		_, _, _, middle := img.At(200, 50).RGBA()
		if corner != 0 || edge == 0 || edge == 0xffff || middle != 0xffff {
			t.Errorf("%s: alpha %x in a corner, %x at the edge, %x in the middle", format, corner, edge, middle)
		}
	}
}

func TestDrawTakesAnySize(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{1, 1}, {1, 300}, {300, 1}, {16, 16}, {4096, 16}} {
		for seed := range int64(6) {
			img := media.Draw(media.PictureSpec{Prompt: "some words in a row", Seed: seed, Width: size.X, Height: size.Y})
			if img.Bounds().Size() != size {
				t.Errorf("%v: %v", size, img.Bounds())
			}
		}
	}
}

func TestEncodeDecodeRoundTrip(t *testing.T) {
	t.Parallel()
	img := media.Draw(media.PictureSpec{Prompt: "a lake", Width: 120, Height: 80})
	for _, format := range media.Formats() {
		data, err := media.Encode(img, format, media.High)
		if err != nil {
			t.Fatal(err)
		}
		back, err := media.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		lossless := bytes.Equal(media.Fit(back, 4096).Pix, img.Pix)
		if back.Bounds() != img.Bounds() || lossless != (format != "jpeg") {
			t.Errorf("%s: bounds %v, lossless %v", format, back.Bounds(), lossless)
		}
	}
	if _, err := media.Encode(img, "bmp", media.Low); err == nil {
		t.Error("an unknown format is written")
	}
}

func TestDecodeRefusesWhatIsNoPicture(t *testing.T) {
	t.Parallel()
	huge := "GIF89a\xff\xff\xff\xff\x00\x00\x00"
	for _, data := range []string{"", "plain text", huge} {
		if img, err := media.Decode(strings.NewReader(data)); err == nil {
			t.Errorf("%q: a picture of %v", data, img.Bounds())
		}
	}
}

// halves is a mask: its left half one colour, its right half another.
func halves(left, right color.Color) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for i := range 40 * 30 {
		img.Set(i%40, i/40, left)
		if i%40 >= 20 {
			img.Set(i%40, i/40, right)
		}
	}
	return img
}

func TestEditKeepsToItsMask(t *testing.T) {
	t.Parallel()
	source := media.Draw(media.PictureSpec{Prompt: "a lake", Width: 80, Height: 60})
	for name, mask := range map[string]image.Image{
		"transparent marks": halves(color.NRGBA{200, 0, 0, 0}, color.NRGBA{200, 0, 0, 255}),
		"light marks":       halves(color.White, color.Black),
		"bilevel":           media.Bilevel(halves(color.White, color.Black), 20),
	} {
		got := media.Edit(media.EditSpec{Picture: source, Mask: mask, Prompt: "gold", Width: 80, Height: 60})
		var changed [2]int
		for y := range 60 {
			for x := range 80 {
				if got.RGBAAt(x, y) != source.RGBAAt(x, y) {
					changed[x/40]++
				}
			}
		}
		// The seam of a scaled mask is soft.
		if changed[0] < 40*60*9/10 || changed[1] > 2*60 {
			t.Errorf("%s: changed %v", name, changed)
		}
	}
}

func TestEditHonoursItsSpec(t *testing.T) {
	t.Parallel()
	source := media.Draw(media.PictureSpec{Prompt: "a lake", Width: 80, Height: 60})
	base := media.EditSpec{Picture: source, Prompt: "gold", Width: 120, Height: 120}
	first := media.Edit(base)
	if got := first.Bounds(); got != image.Rect(0, 0, 120, 120) {
		t.Errorf("bounds %v", got)
	}
	for name, change := range map[string]func(*media.EditSpec){
		"prompt": func(s *media.EditSpec) { s.Prompt = "blue" },
		"seed":   func(s *media.EditSpec) { s.Seed, s.Prompt = 5, "no colour" },
		"others": func(s *media.EditSpec) { s.Others = []image.Image{halves(color.White, color.Black)} },
	} {
		spec := base
		change(&spec)
		if bytes.Equal(first.Pix, media.Edit(spec).Pix) {
			t.Errorf("%s changes nothing", name)
		}
	}
}
