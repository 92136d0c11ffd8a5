package artifact_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

func newSigner(t testing.TB, fill byte, ttl time.Duration) *artifact.Signer {
	t.Helper()
	s, err := artifact.NewSigner(bytes.Repeat([]byte{fill}, artifact.SecretSize), ttl)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVerify(t *testing.T) {
	const id = "art_00000000000000000000000001"
	s := newSigner(t, 1, time.Hour)
	expires := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	good := s.Sign(id, expires)
	sig := strings.SplitAfter(good, "sig=")[1]
	tests := []struct {
		name  string
		id    string
		query string
		now   time.Time
		ok    bool
	}{
		{"fresh", id, good, expires.Add(-time.Hour), true},
		{"last moment", id, good, expires.Add(-time.Nanosecond), true},
		{"other parameters", id, good + "&download=1", expires.Add(-time.Hour), true},
		{"expired", id, good, expires, false},
		{"another id", id[:len(id)-1] + "2", good, expires.Add(-time.Hour), false},
		{"a later expiry", id, strings.Replace(good, "exp=1", "exp=2", 1), expires.Add(-time.Hour), false},
		{"an expiry spelled otherwise", id, strings.Replace(good, "exp=", "exp=0", 1), expires.Add(-time.Hour), false},
		{"another secret", id, newSigner(t, 2, time.Hour).Sign(id, expires), expires.Add(-time.Hour), false},
		{"no signature", id, strings.Split(good, "&")[0], expires.Add(-time.Hour), false},
		{"empty signature", id, strings.TrimSuffix(good, sig), expires.Add(-time.Hour), false},
		{"cut signature", id, good[:len(good)-1], expires.Add(-time.Hour), false},
		{"padded signature", id, good + "%3D", expires.Add(-time.Hour), false},
		{"two signatures", id, good + "&sig=" + sig, expires.Add(-time.Hour), false},
		{"two expiries", id, good + "&exp=9999999999", expires.Add(-time.Hour), false},
		{"nothing", id, "", expires.Add(-time.Hour), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			query, err := url.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			err = s.Verify(tt.id, query, tt.now)
			if want := map[bool]fault.Code{true: "", false: fault.NotFound}[tt.ok]; fault.CodeOf(err) != want {
				t.Errorf("Verify: %v, want code %q", err, want)
			}
		})
	}
}

// TestWindow walks two hours by seconds: the address changes once each half TTL and always has more
// than half of it left.
func TestWindow(t *testing.T) {
	for _, ttl := range []time.Duration{2 * time.Second, 3 * time.Second, 90 * time.Second, time.Hour} {
		s := newSigner(t, 1, ttl)
		start := time.Unix(1_800_000_000, 0)
		addresses := map[int64]string{}
		for d := time.Duration(0); d < 2*time.Hour; d += 500 * time.Millisecond {
			now := start.Add(d)
			index, expires := s.Window(now)
			left := expires.Sub(now)
			if half := (ttl / 2).Truncate(time.Second); left <= half || left > 2*half {
				t.Fatalf("TTL %v: %v left at %v", ttl, left, now)
			}
			address := s.Sign("art_x", expires)
			if first, ok := addresses[index]; ok && first != address {
				t.Fatalf("TTL %v: two addresses in window %d", ttl, index)
			}
			addresses[index] = address
		}
		if got, least := len(addresses), int(2*time.Hour/ttl); got < least {
			t.Errorf("TTL %v: %d windows in two hours, want at least %d", ttl, got, least)
		}
	}
}

func TestNewSignerRefuses(t *testing.T) {
	if _, err := artifact.NewSigner(make([]byte, 31), time.Hour); err == nil {
		t.Error("a short secret is taken")
	}
	if _, err := artifact.NewSigner(make([]byte, 32), time.Second); err == nil {
		t.Error("a TTL of one second is taken")
	}
}

// FuzzVerify: no query but Sign's own opens an artifact.
func FuzzVerify(f *testing.F) {
	s := newSigner(f, 1, time.Hour)
	expires := time.Unix(2_000_000_000, 0)
	good := s.Sign("art_x", expires)
	f.Add(good)
	f.Add(good + "\r")
	f.Add("exp=2000000000&sig=")
	f.Add("exp=99999999999999999999&sig=AAAA")
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := url.ParseQuery(raw)
		if err != nil || s.Verify("art_x", query, expires.Add(-time.Hour)) != nil {
			return
		}
		want, _ := url.ParseQuery(good)
		if query.Get("exp") != want.Get("exp") || query.Get("sig") != want.Get("sig") {
			t.Errorf("%q is accepted", raw)
		}
	})
}
