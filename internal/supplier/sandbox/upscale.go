package sandbox

import (
	"bytes"
	"cmp"
	"fmt"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// enlargement is the product of image.upscale.
type enlargement struct {
	Source []byte `json:"source"` // as given if it is small enough, else compact
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Format string `json:"format"`
}

// defaultFactor is how many times as large a picture becomes by default.
const defaultFactor = 2

func readEnlargement(r supplier.Request) (product, string, error) {
	params, err := decode(r.Input, r.Parameters, &struct{}{})
	if err != nil {
		return nil, "", err
	}
	source, width, height, err := kept(r, "/image")
	if err != nil {
		return nil, "", err
	}
	factor := cmp.Or(params.Factor, defaultFactor)
	e := &enlargement{Source: source, Width: width * factor, Height: height * factor, Format: cmp.Or(params.Format, "png")}
	if e.Width > maxEnlarged || e.Height > maxEnlarged || e.Width*e.Height > media.MaxPixels {
		return nil, "", refusal(fmt.Sprintf("the enlarged picture would be over %d pixels a side, or %d in all", maxEnlarged, media.MaxPixels))
	}
	return e, "", nil
}

// kept returns a picture of the request as it is stored in a job's state, and its size in pixels.
func kept(r supplier.Request, pointer string) (source []byte, width, height int, err error) {
	data, err := readMedia(r, pointer)
	if err != nil {
		return nil, 0, 0, err
	}
	img, err := pictureOf(data)
	if err != nil {
		return nil, 0, 0, err
	}
	width, height = img.Bounds().Dx(), img.Bounds().Dy()
	if len(data) <= sourceBytes {
		return data, width, height, nil
	}
	source, err = compact(img, sourceSide, sourceBytes)
	return source, width, height, err
}

// make enlarges the picture.
func (e *enlargement) make() (*supplier.Result, error) {
	img, err := media.Decode(bytes.NewReader(e.Source))
	if err != nil {
		return nil, err
	}
	data, err := media.Encode(media.Enlarge(img, e.Width, e.Height), e.Format, media.Medium)
	if err != nil {
		return nil, err
	}
	return onePicture("image/"+e.Format, data, e.Width, e.Height), nil
}

// onePicture is the result of one picture.
func onePicture(contentType string, data []byte, width, height int) *supplier.Result {
	return &supplier.Result{
		Files: []supplier.File{{ContentType: contentType, Data: data, Width: width, Height: height}},
		Usage: supplier.Usage{Images: 1},
	}
}
