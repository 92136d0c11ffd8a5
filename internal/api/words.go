package api

import (
	"fmt"
	"strings"

	"unitask/internal/task"
)

// The words of this file are for people: sizes and prices as every screen shows them.

// Size shows a number of bytes in powers of ten, such as "1.2 MB".
func Size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < 3 {
		value, prefix = value/unit, prefix+1
	}
	return fmt.Sprintf("%.1f %cB", value, "kMGT"[prefix])
}

// String shows the price, such as "$0.003 / image"; "free" without a price. An amount that isn't one shows as "?".
// The prices of kinds of tokens are Kinds.
func (p Price) String() string {
	in, inErr := task.ParseMoney(p.Input)
	out, outErr := task.ParseMoney(p.Output)
	if inErr != nil || outErr != nil {
		return wrong
	}
	var parts []string
	switch {
	case in == 0 && out == 0:
	case p.Unit == task.PerMillionTokens:
		parts = append(parts, fmt.Sprintf("$%s in, $%s out / M tokens", in, out))
	default:
		parts = append(parts, "$"+in.Add(out).String()+each(p.Unit))
	}
	for _, piece := range []struct {
		amount string
		unit   task.Unit
	}{{p.Page, task.PerPage}, {p.Request, task.PerRequest}, {p.Search, task.PerSearch}} {
		if piece.amount != "" && piece.amount != "0" {
			parts = append(parts, dollars(piece.amount)+each(piece.unit))
		}
	}
	if len(parts) == 0 {
		return "free"
	}
	return strings.Join(parts, ", ")
}

// each is the end of a price of the unit; "" for an unknown one.
func each(u task.Unit) string {
	switch {
	case u == task.PerMillionCharacters:
		return " / M characters"
	case u.Valid():
		return " / " + string(u)
	default:
		return ""
	}
}

// Kinds shows the prices of kinds of tokens, such as "cached input $0.2, reasoning $12 / M tokens"; "" for none.
func (p Price) Kinds() string {
	var parts []string
	for _, kind := range []struct{ amount, name string }{
		{p.CachedInput, "cached input"},
		{p.CacheWrite, "cache write"},
		{p.ImageInput, "image input"},
		{p.AudioInput, "audio input"},
		{p.Reasoning, "reasoning"},
		{p.ImageOutput, "image output"},
		{p.AudioOutput, "audio output"},
	} {
		if kind.amount != "" {
			parts = append(parts, kind.name+" "+dollars(kind.amount))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " / M tokens"
}

// wrong stands for an amount that isn't one.
const wrong = "?"

func dollars(amount string) string {
	m, err := task.ParseMoney(amount)
	if err != nil {
		return wrong
	}
	return "$" + m.String()
}
