package media

import (
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

// EditSpec describes an edit.
type EditSpec struct {
	Picture       image.Image
	Mask          image.Image   // nil: everything may change
	Others        []image.Image // shown small, along the upper edge
	Prompt        string
	Avoid         string // colours named here are not used
	Seed          int64
	Width, Height int  // of the result, pixels
	Faithful      bool // half as much of the prompt's colours
}

// Edit returns the picture in the prompt's colours, with light stripes and the prompt's words over it. Only masked
// pixels are changed: the mask's transparent pixels or, without any, its light ones.
func Edit(s EditSpec) *image.RGBA {
	plain := image.NewRGBA(image.Rect(0, 0, s.Width, s.Height))
	cover(plain, plain.Rect, s.Picture)
	edited := image.NewRGBA(plain.Rect)
	copy(edited.Pix, plain.Pix)
	tint(edited, newPaletteBut(s.Prompt, s.Avoid, s.Seed), s.Faithful)
	insets(edited, s.Others, 0)
	caption(edited, s.Prompt)
	if s.Mask == nil {
		return edited
	}
	draw.DrawMask(plain, plain.Rect, edited, image.Point{}, marked(s.Mask, plain.Rect), image.Point{}, draw.Over)
	return plain
}

// tint maps the picture's light to two tones, half and half with its own colours, in stripes.
func tint(img *image.RGBA, p *palette, faithful bool) {
	dark, light := p.tone(0, 0.9, 0.3), p.tone(20, 0.35, 1)
	stripe := max(img.Rect.Dx()/12, 8)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			px := img.Pix[img.PixOffset(x, y):][:4]
			share := 140
			if (x+y)/stripe%2 == 0 {
				share = 190
			}
			if faithful {
				share /= 2
			}
			bright := float64(299*int(px[0])+587*int(px[1])+114*int(px[2])) / 255000
			blend(img, x, y, mix(dark, light, bright), share)
		}
	}
}

// insets shows pictures side by side from the left edge on, below the given row.
func insets(img *image.RGBA, pictures []image.Image, top int) {
	side := min(img.Rect.Dx(), img.Rect.Dy()) / 5
	gap := max(side/8, 1)
	at := image.Pt(gap, top+gap)
	for _, picture := range pictures {
		area := image.Rectangle{Min: at, Max: at.Add(image.Pt(side, side))}
		if !area.In(img.Rect) || side == 0 {
			return
		}
		cover(img, area, picture)
		at.X += side + gap
	}
}

// marked is the part of a mask that may be changed, scaled to an area.
func marked(mask image.Image, area image.Rectangle) *image.Alpha {
	scaled := image.NewRGBA(area)
	cover(scaled, area, mask)
	out := image.NewAlpha(area)
	opaque := scaled.Opaque()
	for i := range out.Pix {
		px := scaled.Pix[4*i:][:4]
		change := px[3] < 128
		if opaque {
			change = int(px[0])+int(px[1])+int(px[2]) >= 3*128
		}
		if change {
			out.Pix[i] = 255
		}
	}
	return out
}

// Bilevel returns a mask's marked pixels as white on black, no side over limit pixels: a mask that says the same and
// takes little room.
func Bilevel(mask image.Image, limit int) image.Image {
	fitted := Fit(mask, limit)
	out := image.NewPaletted(fitted.Rect, color.Palette{color.Black, color.White})
	for i, v := range marked(fitted, fitted.Rect).Pix {
		out.Pix[i] = v & 1
	}
	return out
}
