package sandbox

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"unitask/internal/supplier"
)

// moderation is the product of text.moderate.
type moderation struct {
	Texts []string `json:"texts"`
}

// harms is the words by which the sandbox takes a text for harmful, by category; docs/sandbox.md shows them.
var harms = map[string][]string{
	"harassment":    {"idiot", "moron"},
	"hate":          {"subhuman", "vermin"},
	"illicit":       {"counterfeit", "smuggle"},
	"other":         {"jailbreak"},
	"personal_data": {"iban", "passport"},
	"self_harm":     {"suicide"},
	"sexual":        {"nude", "porn"},
	"sexual_minors": {"underage"},
	"violence":      {"kill", "murder"},
}

func readModeration(r supplier.Request) (product, string, error) {
	var in moderation
	if _, err := decode(r.Input, r.Parameters, &in); err != nil {
		return nil, "", err
	}
	return &in, strings.Join(in.Texts, "\n"), nil
}

// make judges each text by its words: one of a category's makes it as likely as not, and each further one halves the
// doubt.
func (m *moderation) make() (*supplier.Result, error) {
	type judgement struct {
		Flagged    bool               `json:"flagged"`
		Categories []string           `json:"categories"`
		Scores     map[string]float64 `json:"scores"`
	}
	result := &supplier.Result{}
	var results []judgement
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, text := range m.Texts {
		j := judgement{Categories: []string{}, Scores: map[string]float64{}}
		words := strings.FieldsFunc(strings.ToLower(text), notLetter)
		for _, category := range slices.Sorted(maps.Keys(harms)) {
			found := 0
			for _, w := range words {
				if slices.Contains(harms[category], w) {
					found++
				}
			}
			const most = 10 // more halvings than that say no more
			j.Scores[category] = 1 - math.Pow(0.5, float64(min(found, most)))
			if found > 0 {
				j.Flagged, j.Categories = true, append(j.Categories, category)
			}
		}
		results = append(results, j)
		result.Usage.InputTokens += tokenCount(text)
	}
	var err error
	result.Data, err = json.Marshal(map[string]any{"results": results})
	return result, err
}
