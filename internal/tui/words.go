package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/task"
)

// duration shows how long something took or takes, with tenths only of a few seconds.
func duration(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// elapsed is the time from a task's creation to its end, or to now.
func elapsed(t api.Task, now time.Time) time.Duration {
	if t.FinishedAt != nil {
		return t.FinishedAt.Sub(t.CreatedAt.Time)
	}
	return now.Sub(t.CreatedAt.Time).Truncate(time.Second)
}

// size shows a number of bytes in powers of ten.
func size(n int64) string {
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

// price shows what a capability costs.
func price(p api.Price) string {
	in, inErr := task.ParseMoney(p.Input)
	out, outErr := task.ParseMoney(p.Output)
	if inErr != nil || outErr != nil {
		return line(p.Output)
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

// cost shows what a task cost, "" where that isn't known.
func cost(t api.Task) string {
	if t.Usage == nil {
		return ""
	}
	return "$" + line(t.Usage.Cost.Amount)
}

// usage shows the measured work.
func usage(u api.Usage) string {
	var words []string
	count := func(n int64, word string) {
		if n > 0 {
			words = append(words, strconv.FormatInt(n, 10)+" "+word)
		}
	}
	count(u.InputTokens, "input tokens")
	count(u.OutputTokens, "output tokens")
	count(u.Images, plural(int(u.Images), "image"))
	if u.Seconds != "" {
		words = append(words, line(u.Seconds.String())+" seconds")
	}
	count(u.Characters, "characters")
	return strings.Join(words, ", ")
}

// shape describes a file in a few words.
func shape(a api.Artifact) string {
	words := []string{line(a.ContentType)}
	if a.Width != nil && a.Height != nil {
		words = append(words, fmt.Sprintf("%d×%d", *a.Width, *a.Height))
	}
	if a.Duration != nil {
		words = append(words, strconv.FormatFloat(*a.Duration, 'f', -1, 64)+" s")
	}
	return strings.Join(append(words, size(a.Bytes)), ", ")
}

// bounds shows the values that a number may have, "" where any.
func bounds(f catalog.Field) string {
	show := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case f.Minimum != nil && f.Maximum != nil:
		return show(*f.Minimum) + " to " + show(*f.Maximum)
	case f.Minimum != nil:
		return "at least " + show(*f.Minimum)
	case f.Maximum != nil:
		return "at most " + show(*f.Maximum)
	default:
		return ""
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
