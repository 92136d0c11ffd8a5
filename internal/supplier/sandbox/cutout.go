package sandbox

import (
	"bytes"
	"fmt"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// cutout is the product of image.background_remove.
type cutout struct {
	Source []byte `json:"source"` // as given if it is small enough, else compact
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

func readCutout(r supplier.Request) (product, string, error) {
	source, width, height, err := kept(r, "/image")
	if err != nil {
		return nil, "", err
	}
	return &cutout{source, width, height}, "", nil
}

// make cuts the picture out and gives it its size back.
func (c *cutout) make() (*supplier.Result, error) {
	img, err := media.Decode(bytes.NewReader(c.Source))
	if err != nil {
		return nil, err
	}
	cut := media.CutOut(img)
	if b := cut.Rect; b.Dx() != c.Width || b.Dy() != c.Height {
		cut = media.Enlarge(cut, c.Width, c.Height)
	}
	data, err := media.Encode(cut, "png", media.Medium)
	if err != nil {
		return nil, fmt.Errorf("sandbox: cut-out: %w", err)
	}
	return onePicture("image/png", data, c.Width, c.Height), nil
}
