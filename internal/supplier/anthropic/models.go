package anthropic

import (
	"strconv"
	"strings"
)

// generation is what a model's name tells: which requests it takes follows from it.
type generation struct {
	family  string // opus, sonnet, haiku, fable or mythos; "" of names that aren't the format's author's
	version int    // 406 of 4.6
}

// preview is the version that the previewed Mythos, whose name has none, takes requests as.
const preview = 406

var separators = strings.NewReplacer(".", "-", "@", "-")

// generationOf reads a name such as claude-opus-4-6, claude-haiku-4-5-20251001, claude-3-7-sonnet-20250219 or
// anthropic/claude-sonnet-4.6.
func generationOf(model string) generation {
	name := separators.Replace(model[strings.LastIndexByte(model, '/')+1:])
	words := strings.Split(name, "-")
	if words[0] != "claude" {
		return generation{}
	}
	var g generation
	numbers := 0
	for _, word := range words[1:] {
		n, err := strconv.Atoi(word)
		switch {
		case err != nil && g.family == "":
			g.family = word
		case err != nil || len(word) > 2 || numbers == 2:
		case numbers == 0:
			g.version, numbers = n*100, 1
		default:
			g.version, numbers = g.version+n, 2
		}
	}
	if g.family == "mythos" && numbers == 0 {
		g.version = preview
	}
	return g
}

// known reports whether it is the format's author's model, with a version.
func (g generation) known() bool { return g.version > 0 }

// isLarge reports whether the model is of the families above opus.
func (g generation) isLarge() bool { return g.family == "fable" || g.family == "mythos" }

// reasons reports whether the model can think. One that isn't known is taken to.
func (g generation) reasons() bool { return !g.known() || g.version >= 307 }

// adaptive reports whether the model itself decides how much to think, by an effort. Others have a budget of tokens.
func (g generation) adaptive() bool { return g.version >= 406 }

// thinksUnasked reports whether the model thinks if the request says nothing. Whether one that isn't known does can't
// be said.
func (g generation) thinksUnasked() bool { return g.version >= 500 || g.isLarge() }

// alwaysReasons reports whether the model refuses not to think.
func (g generation) alwaysReasons() bool {
	return g.isLarge() || g.family == "opus" && g.bindsThoughts()
}

// bindsThoughts reports whether a thought that comes back must follow the same words as at first.
func (g generation) bindsThoughts() bool { return g.version > 500 }

// forceless reports whether the model can't be made to call a tool.
func (g generation) forceless() bool { return g.bindsThoughts() && g.family != "haiku" }

// fixedSampling reports whether the model samples in one way only.
func (g generation) fixedSampling() bool { return g.version >= 407 || g.isLarge() }

// searches reports whether the model is known to search the web.
func (g generation) searches() bool { return g.version >= 305 }
