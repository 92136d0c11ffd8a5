package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// money writes a decimal amount of USD with the cents that it has at least; "" is zero.
func money(amount string) string {
	if amount == "" {
		return "–"
	}
	whole, cents, _ := strings.Cut(amount, ".")
	for len(cents) < 2 {
		cents += "0"
	}
	return "$" + thousands(whole) + "." + cents
}

// count writes a number with its thousands apart.
func count[T int | int64](n T) string { return thousands(strconv.FormatInt(int64(n), 10)) }

func thousands(digits string) string {
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// ago writes how long ago, or in how long, a time is.
func ago(at, now time.Time) string {
	if at.IsZero() {
		return "never"
	}
	d := now.Sub(at)
	if d < 0 {
		return "in " + rough(-d)
	}
	if d < 5*time.Second {
		return "just now"
	}
	return rough(d) + " ago"
}

// rough writes a duration by its largest unit.
func rough(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 90*day:
		return fmt.Sprintf("%d days", d/day)
	default:
		return fmt.Sprintf("%d months", d/(30*day))
	}
}

// lasted writes a duration that was measured.
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}
