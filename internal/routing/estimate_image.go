package routing

import (
	"strconv"
	"strings"
)

// The most tokens of a picture. Of one that is read, and of one that is made at a size of the supplier's choice, it is
// tokensPerImage; of one that is made at a given size, it is OpenAI's rule for gpt-image-2, which is the dearest: the
// smaller models of the family count up to 6,240 and Gemini's up to 2,520.
const (
	tokensPerImage = 16_384
	cellsASide     = 96        // of the longer side, in the highest quality
	rulesOffset    = 2_000_000 // pixels
	rulesScale     = 4_000_000 // pixels
)

// imageTokens returns the most tokens of a picture that is made, of "WIDTHxHEIGHT" pixels, or of any other text if its
// size is open.
func imageTokens(size string) int64 {
	width, height, _ := strings.Cut(size, "x")
	w, err1 := strconv.ParseInt(width, 10, 16)
	h, err2 := strconv.ParseInt(height, 10, 16)
	if err1 != nil || err2 != nil || w <= 0 || h <= 0 {
		return tokensPerImage
	}
	long, short := max(w, h), min(w, h)
	across := (2*cellsASide*short + long) / (2 * long) // rounded
	tokens := (cellsASide*across*(rulesOffset+w*h) + rulesScale - 1) / rulesScale
	return max(tokensPerImage, tokens)
}
