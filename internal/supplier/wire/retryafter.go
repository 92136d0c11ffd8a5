package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter bounds a supplier's advice: a route is probed again at least once an hour.
const MaxRetryAfter = time.Hour

// RetryAfter returns the pause that a Retry-After header advises, from 0 to MaxRetryAfter: seconds
// or an HTTP date, relative to now. What is absent, past or unreadable is 0.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(seconds) {
		return time.Duration(min(max(seconds, 0), MaxRetryAfter.Seconds()) * float64(time.Second))
	}
	if date, err := http.ParseTime(v); err == nil {
		return min(max(date.Sub(now), 0), MaxRetryAfter)
	}
	return 0
}
