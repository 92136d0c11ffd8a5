package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
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

// cost shows a task's cost, "" if unknown.
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
	return strings.Join(append(words, api.Size(a.Bytes)), ", ")
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
