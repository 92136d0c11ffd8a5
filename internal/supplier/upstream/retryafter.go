package upstream

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter bounds a supplier's advice: a route is probed again at least once an hour.
const MaxRetryAfter = time.Hour

// RetryAfter returns the pause that the value of a Retry-After field advises, from 0 to MaxRetryAfter: seconds or an
// HTTP date, relative to now. An empty, past or unreadable one is 0.
func RetryAfter(value string, now time.Time) time.Duration {
	v := strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(seconds) {
		return time.Duration(min(max(seconds, 0), MaxRetryAfter.Seconds()) * float64(time.Second))
	}
	if date, err := http.ParseTime(v); err == nil {
		return min(max(date.Sub(now), 0), MaxRetryAfter)
	}
	return 0
}
