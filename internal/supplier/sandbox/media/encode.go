package media

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // decodes callers' images
	"image/jpeg"
	"image/png"
	"io"

	"github.com/HugoSmits86/nativewebp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // decodes callers' images
)

// MaxPixels is the largest picture that is drawn or read.
const MaxPixels = 4096 * 4096

// Formats returns the names of the picture formats that Encode writes.
func Formats() []string { return []string{"png", "jpeg", "webp"} }

// Encode returns img in one of Formats. Detail is the quality of a JPEG; the others are lossless.
func Encode(img image.Image, format string, d Detail) ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 70 + 12*int(d)})
	case "webp":
		err = nativewebp.Encode(&b, img, nil)
	default:
		err = fmt.Errorf("media: no picture format %q", format)
	}
	return b.Bytes(), err
}

// Decode reads a PNG, JPEG, GIF or WebP picture of at most MaxPixels.
func Decode(r io.Reader) (image.Image, error) {
	var head bytes.Buffer
	config, _, err := image.DecodeConfig(io.TeeReader(r, &head))
	if err != nil {
		return nil, fmt.Errorf("media: picture header: %w", err)
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > MaxPixels/config.Height {
		return nil, fmt.Errorf("media: picture of %d by %d pixels", config.Width, config.Height)
	}
	img, _, err := image.Decode(io.MultiReader(&head, r))
	if err != nil {
		return nil, fmt.Errorf("media: picture: %w", err)
	}
	return img, nil
}

// Fit scales img down so that both sides are at most limit pixels; a smaller one is copied.
func Fit(img image.Image, limit int) *image.RGBA {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if long := max(w, h); long > limit {
		w, h = max(w*limit/long, 1), max(h*limit/long, 1)
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(out, out.Rect, img, img.Bounds(), draw.Src, nil)
	return out
}

// cover scales and crops img so that it fills the area of out.
func cover(out *image.RGBA, area image.Rectangle, img image.Image) {
	from := img.Bounds()
	w, h := from.Dx(), from.Dy()
	if w*area.Dy() > h*area.Dx() {
		crop := h * area.Dx() / area.Dy()
		from.Min.X += (w - crop) / 2
		from.Max.X = from.Min.X + max(crop, 1)
	} else {
		crop := w * area.Dy() / area.Dx()
		from.Min.Y += (h - crop) / 2
		from.Max.Y = from.Min.Y + max(crop, 1)
	}
	draw.ApproxBiLinear.Scale(out, area, img, from, draw.Src, nil)
}
