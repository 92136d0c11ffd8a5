package webhook_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"unitask/internal/webhook"
)

// TestPauseTotal: the attempts span some 75 hours, whatever the jitter.
func TestPauseTotal(t *testing.T) {
	for _, jitter := range []float64{0, 0.5, 1} {
		var total time.Duration
		attempts := 1
		for ; ; attempts++ {
			pause, ok := webhook.Pause(attempts, jitter, 0)
			if !ok {
				break
			}
			total += pause
		}
		if attempts != webhook.MaxAttempts || total < 67*time.Hour || total > 84*time.Hour {
			t.Errorf("jitter %v: %d attempts over %s", jitter, attempts, total)
		}
	}
}

func TestPause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attempts := rapid.IntRange(-1, webhook.MaxAttempts+1).Draw(t, "attempts")
		jitter := rapid.Float64Range(0, 1).Draw(t, "jitter")
		asked := time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "asked"))
		pause, ok := webhook.Pause(attempts, jitter, asked)
		if want := attempts >= 1 && attempts < webhook.MaxAttempts; ok != want {
			t.Fatalf("after %d: %v", attempts, ok)
		}
		if !ok {
			return
		}
		plain, _ := webhook.Pause(attempts, jitter, 0)
		if pause < plain || pause < min(asked, webhook.MaxRetryAfter) || pause > max(plain, webhook.MaxRetryAfter) {
			t.Errorf("%s after %d attempts with %s asked for, %s without", pause, attempts, asked, plain)
		}
		middle, _ := webhook.Pause(attempts, 0.5, 0)
		if plain < middle*9/10 || plain > middle*11/10 {
			t.Errorf("%s is more than a tenth from %s", plain, middle)
		}
	})
}
