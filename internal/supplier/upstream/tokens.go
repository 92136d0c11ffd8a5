package upstream

import (
	"encoding/json"
	"strconv"

	"unitask/internal/supplier"
)

// maxCount is above any real report; a larger number is nonsense.
const maxCount = 1 << 40

// Count reads one whole number of a usage report, as Number does.
func Count(b json.RawMessage) int64 { return int64(Number(b, maxCount)) }

// Number reads one number of a usage report. A count that is missing, malformed or not between 0 and most is 0: a
// paid answer isn't thrown away for a bad report.
func Number(b json.RawMessage, most float64) float64 {
	if len(b) == 0 {
		return 0
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(f >= 0 && f <= most) {
		return 0
	}
	return f
}

// Tokens returns a usage of the reported tokens. A zero count is estimated from the sizes of the texts, in bytes: a
// quarter of them, rounded up, which is about the tokens of English text.
func Tokens(input, output int64, asked, answered int) supplier.Usage {
	if input == 0 {
		input = (int64(asked) + 3) / 4
	}
	if output == 0 {
		output = (int64(answered) + 3) / 4
	}
	return supplier.Usage{InputTokens: input, OutputTokens: output}
}

// IsNumber reports whether v is the number n, however it is written.
func IsNumber(v json.RawMessage, n float64) bool {
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && f == n
}
