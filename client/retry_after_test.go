package client_test

import (
	"testing"
	"time"

	"unitask/client"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		text string
		want time.Duration
	}{
		{"3", 3 * time.Second},
		{" 0 ", 0},
		{"Sat, 21 Nov 2026 12:00:10 GMT", 10 * time.Second},
		{"Sat, 21 Nov 2026 11:00:00 GMT", 0},
		{"4294967295", 365 * 24 * time.Hour},
		{"-3", 0},
		{"soon", 0},
		{"", 0},
	}
	for _, tt := range tests {
		if got := client.ParseRetryAfter(tt.text, now); got != tt.want {
			t.Errorf("ParseRetryAfter(%q) = %v, want %v", tt.text, got, tt.want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, seed := range []string{"3", "", "1e9", "Sat, 21 Nov 2026 12:00:10 GMT", "99999999999999999999"} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if got := client.ParseRetryAfter(text, now); got < 0 || got > 365*24*time.Hour {
			t.Errorf("ParseRetryAfter(%q) = %v, want 0 to a year", text, got)
		}
	})
}
