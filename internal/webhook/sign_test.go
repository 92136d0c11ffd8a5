package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"unitask/internal/webhook"
)

// TestSignExample is the example of the specification's own text.
func TestSignExample(t *testing.T) {
	s, err := webhook.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	webhook.Sign(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), s)
	if got, want := h.Get(webhook.HeaderSignature), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signature %q, want %q", got, want)
	}
}

func drawSecret(t *rapid.T, label string) webhook.Secret {
	return webhook.DeriveSecret(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label), "whe_1", rapid.IntRange(1, 9).Draw(t, label+" generation"))
}

// TestVerify: what is signed is verified with either secret, by each that parses; a change of any part is refused.
func TestVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawSecret(t, "first"), drawSecret(t, "second")
		id := rapid.StringMatching(`task_[a-z0-9]{1,26}\.[0-9]`).Draw(t, "id")
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		now := time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "now"), 0)
		h := http.Header{}
		webhook.Sign(h, id, now, body, first, second)
		for _, s := range []webhook.Secret{first, second} {
			read, err := webhook.ParseSecret(s.Reveal())
			if err != nil {
				t.Fatal(err)
			}
			if err := webhook.Verify(h, now, body, read); err != nil {
				t.Fatalf("refused: %v", err)
			}
		}
		later := now.Add(webhook.Tolerance + time.Second)
		if err := webhook.Verify(h, later, body, first); !errors.Is(err, webhook.ErrTimestamp) {
			t.Errorf("an old one: %v", err)
		}
		if err := webhook.Verify(h, now, append(body, ' '), first); !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("another body: %v", err)
		}
		moved := h.Clone()
		moved.Set(webhook.HeaderID, id+"1")
		if err := webhook.Verify(moved, now, body, first); !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("another id: %v", err)
		}
		h.Set(webhook.HeaderTimestamp, fmt.Sprint(now.Unix()+1))
		if err := webhook.Verify(h, now, body, first); !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("another time: %v", err)
		}
	})
}

func TestVerifyMalformed(t *testing.T) {
	s := webhook.DeriveSecret(make([]byte, 32), "whe_1", 1)
	now := time.Unix(1_800_000_000, 0)
	good := http.Header{}
	webhook.Sign(good, "task_1.0", now, nil, s)
	tests := []struct {
		name, header, value string
		want                error
	}{
		{"no id", webhook.HeaderID, "", webhook.ErrHeaders},
		{"no time", webhook.HeaderTimestamp, "", webhook.ErrHeaders},
		{"a date", webhook.HeaderTimestamp, "2026-11-26", webhook.ErrHeaders},
		{"no signature", webhook.HeaderSignature, "", webhook.ErrHeaders},
		{"another scheme", webhook.HeaderSignature, strings.Replace(good.Get(webhook.HeaderSignature), "v1,", "v2,", 1), webhook.ErrSignature},
		{"bad base64", webhook.HeaderSignature, "v1,***", webhook.ErrSignature},
		{"empty", webhook.HeaderSignature, "v1,", webhook.ErrSignature},
		{"of an unknown scheme first", webhook.HeaderSignature, "v1a,abc " + good.Get(webhook.HeaderSignature), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := good.Clone()
			h.Set(tt.header, tt.value)
			if err := webhook.Verify(h, now, nil, s); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
	if err := webhook.Verify(good, now, nil, webhook.Secret{}); err == nil {
		t.Error("the zero secret verifies")
	}
}

func TestDeriveSecretDiffers(t *testing.T) {
	seen := map[string]string{}
	for _, service := range []string{strings.Repeat("a", 32), strings.Repeat("b", 32)} {
		for _, endpoint := range []string{"whe_1", "whe_11"} {
			for generation := 1; generation <= 12; generation++ {
				of := fmt.Sprint(service, endpoint, generation)
				text := webhook.DeriveSecret([]byte(service), endpoint, generation).Reveal()
				if other, ok := seen[text]; ok {
					t.Errorf("%s and %s have one secret", of, other)
				}
				seen[text] = of
			}
		}
	}
}

func TestSecretIsRedacted(t *testing.T) {
	s := webhook.DeriveSecret(make([]byte, 32), "whe_1", 1)
	key := strings.TrimPrefix(s.Reveal(), "whsec_")
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(struct{ S webhook.Secret }{s})
	if err != nil {
		t.Fatal(err)
	}
	hidden := struct{ s webhook.Secret }{s}
	all := fmt.Sprintf("%v %+v %#v %s %v %+v %s %s", s, s, s, s, hidden, hidden, s.LogValue(), encoded)
	if strings.Contains(all, key) || strings.Contains(all, string(raw)) || strings.Contains(all, fmt.Sprintf("%v", raw)) {
		t.Errorf("the secret is printed: %s", all)
	}
}

func TestParseSecretRefuses(t *testing.T) {
	good := webhook.DeriveSecret(make([]byte, 32), "whe_1", 1).Reveal()
	for _, text := range []string{"", "whsec_", "whsec_c2hvcnQ=", good[6:], good + "=", good + "\n", "sk_" + good[6:]} {
		if _, err := webhook.ParseSecret(text); !errors.Is(err, webhook.ErrSecret) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzVerify: no header makes it panic, and only a signature of the secret is accepted.
func FuzzVerify(f *testing.F) {
	s := webhook.DeriveSecret(make([]byte, 32), "whe_1", 1)
	f.Add("task_1.0", "1800000000", "v1,abc v1,")
	f.Fuzz(func(t *testing.T, id, timestamp, signature string) {
		h := http.Header{}
		h.Set(webhook.HeaderID, id)
		h.Set(webhook.HeaderTimestamp, timestamp)
		h.Set(webhook.HeaderSignature, signature)
		if webhook.Verify(h, time.Unix(1_800_000_000, 0), []byte("body"), s) == nil {
			t.Error("accepted without a signature")
		}
	})
}
