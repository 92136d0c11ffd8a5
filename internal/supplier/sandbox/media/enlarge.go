package media

import (
	"image"

	"golang.org/x/image/draw"
)

// Enlarge returns img at another size. Transparent pixels stay so.
func Enlarge(img image.Image, width, height int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(out, out.Rect, img, img.Bounds(), draw.Src, nil)
	return out
}
