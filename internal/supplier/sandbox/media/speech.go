package media

import (
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// SpeechSpec describes a speech.
type SpeechSpec struct {
	Text  string
	Voice string
	Speed float64 // 1 is usual; above 0
}

// speechRate is the samples a second of speech.
const speechRate = 24000

// Speak returns a stand-in for speech: a tone a syllable, a pause a word, a longer one at the end of
// a sentence. The text is kept as the sound's comment, so that Listen can tell it.
func Speak(s SpeechSpec) Sound {
	h := fnv.New32a()
	h.Write([]byte(s.Voice))
	pitch := 110 * math.Exp2(float64(h.Sum32()%12)/12)
	out := Sound{Rate: speechRate, Comment: s.Text}
	for word := range strings.FieldsSeq(s.Text) {
		for i := range syllables(word) {
			out.hum(pitch*step(word, i), 0.17/s.Speed)
		}
		pause := 0.06
		if strings.ContainsAny(word[len(word)-1:], ".!?:;") {
			pause = 0.3
		}
		out.rest(pause / s.Speed)
	}
	out.rest(0.1)
	return out
}

// syllables is about how many syllables a word has: its runs of vowels, at least one.
func syllables(word string) int {
	n, inside := 0, false
	for _, r := range strings.ToLower(word) {
		vowel := strings.ContainsRune("aeiouyäöüáéíóúàèâêôû", r) || unicode.Is(unicode.Han, r)
		if vowel && (!inside || unicode.Is(unicode.Han, r)) {
			n++
		}
		inside = vowel
	}
	return max(n, 1)
}

// step is the pitch of a word's syllable relative to the voice's.
func step(word string, syllable int) float64 {
	steps := [...]float64{1, 1.12, 0.94, 1.19, 1.06}
	return steps[(len(word)+int(word[0])+syllable)%len(steps)]
}

// hum appends a tone with soft ends and a few overtones.
func (s *Sound) hum(pitch, seconds float64) {
	n := int(seconds * float64(s.Rate))
	for i := range n {
		t := float64(i) / float64(s.Rate)
		v := 0.0
		for overtone, share := range [...]float64{1, 0.5, 0.35, 0.15} {
			v += share * math.Sin(2*math.Pi*pitch*float64(overtone+1)*t)
		}
		edge := math.Sin(math.Pi * float64(i) / float64(n))
		s.Samples = append(s.Samples, int16(5000*v*edge))
	}
}

// rest appends silence.
func (s *Sound) rest(seconds float64) {
	s.Samples = append(s.Samples, make([]int16, int(seconds*float64(s.Rate)))...)
}
