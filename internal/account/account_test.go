package account_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
)

func TestAllows(t *testing.T) {
	tests := []struct {
		name       string
		patterns   []string
		capability string
		want       bool
	}{
		{"none allows all", nil, "text.chat", true},
		{"empty allows all", []string{}, "text.chat", true},
		{"star", []string{"*"}, "text.chat", true},
		{"exact", []string{"text.chat"}, "text.chat", true},
		{"another name", []string{"text.embed"}, "text.chat", false},
		{"a family", []string{"text.*"}, "text.chat", true},
		{"another family", []string{"image.*"}, "text.chat", false},
		{"the second pattern", []string{"image.*", "text.chat"}, "text.chat", true},
		{"a family of a longer word", []string{"text.*"}, "textual.chat", false},
		{"a family has members, not itself", []string{"text.*"}, "text", false},
		{"a family's family", []string{"text.*"}, "text.chat.long", true},
		{"a prefix is no pattern", []string{"tex*"}, "text.chat", false},
		{"a longer name", []string{"text.chat"}, "text.chat2", false},
		{"a shorter name", []string{"text.chat"}, "text.cha", false},
		{"an empty pattern matches nothing", []string{""}, "text.chat", false},
		{"case counts", []string{"Text.*"}, "text.chat", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := account.Allows(tt.patterns, tt.capability); got != tt.want {
				t.Errorf("Allows(%q, %q) = %v, want %v", tt.patterns, tt.capability, got, tt.want)
			}
		})
	}
}

func TestValidPattern(t *testing.T) {
	for _, p := range []string{"*", "text.*", "text.chat", "text", "a-b.c_d.3", "text.chat.*"} {
		if !account.ValidPattern(p) {
			t.Errorf("%q is refused", p)
		}
	}
	for _, p := range []string{
		"", ".", ".*", "*.*", "**", "text*", "te*xt", "text.", ".text", "text..chat", "text.*.chat",
		"text.*.*", strings.Repeat("x", 101), "Text.chat", "text chat", "text.chat ", "tëxt", "text/chat", "text.\x00",
	} {
		if account.ValidPattern(p) {
			t.Errorf("%q is accepted", p)
		}
	}
}

// FuzzPattern: a valid pattern allows exactly the names that it matches as a regular expression; an
// invalid one allows no name of a capability.
func FuzzPattern(f *testing.F) {
	for _, p := range []string{"*", "text.*", "text.chat", "text", "tex*", "", ".*", "Text.*"} {
		f.Add(p, "text.chat")
	}
	f.Fuzz(func(t *testing.T, pattern, capability string) {
		isName := account.ValidPattern(capability) && !strings.Contains(capability, "*")
		expression := "^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + "$"
		want := isName && account.ValidPattern(pattern) && regexp.MustCompile(expression).MatchString(capability)
		if got := account.Allows([]string{pattern}, capability); isName && got != want {
			t.Errorf("Allows(%q, %q) = %v, want %v", pattern, capability, got, want)
		}
	})
}

func TestPeriodStamp(t *testing.T) {
	east := time.FixedZone("east", 14*3600)
	tests := []struct {
		name   string
		period account.Period
		at     time.Time
		want   string
	}{
		{"a day", account.Day, time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), "2026-11-21"},
		{"a month", account.Month, time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), "2026-11"},
		{"the last instant", account.Day, time.Date(2026, 12, 31, 23, 59, 59, 999999999, time.UTC), "2026-12-31"},
		{"the first instant", account.Month, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), "2027-01"},
		{"UTC counts, not the zone", account.Day, time.Date(2027, 1, 1, 10, 0, 0, 0, east), "2026-12-31"},
		{"UTC counts for months", account.Month, time.Date(2027, 1, 1, 10, 0, 0, 0, east), "2026-12"},
		{"a leap day", account.Day, time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC), "2028-02-29"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.period.Stamp(tt.at); got != tt.want {
				t.Errorf("stamp %q, want %q", got, tt.want)
			}
			end := tt.at.Add(tt.period.Left(tt.at))
			if got := tt.period.Stamp(end.Add(-1)); got != tt.want || tt.period.Stamp(end) == tt.want {
				t.Errorf("the period ends at %s, with stamp %q before and %q then", end, got, tt.period.Stamp(end))
			}
		})
	}
}

func TestUsable(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		key  account.Key
		want bool
	}{
		{"without an end", account.Key{}, true},
		{"before its end", account.Key{ExpiresAt: new(now.Add(time.Nanosecond))}, true},
		{"at its end", account.Key{ExpiresAt: new(now)}, false},
		{"after its end", account.Key{ExpiresAt: new(now.Add(-time.Hour))}, false},
		{"revoked", account.Key{RevokedAt: new(now)}, false},
		{"revoked by a clock ahead of ours", account.Key{RevokedAt: new(now.Add(time.Hour))}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.key.Usable(now); got != tt.want {
				t.Errorf("usable %v, want %v", got, tt.want)
			}
		})
	}
}
