// Package picture draws pictures in a terminal: as blocks of characters, which every terminal can
// show, and in the image protocols of kitty, iTerm2 and sixel.
//
// Its output is made of decoded pixels alone: a file's bytes, names and metadata never reach the terminal. It doesn't
// query the terminal, and it doesn't decode a file that claims more pixels than MaxPixels.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // the formats that services answer with
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // likewise
)

const (
	// MaxPixels is the largest picture that is decoded.
	MaxPixels = 20_000_000
	// MaxSide is the longest side of a decoded picture, in pixels; a larger one is made smaller.
	MaxSide = 1024
)

// Decode reads a PNG, JPEG, GIF (its first frame) or WebP. Transparent pixels become black.
func Decode(raw []byte) (*image.RGBA, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(raw))
	switch {
	case errors.Is(err, image.ErrFormat):
		return nil, errors.New("the format isn't known here")
	case err != nil:
		return nil, errors.New("the file is damaged")
	case config.Width <= 0 || config.Height <= 0 || config.Width > MaxPixels/config.Height:
		return nil, fmt.Errorf("%d×%d pixels are too many", config.Width, config.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("the file is damaged")
	}
	if img.Bounds().Empty() {
		return nil, errors.New("the picture is empty")
	}
	return scaled(img, fit(img.Bounds().Size(), image.Pt(MaxSide, MaxSide))), nil
}

// fit returns the largest size with the proportions of a picture that fits into a room, never larger
// than the picture and never empty.
func fit(size, room image.Point) image.Point {
	if size.X <= room.X && size.Y <= room.Y {
		return size
	}
	if size.X*room.Y > size.Y*room.X {
		return image.Pt(room.X, max(1, size.Y*room.X/size.X))
	}
	return image.Pt(max(1, size.X*room.Y/size.Y), room.Y)
}

// scaled draws a picture in another size on black.
func scaled(img image.Image, size image.Point) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(out, out.Bounds(), image.NewUniform(color.Black), image.Point{}, draw.Src)
	draw.BiLinear.Scale(out, out.Bounds(), img, img.Bounds(), draw.Over, nil)
	return out
}
