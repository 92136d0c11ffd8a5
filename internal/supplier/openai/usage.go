package openai

import (
	"encoding/json"
	"strconv"

	"unitask/internal/supplier"
)

// maxCount is above any real report; what exceeds it is nonsense.
const maxCount = 1 << 40

type usage struct {
	input, output int64
}

// parseUsage reads a usage report; a count that is missing, malformed or out of range is 0. It
// never fails: a paid answer isn't thrown away for a bad report.
func parseUsage(b json.RawMessage) usage {
	var report struct {
		Input  json.RawMessage `json:"prompt_tokens"`
		Output json.RawMessage `json:"completion_tokens"`
	}
	if len(b) == 0 || decode(b, &report) != nil {
		return usage{}
	}
	return usage{input: count(report.Input), output: count(report.Output)}
}

func count(b json.RawMessage) int64 {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(f >= 0 && f <= maxCount) {
		return 0
	}
	return int64(f)
}

// orEstimate fills in what the report lacks from the sizes of the texts, in bytes.
func (u usage) orEstimate(asked, answered int) supplier.Usage {
	if u.input == 0 {
		u.input = estimate(asked)
	}
	if u.output == 0 {
		u.output = estimate(answered)
	}
	return supplier.Usage{InputTokens: u.input, OutputTokens: u.output}
}

// estimate returns a quarter of n bytes, rounded up: about the tokens of English text.
func estimate(n int) int64 { return (int64(n) + 3) / 4 }
