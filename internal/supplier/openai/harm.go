package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// otherHarm is the category of what has no name in the directory.
const otherHarm = "other"

// harms is the directory's categories by those of OpenAI and of Mistral (https://docs.mistral.ai/capabilities/guardrailing),
// which speaks this format with words of its own: some of its models split dangerous_and_criminal_content.
var harms = map[string]string{
	"harassment": "harassment", "harassment/threatening": "harassment",
	"hate": "hate", "hate/threatening": "hate", "hate_and_discrimination": "hate",
	"illicit": "illicit", "illicit/violent": "illicit", "dangerous_and_criminal_content": "illicit", "dangerous": "illicit", "criminal": "illicit",
	"pii":       "personal_data",
	"self-harm": "self_harm", "self-harm/intent": "self_harm", "self-harm/instructions": "self_harm", "selfharm": "self_harm",
	"sexual": "sexual", "sexual/minors": "sexual_minors",
	"violence": "violence", "violence/graphic": "violence", "violence_and_threats": "violence",
}

// harm is a text's judgement as the directory has it.
type harm struct {
	Flagged    bool               `json:"flagged"`
	Categories []string           `json:"categories"`
	Scores     map[string]float64 `json:"scores"`
}

// judge does the work of text.moderate.
func (a *adapter) judge(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	var in embedInput
	if err := upstream.DecodeRequest(r, &in, &struct{}{}); err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.format.Post(ctx, "/moderations", moderationRequest{Model: r.Model, Input: in.Texts}, chatLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	body, err := a.decodeModeration(answer, len(in.Texts))
	if err != nil {
		return supplier.Outcome{}, err
	}
	results := make([]harm, 0, len(in.Texts))
	asked := 0
	for i, one := range body.Results {
		results = append(results, one.harm())
		asked += len(in.Texts[i])
	}
	data, err := json.Marshal(map[string]any{"results": results})
	if err != nil {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, err)
	}
	used := parseUsage(body.Usage)
	used.OutputTokens = 0
	return supplier.Outcome{Result: &supplier.Result{Data: data, Usage: used.tokens(asked, 0)}}, nil
}

// harm reads one result. Of several categories with one name in the directory, the likeliest counts.
func (r moderationResult) harm() harm {
	h := harm{Flagged: r.judgement().Flagged, Categories: []string{}, Scores: map[string]float64{}}
	found := map[string]bool{}
	for name, holds := range r.Categories {
		if string(holds) == "true" {
			found[cmp.Or(harms[name], otherHarm)] = true
		}
	}
	h.Categories = slices.AppendSeq(h.Categories, maps.Keys(found))
	slices.Sort(h.Categories)
	const roughly = 1.01 // some servers' sums come to a little over 1
	var scores map[string]json.RawMessage
	_ = json.Unmarshal(r.Scores, &scores) // without them the categories still say enough
	for name, score := range scores {
		category := cmp.Or(harms[name], otherHarm)
		h.Scores[category] = max(h.Scores[category], min(upstream.Number(score, roughly), 1))
	}
	return h
}
