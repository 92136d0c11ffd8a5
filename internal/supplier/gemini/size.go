package gemini

import (
	"fmt"
	"strings"
)

// imageConfig is the shape of an image in the API's terms.
type imageConfig struct {
	AspectRatio string `json:"aspectRatio,omitzero"`
	ImageSize   string `json:"imageSize,omitzero"`
}

type pixels struct{ width, height int }

// The sizes that the models make, by aspect ratio, at the resolution that later models call 1K.
var (
	sizes25 = map[string]pixels{
		"1:1": {1024, 1024}, "2:3": {832, 1248}, "3:2": {1248, 832}, "3:4": {864, 1184}, "4:3": {1184, 864},
		"4:5": {896, 1152}, "5:4": {1152, 896}, "9:16": {768, 1344}, "16:9": {1344, 768}, "21:9": {1536, 672},
	}
	sizes3 = map[string]pixels{
		"1:1": {1024, 1024}, "2:3": {848, 1264}, "3:2": {1264, 848}, "3:4": {896, 1200}, "4:3": {1200, 896},
		"4:5": {928, 1152}, "5:4": {1152, 928}, "9:16": {768, 1376}, "16:9": {1376, 768}, "21:9": {1584, 672},
	}
)

// newImageConfig returns the shape that the parameters ask for, nil for the model's own, or why the model
// doesn't make it.
func newImageConfig(model string, p imageParameters) (*imageConfig, string) {
	if p.Size == "" {
		if p.AspectRatio == "" {
			return nil, ""
		}
		return &imageConfig{AspectRatio: p.AspectRatio}, ""
	}
	var want pixels
	if _, err := fmt.Sscanf(p.Size, "%dx%d", &want.width, &want.height); err != nil {
		return nil, "the size is none"
	}
	if strings.HasPrefix(model, "gemini-2.") {
		for ratio, size := range sizes25 {
			if size == want {
				return &imageConfig{AspectRatio: ratio}, ""
			}
		}
		return nil, "the model makes no images of this size"
	}
	for scale, name := range map[int]string{1: "1K", 2: "2K", 4: "4K"} {
		for ratio, size := range sizes3 {
			if (pixels{size.width * scale, size.height * scale}) == want {
				return &imageConfig{AspectRatio: ratio, ImageSize: name}, ""
			}
		}
	}
	return nil, "the model makes no images of this size"
}
