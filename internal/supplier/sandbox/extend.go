package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// extension is the product of video.extend.
type extension struct {
	Video video   `json:"video"` // the whole one
	Added float64 `json:"added"` // seconds of it
}

const (
	defaultAdded = 7   // seconds
	maxExtended  = 120 // seconds of the whole video
	leastSide    = 128 // pixels, of those that are drawn
	leastGiven   = 0.04
)

func readExtension(r supplier.Request) (product, string, error) {
	var in struct {
		Prompt string `json:"prompt"`
	}
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	data, err := readMedia(r, "/video")
	if err != nil {
		return nil, "", err
	}
	film, ok := media.Watch(data)
	if !ok || film.Seconds < leastGiven {
		return nil, "", refusal("the given video is no MP4 file that the sandbox can read")
	}
	e := &extension{Video: noted(film), Added: cmp.Or(params.DurationSeconds, defaultAdded)}
	if e.Video.Width == 0 {
		e.Video = video{
			Prompt: in.Prompt, Seed: int64(params.Seed), Seconds: film.Seconds, Width: drawable(film.Width), Height: drawable(film.Height),
		}
	}
	e.Video.Day = cmp.Or(e.Video.Day, e.Video.Seconds)
	if e.Video.Seconds += e.Added; e.Video.Seconds > maxExtended {
		return nil, "", refusal(fmt.Sprintf("the video would be over %d seconds long", maxExtended))
	}
	return e, in.Prompt, nil
}

// noted returns what a video of the sandbox was made of, as it says itself; the zero video for others.
func noted(film media.Film) video {
	var v video
	sound := json.Unmarshal(film.Note, &v) == nil && v.Width == film.Width && v.Height == film.Height &&
		v.Width == drawable(v.Width) && v.Height == drawable(v.Height) && v.Seconds >= leastGiven && v.Seconds <= maxExtended && v.Day >= 0 && v.Day <= v.Seconds &&
		len(v.Backdrop) <= sourceBytes && len(v.Others) <= maxThumbs+2
	if sound {
		_, err := v.spec()
		sound = err == nil
	}
	if !sound {
		return video{}
	}
	return v
}

// drawable returns the nearest side that a video can have.
func drawable(side int) int { return toEight(float64(min(max(side, leastSide), maxSide))) }

// make writes the whole video. One of the sandbox goes on as it began, since its pictures follow from what it is made of.
func (e *extension) make() (*supplier.Result, error) {
	result, err := e.Video.make()
	if err == nil {
		result.Usage.Milliseconds = int64(e.Added * 1000)
	}
	return result, err
}
