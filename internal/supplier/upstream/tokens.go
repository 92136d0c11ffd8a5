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

// Tokens completes a report and bounds it. A zero count is estimated from the sizes of the texts, in bytes: a quarter
// of them, rounded up, which is about the tokens of English text.
func Tokens(u supplier.Usage, asked, answered int) supplier.Usage {
	u = Bounded(u)
	if u.InputTokens == 0 {
		u.InputTokens = (int64(asked) + 3) / 4
	}
	if u.OutputTokens == 0 {
		u.OutputTokens = (int64(answered) + 3) / 4
	}
	return u
}

// Bounded returns a report whose parts are within their wholes. Parts of a whole that isn't reported are 0. A token
// that seems to be of two kinds counts as the first of them in this order: a cached one as cached, whatever it is of,
// because that decides its price.
func Bounded(u supplier.Usage) supplier.Usage {
	bound(u.InputTokens, &u.CacheWriteTokens, &u.CachedInputTokens, &u.AudioInputTokens, &u.ImageInputTokens)
	bound(u.OutputTokens, &u.AudioOutputTokens, &u.ImageOutputTokens, &u.ReasoningTokens)
	return u
}

func bound(whole int64, parts ...*int64) {
	for _, p := range parts {
		*p = max(min(*p, whole), 0)
		whole -= *p
	}
}

// IsNumber reports whether v is the number n, however it is written.
func IsNumber(v json.RawMessage, n float64) bool {
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && f == n
}
