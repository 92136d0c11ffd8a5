package sandbox

import (
	"bytes"
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// video is the product of video.generate. Its names outlive a release: they stand in the videos.
type video struct {
	Prompt   string   `json:"prompt"`
	Seed     int64    `json:"seed"`
	Width    int      `json:"width"`
	Height   int      `json:"height"`
	Seconds  float64  `json:"seconds"`
	Day      float64  `json:"day,omitempty"` // seconds, of a video that was extended: its length at first
	Sound    bool     `json:"sound"`
	Backdrop []byte   `json:"backdrop,omitempty"` // compact
	Others   [][]byte `json:"others,omitempty"`   // thumbnails
}

// defaultSeconds is a video's default length.
const defaultSeconds = 4

func readVideo(r supplier.Request) (product, string, error) {
	var in struct {
		Prompt string `json:"prompt"`
	}
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	v := &video{Prompt: in.Prompt, Seed: int64(params.Seed), Seconds: params.DurationSeconds, Sound: params.Audio}
	if v.Seconds == 0 {
		v.Seconds = defaultSeconds
	}
	v.Width, v.Height = params.videoSize()
	if v.Others, err = thumbs(r, "/reference_images/", 0); err != nil {
		return nil, "", err
	}
	for _, pointer := range []string{"/last_image", "/image"} { // the first picture counts most
		if _, ok := r.Media[pointer]; !ok {
			continue
		}
		img, err := given(r, pointer)
		if err != nil {
			return nil, "", err
		}
		if v.Backdrop != nil {
			v.Others = append(v.Others, v.Backdrop)
		}
		if v.Backdrop, err = compact(img, sourceSide, sourceBytes); err != nil {
			return nil, "", err
		}
	}
	return v, v.Prompt, nil
}

// make writes the video, with a note of what it is made of, by which it can be extended.
func (v *video) make() (*supplier.Result, error) {
	spec, err := v.spec()
	if err != nil {
		return nil, err
	}
	note, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	length := spec.Length()
	return &supplier.Result{
		Files: []supplier.File{{
			ContentType: "video/mp4", Data: media.Noted(media.Video(spec), note), Width: v.Width, Height: v.Height,
			Duration: length.Seconds(),
		}},
		Usage: supplier.Usage{Milliseconds: length.Milliseconds()},
	}, nil
}

// spec decodes the pictures that the video is made of.
func (v *video) spec() (media.VideoSpec, error) {
	spec := media.VideoSpec{
		Prompt: v.Prompt, Seed: v.Seed, Width: v.Width, Height: v.Height, Seconds: v.Seconds, Day: v.Day, Sound: v.Sound,
	}
	if v.Backdrop != nil {
		img, err := media.Decode(bytes.NewReader(v.Backdrop))
		if err != nil {
			return spec, err
		}
		spec.Backdrop = img
	}
	for _, b := range v.Others {
		img, err := media.Decode(bytes.NewReader(b))
		if err != nil {
			return spec, err
		}
		spec.Others = append(spec.Others, img)
	}
	return spec, nil
}
