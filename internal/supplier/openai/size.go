package openai

import (
	"fmt"
	"slices"
	"strings"
)

// sizes are those by which a server without aspect_ratio makes one: of that very ratio, about a
// megapixel, and of multiples of 16, which every image model takes that takes sizes freely.
var sizes = map[string]string{
	"1:1": "1024x1024",
	"3:2": "1536x1024", "2:3": "1024x1536",
	"4:3": "1152x864", "3:4": "864x1152",
	"5:4": "1280x1024", "4:5": "1024x1280",
	"16:9": "1536x864", "9:16": "864x1536",
	"21:9": "1344x576",
}

// fixedSizes are all that the first models of the family make.
var fixedSizes = []string{"1024x1024", "1536x1024", "1024x1536"}

// The limits of the later models of the family.
const (
	sizeStep   = 16
	sizeMost   = 3840 // pixels of a side
	sizeRatio  = 3
	leastPixel = 655_360
	mostPixels = 8_294_400
)

// sizeRefused says why the model makes no image of the size, "" if it does or is unknown.
func sizeRefused(model, size string) string {
	name := family(model)
	switch {
	case size == "":
		return ""
	case strings.HasPrefix(name, "gpt-image-1"), name == "chatgpt-image-latest":
		if !slices.Contains(fixedSizes, size) {
			return "the model makes images of three sizes only"
		}
	case strings.HasPrefix(name, "gpt-image-"):
		var w, h int
		if _, err := fmt.Sscanf(size, "%dx%d", &w, &h); err != nil {
			return "the size is none"
		}
		long, short := max(w, h), min(w, h)
		if w%sizeStep != 0 || h%sizeStep != 0 || long > sizeMost || long > sizeRatio*short ||
			w*h < leastPixel || w*h > mostPixels {
			return "the model makes no images of this size"
		}
	}
	return ""
}
