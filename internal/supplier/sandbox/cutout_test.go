package sandbox_test

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
)

// ring is a picture of a blue ring on a white ground that is lit from one side; with noise in the ring it is too large
// to be kept as it is.
func ring(side int, noise bool) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	random := rand.New(rand.NewPCG(1, 2))
	for y := range side {
		for x := range side {
			dx, dy := 2*x-side, 2*y-side
			c := color.NRGBA{uint8(255 - 24*x/side), 250, 250, 255}
			if r := dx*dx + dy*dy; r < side*side/2 && r > side*side/8 {
				c = color.NRGBA{20, 40, 160, 255}
				if noise {
					c.G += uint8(random.IntN(40))
				}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// TestCutOut: the ground becomes transparent, the ring and the hole within it, which isn't joined to the edge, stay.
func TestCutOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		picture image.Image
		side    int
	}{
		"small": {ring(60, false), 60}, "large": {ring(900, true), 900},
	} {
		raw := encoded(t, tt.picture)
		if large := len(raw) > 48<<10; large != (name == "large") {
			t.Fatalf("%s: %d bytes", name, len(raw))
		}
		img, format := drawn(t, with(request("image.background_remove", `{}`, `{}`), "/image", raw))
		if format != "png" || img.Bounds().Dx() != tt.side || img.Bounds().Dy() != tt.side {
			t.Errorf("%s: %s of %v", name, format, img.Bounds())
		}
		for place, row := range map[string]struct {
			x, y   int
			opaque bool
		}{
			"corner": {0, 0, false}, "other corner": {tt.side - 1, tt.side - 1, false}, "ground": {tt.side / 2, tt.side / 20, false},
			"ring": {tt.side / 2, tt.side / 4, true}, "hole": {tt.side / 2, tt.side / 2, true},
		} {
			c, _ := color.NRGBAModel.Convert(img.At(row.x, row.y)).(color.NRGBA)
			if opaque := c.A == 255; opaque != row.opaque || !opaque && c.A > 0 {
				t.Errorf("%s: the %s is %v", name, place, c)
			}
			if place == "ring" && (c.B < 140 || c.R > 60) {
				t.Errorf("%s: the ring is %v", name, c)
			}
		}
	}
}

// TestCutOutOfAll: a picture of one colour is all background, and one that has no background keeps its middle.
func TestCutOutOfAll(t *testing.T) {
	t.Parallel()
	plain := image.NewGray(image.Rect(0, 0, 7, 3))
	img, _ := drawn(t, with(request("image.background_remove", `{}`, `{}`), "/image", encoded(t, plain)))
	for y := range 3 {
		for x := range 7 {
			if _, _, _, a := img.At(x, y).RGBA(); a != 0 {
				t.Errorf("alpha %d at %d, %d", a, x, y)
			}
		}
	}
	clear := image.NewNRGBA(image.Rect(0, 0, 9, 9))
	clear.SetNRGBA(4, 4, color.NRGBA{0, 0, 0, 255})
	img, _ = drawn(t, with(request("image.background_remove", `{}`, `{}`), "/image", encoded(t, clear)))
	if _, _, _, a := img.At(4, 4).RGBA(); a == 0 {
		t.Error("the one pixel of a picture that is transparent already is gone")
	}
}
