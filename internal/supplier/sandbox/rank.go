package sandbox

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"unitask/internal/supplier"
)

// ranking is the product of text.rerank.
type ranking struct {
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
}

// documentsPerSearch is how many documents suppliers rank for the price of one search.
const documentsPerSearch = 100

func readRanking(r supplier.Request) (product, string, error) {
	var in struct {
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
	}
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	return &ranking{Query: in.Query, Documents: in.Documents, TopN: params.TopN}, in.Query, nil
}

// make scores each document by the share of the query's words, and of their parts, that it has. Of equal ones the
// earlier comes first.
func (k *ranking) make() (*supplier.Result, error) {
	type ranked struct {
		Index int     `json:"index"`
		Score float64 `json:"score"`
	}
	asked := maps.Collect(features(k.Query))
	usage := supplier.Usage{Searches: int64(len(k.Documents)-1)/documentsPerSearch + 1}
	results := make([]ranked, len(k.Documents))
	for i, text := range k.Documents {
		results[i] = ranked{i, overlap(asked, maps.Collect(features(text)))}
		usage.InputTokens += tokenCount(k.Query) + tokenCount(text)
	}
	slices.SortStableFunc(results, func(a, b ranked) int { return cmp.Compare(b.Score, a.Score) })
	if k.TopN > 0 {
		results = results[:min(k.TopN, len(results))]
	}
	data, err := json.Marshal(map[string]any{"results": results})
	return &supplier.Result{Data: data, Usage: usage}, err
}

// overlap is the share of the asked features that a text has, from 0 to 1, in whole hundredths of a percent.
func overlap(asked, has map[string]float64) float64 {
	const steps = 10_000
	shared, all := 0.0, 0.0
	for _, feature := range slices.Sorted(maps.Keys(asked)) { // in the same order, for the same sums
		all += asked[feature]
		if has[feature] > 0 {
			shared += asked[feature]
		}
	}
	if all == 0 {
		return 0
	}
	return math.Round(shared/all*steps) / steps
}
