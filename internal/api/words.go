package api

import (
	"fmt"

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
func (p Price) String() string {
	in, inErr := task.ParseMoney(p.Input)
	out, outErr := task.ParseMoney(p.Output)
	if inErr != nil || outErr != nil {
		return "?"
	}
	both := "$" + in.Add(out).String()
	switch {
	case in == 0 && out == 0:
		return "free"
	case p.Unit == task.PerMillionTokens:
		return fmt.Sprintf("$%s in, $%s out / M tokens", in, out)
	case p.Unit == task.PerImage:
		return both + " / image"
	case p.Unit == task.PerSecond:
		return both + " / second"
	case p.Unit == task.PerMillionCharacters:
		return both + " / M characters"
	default:
		return both
	}
}
