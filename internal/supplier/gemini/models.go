package gemini

import "strings"

// traits are what Google's pages say about a model beyond what all of them do.
type traits struct {
	// A model of the series 2.5 bounds its thoughts by tokens; later ones know levels.
	least, most int
	levels      []string // of LOW, MEDIUM and HIGH
	silent      bool     // it can do without thoughts

	tools, search bool
	// third says that it is of the series 3 or later: it takes a schema of the answer beside tools, refuses a call of a
	// tool without a signature, and its searches cost by the query.
	third bool
}

// The levels of thought, by the format's names.
const (
	levelMinimal = "MINIMAL"
	levelLow     = "LOW"
	levelMedium  = "MEDIUM"
	levelHigh    = "HIGH"
)

// traitsOf knows the models by their names. One of another name counts as one of the latest series, as the names that
// end in -latest do.
func traitsOf(model string) traits {
	begins := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(model, p) {
				return true
			}
		}
		return false
	}
	switch {
	case begins("gemma-2", "gemma-3"), begins("gemini-2.5") && (strings.Contains(model, "-image") || strings.Contains(model, "-tts")):
		return traits{silent: true}
	case begins("gemma-"):
		return traits{levels: []string{levelHigh}, silent: true, tools: true, search: true}
	case begins("gemini-1", "gemini-2.0-flash-lite"):
		return traits{silent: true, tools: true}
	case begins("gemini-2.0"):
		return traits{silent: true, tools: true, search: true}
	case begins("gemini-2.5-pro"):
		return traits{least: 128, most: 32768, tools: true, search: true}
	case begins("gemini-2.5-flash-lite"):
		return traits{least: 512, most: 24576, silent: true, tools: true, search: true}
	case begins("gemini-2.5"):
		return traits{least: 1, most: 24576, silent: true, tools: true, search: true}
	}
	latest := traits{levels: []string{levelLow, levelMedium, levelHigh}, tools: true, search: true, third: true}
	if begins("gemini-3-pro") {
		latest.levels = []string{levelLow, levelHigh}
	}
	return latest
}
