package sandbox

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier/sandbox/media"
	"unitask/internal/supplier/upstream"
)

// parameters is every parameter of every capability; a capability reads its own.
type parameters struct {
	MaxOutputTokens int      `json:"max_output_tokens"`
	Stop            []string `json:"stop"`
	Dimensions      int      `json:"dimensions"`
	TopN            int      `json:"top_n"`
	InputType       string   `json:"input_type"`

	OutputSchema      json.RawMessage `json:"output_schema"`
	Tools             []catalog.Tool  `json:"tools"`
	ToolChoice        string          `json:"tool_choice"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls"`
	Reasoning         string          `json:"reasoning"`
	WebSearch         bool            `json:"web_search"`

	N           int     `json:"n"`
	AspectRatio string  `json:"aspect_ratio"`
	Size        string  `json:"size"`
	Format      string  `json:"format"`
	Quality     string  `json:"quality"`
	Background  string  `json:"background"`
	Fidelity    string  `json:"input_fidelity"`
	Seed        float64 `json:"seed"`

	DurationSeconds float64 `json:"duration_seconds"`
	Resolution      string  `json:"resolution"`
	Audio           bool    `json:"audio"`

	Factor int `json:"factor"`

	Voice string  `json:"voice"`
	Speed float64 `json:"speed"`

	Timestamps  string `json:"timestamps"`
	Speakers    bool   `json:"speakers"`
	TranslateTo string `json:"translate_to"`
}

// The bounds of the sandbox's results.
const (
	maxImages     = 4
	maxDimensions = 8192
	maxSide       = 4096 // pixels
	maxEnlarged   = 8192 // pixels
	maxSeconds    = 60   // of video
	maxSpoken     = 10_000
)

// refused says which parameter of the capability can't be honoured, "" when all can.
func (p parameters) refused(capability string) string {
	switch capability {
	case "text.embed":
		if p.Dimensions < 0 || p.Dimensions > maxDimensions {
			return fmt.Sprintf("dimensions is outside 1 to %d", maxDimensions)
		}
	case "image.generate", "image.edit":
		return p.refusedPicture()
	case "image.upscale":
		if !slices.Contains([]int{0, 2, 4}, p.Factor) {
			return "factor is neither 2 nor 4"
		}
		return p.refusedFormat()
	case "video.extend":
		if p.DurationSeconds < 0 || p.DurationSeconds > maxSeconds {
			return fmt.Sprintf("duration_seconds is over %d", maxSeconds)
		}
	case "video.generate":
		return p.refusedVideo()
	case "audio.speech":
		if !slices.Contains([]string{"", "wav", "flac"}, p.Format) {
			return "format is neither wav nor flac"
		}
		if p.Speed != 0 && (p.Speed < 0.25 || p.Speed > 4) {
			return "speed is outside 0.25 to 4"
		}
	case "audio.transcribe":
		if !slices.Contains([]string{"", "text", "srt", "vtt"}, p.Format) {
			return "format is none of text, srt and vtt"
		}
	}
	return ""
}

func (p parameters) refusedPicture() string {
	switch {
	case p.N < 0 || p.N > maxImages:
		return fmt.Sprintf("n is outside 1 to %d", maxImages)
	case p.refusedFormat() != "":
		return p.refusedFormat()
	case p.Background == "transparent" && p.Format == "jpeg":
		return "a background isn't transparent in the format jpeg"
	}
	w, h, sized := p.pixels()
	if sized && (w < 16 || h < 16 || w > maxSide || h > maxSide) {
		return fmt.Sprintf("size is outside 16 to %d pixels a side", maxSide)
	}
	if sized == (p.Size == "" || p.Size == "auto") {
		return "size is not written as WIDTHxHEIGHT"
	}
	ratio, shaped := p.ratio()
	if shaped == (p.AspectRatio == "" || p.AspectRatio == "auto") {
		return "aspect_ratio is not written as W:H, or is beyond 4:1"
	}
	if sized && shaped && math.Abs(float64(w)/float64(h)/ratio-1) > 0.02 {
		return "size and aspect_ratio disagree"
	}
	return ""
}

func (p parameters) refusedFormat() string {
	if p.Format != "" && !slices.Contains(media.Formats(), p.Format) {
		return "format is none of png, jpeg and webp"
	}
	return ""
}

func (p parameters) refusedVideo() string {
	if p.DurationSeconds < 0 || p.DurationSeconds > maxSeconds {
		return fmt.Sprintf("duration_seconds is over %d", maxSeconds)
	}
	if lines[p.Resolution] == 0 {
		return "resolution is none of 720p, 1080p and 4k"
	}
	if _, shaped := p.ratio(); shaped == (p.AspectRatio == "" || p.AspectRatio == "auto") {
		return "aspect_ratio is not written as W:H, or is beyond 4:1"
	}
	return ""
}

// pixels reads size; ok is false without one.
func (p parameters) pixels() (width, height int, ok bool) {
	w, h, _ := strings.Cut(p.Size, "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	return width, height, errW == nil && errH == nil
}

// ratio reads aspect_ratio as width by height; ok is false without one.
func (p parameters) ratio() (float64, bool) {
	w, h, _ := strings.Cut(p.AspectRatio, ":")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if errW != nil || errH != nil || width <= 0 || height <= 0 || width > 4*height || height > 4*width {
		return 0, false
	}
	return float64(width) / float64(height), true
}

// pictureSize is the size asked for, else the aspect ratio at a megapixel, else 0.
func (p parameters) pictureSize() (width, height int) {
	if w, h, ok := p.pixels(); ok {
		return w, h
	}
	ratio, ok := p.ratio()
	if !ok {
		return 0, 0
	}
	const side = 1024
	return toEight(side * math.Sqrt(ratio)), toEight(side / math.Sqrt(ratio))
}

// lines is the shorter side of each resolution.
var lines = map[string]int{"": 720, "720p": 720, "1080p": 1080, "4k": 2160}

// videoSize is the resolution at the aspect ratio, 16:9 by default; if that would make one side too long, both are
// smaller.
func (p parameters) videoSize() (width, height int) {
	ratio, ok := p.ratio()
	if !ok {
		ratio = 16.0 / 9
	}
	long := max(ratio, 1/ratio)
	short := min(float64(lines[p.Resolution]), maxSide/long)
	if ratio < 1 {
		return toEight(short), toEight(short * long)
	}
	return toEight(short * long), toEight(short)
}

// toEight rounds to a multiple of eight.
func toEight(v float64) int { return int(math.Round(v/8)) * 8 }

// detail is the drawing's detail by the quality asked for.
func (p parameters) detail() media.Detail {
	switch p.Quality {
	case "low":
		return media.Low
	case "high":
		return media.High
	default:
		return media.Medium
	}
}

// decode reads a request's input and parameters.
func decode(input, params json.RawMessage, into any) (parameters, error) {
	var p parameters
	if err := json.Unmarshal(params, &p); err != nil {
		return p, refusal("the parameters can't be read")
	}
	if err := upstream.Decode(input, into); err != nil {
		return p, refusal("the input can't be read")
	}
	return p, nil
}
