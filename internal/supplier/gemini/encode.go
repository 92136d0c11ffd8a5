package gemini

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"

	"unitask/internal/supplier"
)

const (
	// mostPixels is above the largest image that a model makes, and bounds the memory of decoding one.
	mostPixels  = 18 << 20
	jpegQuality = 95
)

var errImage = errors.New("the answer holds an image that can't be made into what was asked for")

// encodeAs returns the image as a file of the format, png or jpeg; "" is whatever it is. The models choose
// a format themselves, so one of the other is encoded anew.
func encodeAs(data []byte, format string) (supplier.File, error) {
	if format == "" {
		return supplier.File{Data: data}, nil
	}
	shape, have, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil || shape.Width*shape.Height > mostPixels:
		return supplier.File{}, errImage
	case have == format:
		return supplier.File{ContentType: "image/" + format, Data: data, Width: shape.Width, Height: shape.Height}, nil
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return supplier.File{}, errImage
	}
	var b bytes.Buffer
	if format == "png" {
		err = png.Encode(&b, picture)
	} else {
		err = jpeg.Encode(&b, onWhite(picture), &jpeg.Options{Quality: jpegQuality})
	}
	if err != nil {
		return supplier.File{}, errImage
	}
	return supplier.File{ContentType: "image/" + format, Data: b.Bytes(), Width: shape.Width, Height: shape.Height}, nil
}

// onWhite puts transparent pixels on white: JPEG would show it black.
func onWhite(m image.Image) image.Image {
	flat := image.NewRGBA(m.Bounds())
	draw.Draw(flat, flat.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), m, m.Bounds().Min, draw.Over)
	return flat
}
