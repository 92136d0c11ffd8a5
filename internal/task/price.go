package task

import (
	"math/bits"
	"strings"
)

// Unit is the unit of a price.
type Unit string

// The units.
const (
	PerMillionTokens     Unit = "mtok"    // input and output tokens
	PerImage             Unit = "image"   // images made
	PerSecond            Unit = "second"  // seconds of video or audio, made or read
	PerMillionCharacters Unit = "mchar"   // characters of input text
	PerPage              Unit = "page"    // pages of documents
	PerRequest           Unit = "request" // requests that were worked on, whatever their size
	PerSearch            Unit = "search"  // searches made for a request
)

// Valid reports whether u is one of the units.
func (u Unit) Valid() bool {
	switch u {
	case PerMillionTokens, PerImage, PerSecond, PerMillionCharacters, PerPage, PerRequest, PerSearch:
		return true
	default:
		return false
	}
}

// Measures reports whether work of a capability is counted in the unit: in another one it would be free. The units of
// unknown families are for their suppliers to say.
func (u Unit) Measures(capability string) bool {
	switch family, _, _ := strings.Cut(capability, "."); family {
	case "text":
		onlyTokens := capability == "text.chat" || capability == "text.embed" // others are for their suppliers to say too
		return u == PerRequest || u == PerMillionTokens || !onlyTokens && (u == PerSearch || u == PerPage)
	case "image":
		return u == PerRequest || u == PerMillionTokens || u == PerImage
	case "video":
		return u == PerRequest || u == PerMillionTokens || u == PerSecond
	case "audio":
		return u == PerRequest || u == PerMillionTokens || u == PerSecond || u == PerMillionCharacters && capability == "audio.speech"
	default:
		return true
	}
}

// Beside reports whether work of a capability may be counted in the unit beside another one, which is its price's.
func (u Unit) Beside(capability string) bool {
	family, _, _ := strings.Cut(capability, ".")
	known := family == "image" || family == "video" || family == "audio"
	switch u {
	case PerRequest:
		return true
	case PerSearch:
		return !known
	default:
		return u == PerPage && !known && family != "text"
	}
}

// Price is a list price in USD a unit. For tokens Input and Output apply to their own counts; for
// the other units their sum applies to the one count.
type Price struct {
	Unit   Unit   `json:"unit"`
	Input  Money  `json:"input"`
	Output Money  `json:"output"`
	Rates  *Rates `json:"rates,omitempty"` // nil: no work has a price of its own. Shared, and not to be changed
}

// Rates are prices in USD of work that doesn't cost as the rest, or comes beside it. Tokens of a kind without a rate
// cost as the rest of their direction; pages, requests and searches without one are free beside another unit.
type Rates struct {
	CachedInput *Money `json:"cached_input,omitempty"` // a million, as those of the other kinds of tokens
	CacheWrite  *Money `json:"cache_write,omitempty"`
	ImageInput  *Money `json:"image_input,omitempty"`
	AudioInput  *Money `json:"audio_input,omitempty"`
	Reasoning   *Money `json:"reasoning,omitempty"`
	ImageOutput *Money `json:"image_output,omitempty"`
	AudioOutput *Money `json:"audio_output,omitempty"`
	Page        *Money `json:"page,omitempty"`
	Request     *Money `json:"request,omitempty"`
	Search      *Money `json:"search,omitempty"`
}

// mtok is the unit of tokens' prices.
const mtok = 1_000_000

// Cost returns the cost of u. Each direction of tokens and each other count is a term, rounded up to a whole nano-USD
// once. The zero Price is free.
func (p Price) Cost(u Usage) Money {
	if p.Rates == nil {
		return p.plain(&u)
	}
	if p.Unit != PerMillionTokens {
		return p.plain(&u).Add(p.Rates.pieces(&u))
	}
	r := p.Rates
	in := direction(u.InputTokens, p.Input, []kind{
		{u.CacheWriteTokens, r.CacheWrite}, {u.CachedInputTokens, r.CachedInput}, {u.AudioInputTokens, r.AudioInput}, {u.ImageInputTokens, r.ImageInput},
	})
	out := direction(u.OutputTokens, p.Output, []kind{
		{u.AudioOutputTokens, r.AudioOutput}, {u.ImageOutputTokens, r.ImageOutput}, {u.ReasoningTokens, r.Reasoning},
	})
	return in.Add(out).Add(r.pieces(&u))
}

