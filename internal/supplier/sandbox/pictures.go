package sandbox

import (
	"bytes"
	"cmp"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"strconv"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// picture is the product of image.generate and, with a Source, of image.edit.
type picture struct {
	Prompt string       `json:"prompt"`
	Avoid  string       `json:"avoid,omitempty"`
	Seed   int64        `json:"seed"`
	Width  int          `json:"width"`
	Height int          `json:"height"`
	Count  int          `json:"count"`
	Format string       `json:"format"`
	Detail media.Detail `json:"detail"`
	Source []byte       `json:"source,omitempty"` // compact
	Mask   []byte       `json:"mask,omitempty"`   // compact
	Others [][]byte     `json:"others,omitempty"` // thumbnails

	Transparent bool `json:"transparent,omitempty"`
	Faithful    bool `json:"faithful,omitempty"`
}

// pictureInput is the input of both capabilities.
type pictureInput struct {
	Prompt         string `json:"prompt"`
	NegativePrompt string `json:"negative_prompt"`
}

func readPicture(r supplier.Request) (product, string, error) {
	p, err := newPicture(r)
	if err != nil {
		return nil, "", err
	}
	if p.Width == 0 {
		p.Width, p.Height = 1024, 1024
	}
	return p, p.Prompt, nil
}

// newPicture reads the members that the two capabilities share.
func newPicture(r supplier.Request) (*picture, error) {
	var in pictureInput
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, err
	}
	p := &picture{
		Prompt: in.Prompt, Avoid: in.NegativePrompt, Seed: int64(params.Seed), Count: max(params.N, 1),
		Format: cmp.Or(params.Format, "png"), Detail: params.detail(),
		Transparent: params.Background == "transparent", Faithful: params.Fidelity == "high",
	}
	p.Width, p.Height = params.pictureSize()
	return p, nil
}

// The bounds of given pictures in a job's state: it is stored, so they are kept small.
const (
	sourceSide, sourceBytes = 768, 48 << 10
	thumbSide, thumbBytes   = 128, 8 << 10
	maxThumbs               = 4
)

func readEdit(r supplier.Request) (product, string, error) {
	p, err := newPicture(r)
	if err != nil {
		return nil, "", err
	}
	source, err := given(r, "/images/0")
	if err != nil {
		return nil, "", err
	}
	if p.Width == 0 {
		scale := media.Fit(source, maxSide).Rect
		p.Width, p.Height = max(scale.Dx(), 1), max(scale.Dy(), 1)
	}
	if p.Source, err = compact(source, sourceSide, sourceBytes); err != nil {
		return nil, "", err
	}
	if p.Others, err = thumbs(r, "/images/", 1); err != nil {
		return nil, "", err
	}
	if _, ok := r.Media["/mask"]; ok {
		mask, err := given(r, "/mask")
		if err != nil {
			return nil, "", err
		}
		var b bytes.Buffer
		if err := png.Encode(&b, media.Bilevel(mask, sourceSide)); err != nil {
			return nil, "", supplier.NewError(supplier.NotSent, fault.Internal, messages[fault.Internal], err)
		}
		p.Mask = b.Bytes()
	}
	return p, p.Prompt, nil
}

// make draws the pictures, each with a seed of its own.
func (p *picture) make() (*supplier.Result, error) {
	result := &supplier.Result{Usage: supplier.Usage{Images: int64(p.Count)}}
	for i := range p.Count {
		img, err := p.draw(p.Seed + int64(i))
		if err != nil {
			return nil, err
		}
		data, err := media.Encode(img, p.Format, p.Detail)
		if err != nil {
			return nil, err
		}
		result.Files = append(result.Files, supplier.File{
			ContentType: "image/" + p.Format, Data: data, Width: p.Width, Height: p.Height,
		})
	}
	return result, nil
}

// draw makes one picture.
func (p *picture) draw(seed int64) (image.Image, error) {
	if p.Source == nil {
		return media.Draw(media.PictureSpec{
			Prompt: p.Prompt, Avoid: p.Avoid, Seed: seed, Width: p.Width, Height: p.Height, Detail: p.Detail,
			Transparent: p.Transparent,
		}), nil
	}
	spec := media.EditSpec{
		Prompt: p.Prompt, Avoid: p.Avoid, Seed: seed, Width: p.Width, Height: p.Height, Faithful: p.Faithful,
	}
	var err error
	if spec.Picture, err = media.Decode(bytes.NewReader(p.Source)); err != nil {
		return nil, err
	}
	if p.Mask != nil {
		if spec.Mask, err = media.Decode(bytes.NewReader(p.Mask)); err != nil {
			return nil, err
		}
	}
	for _, b := range p.Others {
		other, err := media.Decode(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		spec.Others = append(spec.Others, other)
	}
	return media.Edit(spec), nil
}

// given decodes a picture of the request.
func given(r supplier.Request, pointer string) (image.Image, error) {
	data, err := readMedia(r, pointer)
	if err != nil {
		return nil, err
	}
	return pictureOf(data)
}

// pictureOf decodes a given picture.
func pictureOf(data []byte) (image.Image, error) {
	img, err := media.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, supplier.NewError(supplier.Refused, fault.InvalidRequest, "a given picture can't be read", err)
	}
	return img, nil
}

// maxMedia bounds the bytes that are read of one media value.
const maxMedia = 64 << 20

// readMedia reads one media value of the request.
func readMedia(r supplier.Request, pointer string) ([]byte, error) {
	m, ok := r.Media[pointer]
	if !ok {
		return nil, refusal("a file of the input is missing")
	}
	f, err := m.Open()
	if err != nil {
		return nil, supplier.NewError(supplier.NotSent, fault.Internal, messages[fault.Internal], err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxMedia))
	if err != nil {
		return nil, supplier.NewError(supplier.NotSent, fault.Internal, messages[fault.Internal], err)
	}
	return data, nil
}

// thumbs reads the pictures at prefix+N, from N = first on, as small ones.
func thumbs(r supplier.Request, prefix string, first int) ([][]byte, error) {
	var out [][]byte
	for i := first; len(out) < maxThumbs; i++ {
		pointer := prefix + strconv.Itoa(i)
		if _, ok := r.Media[pointer]; !ok {
			break
		}
		img, err := given(r, pointer)
		if err != nil {
			return nil, err
		}
		small, err := compact(img, thumbSide, thumbBytes)
		if err != nil {
			return nil, err
		}
		out = append(out, small)
	}
	return out, nil
}

// compact returns img as a JPEG of at most so many pixels a side and, if possible, bytes.
func compact(img image.Image, side, limit int) ([]byte, error) {
	for quality := 85; ; quality -= 20 {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, media.Fit(img, side), &jpeg.Options{Quality: quality}); err != nil {
			return nil, supplier.NewError(supplier.NotSent, fault.Internal, messages[fault.Internal], err)
		}
		if b.Len() <= limit || side < 64 {
			return b.Bytes(), nil
		}
		if quality <= 45 {
			quality, side = 85+20, side*3/4
		}
	}
}
