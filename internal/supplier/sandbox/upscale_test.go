package sandbox_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// blocks is a PNG of four quarters: red, green, blue and transparent.
func blocks(t *testing.T, side int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			img.SetNRGBA(x, y, quarter(x < side/2, y < side/2))
		}
	}
	return encoded(t, img)
}

func quarter(left, top bool) color.NRGBA {
	switch {
	case left && top:
		return color.NRGBA{255, 0, 0, 255}
	case top:
		return color.NRGBA{0, 255, 0, 255}
	case left:
		return color.NRGBA{0, 0, 255, 255}
	default:
		return color.NRGBA{}
	}
}

func encoded(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// drawn has the sandbox do the work, and decodes its one picture.
func drawn(t *testing.T, r supplier.Request) (image.Image, string) {
	t.Helper()
	a := mustNew(t, "sandbox-a", instant)
	o, err := a.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got := ready(t, a, o)
	if len(got.Files) != 1 || got.Usage != (supplier.Usage{Images: 1}) {
		t.Fatalf("%d files, usage %+v", len(got.Files), got.Usage)
	}
	checkBytes(t, got.Files[0])
	img, format, err := image.Decode(bytes.NewReader(got.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	return img, format
}

// TestUpscale: each pixel becomes a block of its colour, apart from the edges between colours.
func TestUpscale(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		parameters string
		side, want int
		format     string
	}{
		{`{}`, 40, 80, "png"},
		{`{"factor":4,"format":"webp"}`, 40, 160, "webp"},
		{`{"factor":2}`, 1000, 2000, "png"},
	} {
		img, format := drawn(t, with(request("image.upscale", `{}`, tt.parameters), "/image", blocks(t, tt.side)))
		if b := img.Bounds(); b.Dx() != tt.want || b.Dy() != tt.want || format != tt.format {
			t.Errorf("%s: %s of %v", tt.parameters, format, b)
			continue
		}
		for _, left := range []bool{true, false} {
			for _, top := range []bool{true, false} {
				x, y := 3*tt.want/4, 3*tt.want/4
				if left {
					x = tt.want / 4
				}
				if top {
					y = tt.want / 4
				}
				if got := color.NRGBAModel.Convert(img.At(x, y)); got != quarter(left, top) {
					t.Errorf("%s: %v at %d, %d", tt.parameters, got, x, y)
				}
			}
		}
	}
}

// TestUpscaleRefuses the pictures that would become too large, and bytes that are none.
func TestUpscaleRefuses(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", instant)
	for name, data := range map[string][]byte{
		"too wide": encoded(t, image.NewGray(image.Rect(0, 0, 2049, 1))), "too many pixels": encoded(t, image.NewGray(image.Rect(0, 0, 1025, 1024))),
		"no picture": []byte("no picture"),
	} {
		_, err := a.Submit(t.Context(), with(request("image.upscale", `{}`, `{"factor":4}`), "/image", data))
		if got := verdictOf(err); got != (verdict{supplier.Refused, fault.InvalidRequest}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
