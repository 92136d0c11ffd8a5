package httpmap

import (
	"context"
	"math"

	"unitask/internal/supplier"
	"unitask/internal/supplier/jq"
	"unitask/internal/supplier/upstream"
)

// maxCount is above any real report; a larger number is nonsense.
const maxCount = 1 << 40

// units are the numbers of a usage report that a map can give.
var units = map[string]func(u *supplier.Usage, n float64){
	"audio_input_tokens":  func(u *supplier.Usage, n float64) { u.AudioInputTokens = int64(n) },
	"audio_output_tokens": func(u *supplier.Usage, n float64) { u.AudioOutputTokens = int64(n) },
	"cache_write_tokens":  func(u *supplier.Usage, n float64) { u.CacheWriteTokens = int64(n) },
	"cached_input_tokens": func(u *supplier.Usage, n float64) { u.CachedInputTokens = int64(n) },
	"characters":          func(u *supplier.Usage, n float64) { u.Characters = int64(n) },
	"image_input_tokens":  func(u *supplier.Usage, n float64) { u.ImageInputTokens = int64(n) },
	"image_output_tokens": func(u *supplier.Usage, n float64) { u.ImageOutputTokens = int64(n) },
	"images":              func(u *supplier.Usage, n float64) { u.Images = int64(n) },
	"input_tokens":        func(u *supplier.Usage, n float64) { u.InputTokens = int64(n) },
	"output_tokens":       func(u *supplier.Usage, n float64) { u.OutputTokens = int64(n) },
	"pages":               func(u *supplier.Usage, n float64) { u.Pages = int64(n) },
	"reasoning_tokens":    func(u *supplier.Usage, n float64) { u.ReasoningTokens = int64(n) },
	"requests":            func(u *supplier.Usage, n float64) { u.Requests = int64(n) },
	"searches":            func(u *supplier.Usage, n float64) { u.Searches = int64(n) },
	"seconds":             func(u *supplier.Usage, n float64) { u.Milliseconds = int64(math.Round(n * 1000)) },
}

// measure reads the usage in an answer. A number that is missing, or is none, is 0: a paid answer isn't thrown away for a
// bad report.
func (p *plan) measure(ctx context.Context, s source) supplier.Usage {
	var u supplier.Usage
	for _, one := range p.usage {
		v, err := s.run(ctx, one.program)
		if err != nil {
			continue
		}
		n, _ := jq.Number(v)
		if n >= 0 && n <= maxCount {
			one.set(&u, n)
		}
	}
	return upstream.Bounded(u)
}
