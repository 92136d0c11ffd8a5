package media

import (
	"hash/fnv"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// palette is the colours and the chances that a prompt and a seed give.
type palette struct {
	hue    float64 // degrees
	random *rand.Rand
}

// hues names the colours that a prompt may ask for.
var hues = map[string]float64{
	"red": 4, "fox": 22, "orange": 28, "sunset": 20, "gold": 44, "yellow": 50, "lime": 80, "green": 125,
	"forest": 130, "teal": 174, "cyan": 186, "sky": 205, "ocean": 208, "waves": 208, "sea": 212,
	"blue": 222, "night": 240, "indigo": 255, "violet": 272, "purple": 280, "magenta": 310, "pink": 335,
}

func newPalette(prompt string, seed int64) *palette { return newPaletteBut(prompt, "", seed) }

// newPaletteBut is newPalette without the colours that avoid names.
func newPaletteBut(prompt, avoid string, seed int64) *palette {
	h := fnv.New64a()
	h.Write([]byte(prompt + avoid))
	p := &palette{random: rand.New(rand.NewPCG(h.Sum64(), uint64(seed)))}
	p.hue = p.random.Float64() * 360
	unwanted := namedHues(avoid)
	for _, hue := range namedHues(prompt) {
		if !slices.Contains(unwanted, hue) {
			p.hue = hue
			break
		}
	}
	return p
}

// namedHues returns the hues of the colours that a text names, in its order.
func namedHues(text string) []float64 {
	var found []float64
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if hue, ok := hues[strings.Trim(word, ".,;:!?\"'")]; ok {
			found = append(found, hue)
		}
	}
	return found
}

// tone is the palette's hue turned by some degrees; saturation and value are 0 to 1.
func (p *palette) tone(turn, saturation, value float64) color.RGBA {
	h := math.Mod(p.hue+turn+360, 360) / 60
	rise := 1 - math.Abs(math.Mod(h, 2)-1)
	var r, g, b float64
	switch int(h) {
	case 0:
		r, g = 1, rise
	case 1:
		r, g = rise, 1
	case 2:
		g, b = 1, rise
	case 3:
		g, b = rise, 1
	case 4:
		r, b = rise, 1
	default:
		r, b = 1, rise
	}
	channel := func(v float64) uint8 { return uint8(255*value*(1-saturation+saturation*v) + 0.5) }
	return color.RGBA{channel(r), channel(g), channel(b), 255}
}

// between is a random number in [low, high).
func (p *palette) between(low, high float64) float64 {
	return low + (high-low)*p.random.Float64()
}

// mix is a and b in the proportion t of b, 0 to 1.
func mix(a, b color.RGBA, t float64) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(float64(x) + (float64(y)-float64(x))*t + 0.5) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 255}
}
