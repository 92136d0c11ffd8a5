package openai

import (
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Images reads the request of images.
func Images(raw []byte) (Call, error) { return read(raw, imagesMembers, (*request).images) }

// ImageEdits reads the request of an edit in JSON, whose images are addresses or data URLs.
func ImageEdits(raw []byte) (Call, error) { return read(raw, editsMembers, (*request).edits) }

// ImageEditForm reads the request of an edit as a form, whose images are files.
func ImageEditForm(body []byte, boundary string) (Call, error) {
	return readForm(body, boundary, editFormMembers, editShapes, (*request).edits)
}

// imageNames are the members of tasks of images whose names differ.
var imageNames = []renaming{{from: catalog.GroupParameters + ".format", to: "output_format"}}

func (r *request) images() Call {
	c := Call{Model: r.model(imageBase), Base: imageBase, renamed: imageNames, answer: r.imagesAnswer()}
	c.Body = creation(c.Model, len(r.values["prompt"]), func(w *jsonwrite.Writer) {
		inbound.Copy(w, r.values, "prompt", "prompt")
	}, func(w *jsonwrite.Writer) {
		r.imageParameters(w)
		unless(w, r.values, "background", "background", `"auto"`)
	})
	return c
}

func (r *request) imageParameters(w *jsonwrite.Writer) {
	inbound.Copy(w, r.values, "n", "n")
	unless(w, r.values, "size", "size", `"auto"`)
	unless(w, r.values, "quality", "quality", `"auto"`, `"standard"`)
	inbound.Copy(w, r.values, "output_format", "format")
}

func (r *request) edits() Call {
	c := Call{Model: r.model(editBase), Base: editBase, answer: r.imagesAnswer(), renamed: append([]renaming{
		{from: catalog.GroupInput + ".images", to: "images", each: true, tail: ".image_url"},
		{from: catalog.GroupInput + ".mask", to: "mask.image_url"},
	}, imageNames...)}
	if r.files != nil {
		c.renamed[0].to, c.renamed[0].tail, c.renamed[1].to = "image", "", "mask"
	}
	c.Body = creation(c.Model, r.uploaded(), func(w *jsonwrite.Writer) {
		inbound.Copy(w, r.values, "prompt", "prompt")
		if r.files != nil {
			r.uploadedImages(w)
		} else {
			r.linkedImages(w)
		}
		inbound.Copy(w, r.values, catalog.Authorization, catalog.Authorization)
	}, func(w *jsonwrite.Writer) {
		r.imageParameters(w)
		inbound.Copy(w, r.values, "input_fidelity", "input_fidelity")
	})
	return c
}

// uploadedImages writes the images of a form.
func (r *request) uploadedImages(w *jsonwrite.Writer) {
	if len(r.files["image"]) == 0 {
		r.Row("image", "is required")
	}
	w.Name("images")
	w.Begin('[')
	for i, p := range r.files["image"] {
		r.upload(w, "image", p, "image["+strconv.Itoa(i)+"]")
	}
	w.End(']')
	for _, p := range r.files["mask"] {
		w.Name("mask")
		r.upload(w, "image", p, "mask")
	}
}

// linkedImages writes the images of a request in JSON.
func (r *request) linkedImages(w *jsonwrite.Writer) {
	value, ok := r.values["images"]
	if !ok {
		r.Row("images", "is required")
		return
	}
	w.Name("images")
	w.Begin('[')
	r.List(value, "images", func(_ int, image []byte, at string) { r.linkedImage(w, image, at) })
	w.End(']')
	if mask, ok := r.values["mask"]; ok {
		w.Name("mask")
		r.linkedImage(w, mask, "mask")
	}
}

func (r *request) linkedImage(w *jsonwrite.Writer, value []byte, at string) {
	if given := r.Members(value, at, linkedMembers); given != nil {
		r.address(w, r.Text(given, at, "image_url"), inbound.Under(at, "image_url"))
	}
}

// imagesAnswer returns how a call of images is answered.
func (r *request) imagesAnswer() func(*Call, *task.Task, Link) (Answer, error) {
	const at = "response_format"
	switch value := r.values[at]; {
	case value == nil, quoted(value, "b64_json"):
	case quoted(value, "url"):
		return func(_ *Call, t *task.Task, link Link) (Answer, error) { return imagesOf(t, link) }
	default:
		r.Row(at, "must be url or b64_json")
	}
	return func(_ *Call, t *task.Task, _ Link) (Answer, error) { return imagesOf(t, nil) }
}

// imagesOf returns the answer of a task's images: their addresses, or their bytes if link is nil.
func imagesOf(t *task.Task, link Link) (Answer, error) {
	images := filesOf(t, "image/")
	if len(images) == 0 {
		return Answer{}, otherOutput(t, nil)
	}
	w := jsonwrite.New(1 << 9)
	marks := make([]int, 0, len(images)) // of the bytes' places in the text
	w.Begin('{')
	count(w, "created", t.CreatedAt.Unix())
	w.Name("data")
	w.Begin('[')
	for _, image := range images {
		w.Begin('{')
		if link != nil {
			named(w, "url", link(image))
		} else {
			w.Name("b64_json")
			w.Text(func(to []byte) ([]byte, error) {
				marks = append(marks, len(to))
				return to, nil
			})
		}
		w.End('}')
	}
	w.End(']')
	named(w, "output_format", strings.TrimPrefix(images[0].ContentType, "image/"))
	writeImageUsage(w, t.Usage)
	w.End('}')
	a, err := inJSON(w)
	if err != nil {
		return a, err
	}
	text, from := a.Pieces[0].Text, 0
	a.Pieces = nil
	for i, mark := range marks {
		a.Pieces = append(a.Pieces, Piece{Text: text[from:mark]}, Piece{File: &images[i], Base64: true})
		from = mark
	}
	a.Pieces = append(a.Pieces, Piece{Text: text[from:]})
	return a, nil
}

// writeImageUsage writes the tokens, if the work is counted in them.
func writeImageUsage(w *jsonwrite.Writer, u *task.Usage) {
	if u == nil || u.InputTokens+u.OutputTokens == 0 {
		return
	}
	w.Name("usage")
	w.Begin('{')
	count(w, "input_tokens", u.InputTokens)
	count(w, "output_tokens", u.OutputTokens)
	count(w, "total_tokens", u.InputTokens+u.OutputTokens)
	w.Name("input_tokens_details")
	w.Begin('{')
	count(w, "image_tokens", u.ImageInputTokens)
	count(w, "text_tokens", u.InputTokens-u.ImageInputTokens)
	w.End('}')
	w.End('}')
}
