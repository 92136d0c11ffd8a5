package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
)

// elapsed is the time from a task's creation to its end, or to now.
func elapsed(t api.Task, now time.Time) time.Duration {
	if t.FinishedAt != nil {
		return t.FinishedAt.Sub(t.CreatedAt.Time)
	}
	return now.Sub(t.CreatedAt.Time).Truncate(time.Second)
}

// age is how long ago a task was created, in its largest unit.
func age(t api.Task, now time.Time) string {
	return ago(t.CreatedAt.Time, now)
}

// ago is the time since then, in its largest unit.
func ago(then, now time.Time) string {
	d := max(0, now.Sub(then))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
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
	for _, c := range u.Counts() {
		words = append(words, strconv.FormatInt(c.N, 10)+" "+c.Name)
	}
	if u.Seconds != "" {
		words = append(words, line(u.Seconds.String())+" seconds")
	}
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