// Most returns the most that work of the given size may cost, whatever kinds its tokens turn out to be of.
func (p Price) Most(size Usage) Money {
	r := p.Rates
	if r == nil {
		return p.plain(&size)
	}
	if p.Unit == PerMillionTokens {
		p.Input = dearest(p.Input, r.CacheWrite, r.CachedInput, r.AudioInput, r.ImageInput)
		p.Output = dearest(p.Output, r.AudioOutput, r.ImageOutput, r.Reasoning)
	}
	return p.plain(&size).Add(r.pieces(&size))
}

// CountsRequests reports whether a request has a price.
func (p Price) CountsRequests() bool {
	return p.Unit == PerRequest || p.Rates != nil && p.Rates.Request != nil
}

// plain is the cost without rates.
func (p *Price) plain(u *Usage) Money {
	if p.Unit == PerMillionTokens {
		return per(u.InputTokens, p.Input, mtok).Add(per(u.OutputTokens, p.Output, mtok))
	}
	both := p.Input.Add(p.Output)
	switch p.Unit {
	case PerImage:
		return per(u.Images, both, 1)
	case PerSecond:
		return per(u.Milliseconds, both, 1_000)
	case PerMillionCharacters:
		return per(u.Characters, both, 1_000_000)
	case PerPage:
		return per(u.Pages, both, 1)
	case PerRequest:
		return per(u.Requests, both, 1)
	case PerSearch:
		return per(u.Searches, both, 1)
	default:
		return 0
	}
}

// pieces is the cost of what is priced beside the unit.
func (r *Rates) pieces(u *Usage) Money {
	var cost Money
	for _, k := range []kind{{u.Pages, r.Page}, {u.Requests, r.Request}, {u.Searches, r.Search}} {
		if k.rate != nil {
			cost = cost.Add(per(k.n, *k.rate, 1))
		}
	}
	return cost
}

// kind is a count of work with a rate of its own, nil for none.
type kind struct {
	n    int64
	rate *Money
}

// direction returns the cost of the input's or the output's tokens, with those of kinds among them. Kinds that come to
// more than the whole are counted up to it, the first ones first.
func direction(whole int64, rest Money, kinds []kind) Money {
	var sum product
	for _, k := range kinds {
		n := max(min(k.n, whole), 0)
		if k.rate != nil {
			sum.add(n, *k.rate)
			whole -= n
		}
	}
	sum.add(whole, rest)
	return sum.ceil(mtok)
}

func dearest(rest Money, rates ...*Money) Money {
	for _, r := range rates {
		if r != nil {
			rest = max(rest, *r)
		}
	}
	return rest
}

// per returns ceil(count × price ÷ scale), saturating; negative counts are free.
func per(count int64, price Money, scale uint64) Money {
	if count <= 0 || price <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(count), uint64(price))
	return product{hi, lo}.ceil(scale)
}

// product is a sum of counts times prices, exact as long as the counts together are an int64.
type product struct{ hi, lo uint64 }

// add leaves out counts and prices below 0.
func (p *product) add(count int64, price Money) {
	if count <= 0 || price <= 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(count), uint64(price))
	var carry uint64
	p.lo, carry = bits.Add64(p.lo, lo, 0)
	p.hi, _ = bits.Add64(p.hi, hi, carry)
}

// ceil divides and rounds up, saturating.
func (p product) ceil(scale uint64) Money {
	lo, carry := bits.Add64(p.lo, scale-1, 0)
	hi := p.hi + carry
	if hi >= scale {
		return MaxMoney
	}
	q, _ := bits.Div64(hi, lo, scale)
	if q > uint64(MaxMoney) {
		return MaxMoney
	}
	return Money(q)
}
