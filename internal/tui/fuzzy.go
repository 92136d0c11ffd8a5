package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ranks of how a typed word fits a text.
const (
	fitsStart  = 300 // it begins a word
	fitsInside = 200 // it stands within one
	fitsSpread = 100 // its letters stand in their order, not far apart
)

// fits rates how well typed words, in lower case, fit a text: each must stand in it, or at least its letters in their
// order. Higher is better.
func fits(words []string, text string) (rank int, ok bool) {
	text = strings.ToLower(text)
	for _, w := range words {
		r := fit(w, text)
		if r == 0 {
			return 0, false
		}
		rank += r
	}
	return rank, true
}

// fit rates one word; 0 doesn't fit.
func fit(word, text string) int {
	best := 0
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		at += i
		rank := fitsInside
		if begins(text, at) {
			rank = fitsStart
		}
		best = max(best, rank-min(at, 50))
		_, size := utf8.DecodeRuneInString(text[at:])
		at += max(1, size)
		if best > fitsInside || at >= len(text) {
			break
		}
	}
	if best > 0 {
		return best
	}
	return spread(word, text)
}

// begins reports whether a word begins at a place of a text.
func begins(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before)
}

// spread rates a word whose letters stand in a text in their order: the first at the beginning of a word, the last not
// much farther from it than the word is long. 0 doesn't fit.
func spread(word, text string) int {
	first, size := utf8.DecodeRuneInString(word)
	length := utf8.RuneCountInString(word)
	best := 0
	for at, c := range text {
		if c != first || !begins(text, at) {
			continue
		}
		taken, rest := 1, word[size:]
		for _, c := range text[at+utf8.RuneLen(c):] {
			if rest == "" || taken >= 3*length+2 {
				break
			}
			taken++
			if next, n := utf8.DecodeRuneInString(rest); c == next {
				rest = rest[n:]
			}
		}
		if rest == "" {
			best = max(best, fitsSpread-min(taken-length, fitsSpread-1))
		}
	}
	return best
}
