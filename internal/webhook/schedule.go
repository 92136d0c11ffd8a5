package webhook

import "time"

// delays are the pauses after each failed attempt: a receiver that restarts hears soon, and one that is down over a
// weekend still hears.
var delays = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// MaxAttempts is how often an event is sent to one endpoint before it is given up.
	MaxAttempts = len(delays) + 1
	// MaxRetryAfter bounds the pause that a receiver may ask for.
	MaxRetryAfter = time.Hour
)

// Pause returns how long to wait after the given number of failed attempts; false: the delivery is given up. jitter is
// a random number from 0 to 1: it moves the pause by up to a tenth to either side, so that events which failed together
// don't come back together. asked is the receiver's Retry-After, 0 without one, and only makes the pause longer.
func Pause(attempts int, jitter float64, asked time.Duration) (time.Duration, bool) {
	if attempts < 1 || attempts >= MaxAttempts {
		return 0, false
	}
	pause := delays[attempts-1]
	pause += time.Duration((jitter*2 - 1) * float64(pause) / 10)
	return max(pause, min(asked, MaxRetryAfter)), true
}
