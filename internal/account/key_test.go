package account_test

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"unitask/internal/account"
	"unitask/internal/task"
)

// sample is a well-formed key of no server.
const sample = "svc_test_0123456789ABCDEFGHIJKLMNOPQRSTUV2nuRgb"

func TestNewKeySecret(t *testing.T) {
	seen := map[string]bool{}
	for _, prefix := range []string{"svc", "a", "acme2"} {
		for _, mode := range []task.Mode{task.Live, task.Test} {
			shape := regexp.MustCompile(`^` + prefix + `_` + string(mode) + `_[0-9A-Za-z]{38}$`)
			for range 200 {
				secret := account.NewKeySecret(prefix, mode)
				if !shape.MatchString(secret) || seen[secret] {
					t.Fatalf("%q: wrong shape or seen before", secret)
				}
				seen[secret] = true
				if got, ok := account.ParseKeySecret(prefix, secret); !ok || got != mode {
					t.Fatalf("%q parses as %q, %v", secret, got, ok)
				}
			}
		}
	}
}

// TestKeyBodyUsesItsAlphabet: all 62 characters turn up in each place's fair share, so that the body
// carries the bits it claims. A generator that can't draw one of them would show at once.
func TestKeyBodyUsesItsAlphabet(t *testing.T) {
	const keys = 2000
	counts := map[rune]int{}
	for range keys {
		secret := account.NewKeySecret("svc", task.Live)
		for _, c := range secret[len("svc_live_") : len(secret)-6] {
			counts[c]++
		}
	}
	if len(counts) != 62 {
		t.Fatalf("%d characters in use, want 62", len(counts))
	}
	mean := keys * 32 / 62 // about 1032, standard deviation about 32
	for c, n := range counts {
		if n < mean*3/4 || n > mean*5/4 {
			t.Errorf("%q came %d times, the mean is %d", c, n, mean)
		}
	}
}

// TestParseKeySecretKnown pins the checksum, so that issued keys stay valid over releases.
func TestParseKeySecretKnown(t *testing.T) {
	if mode, ok := account.ParseKeySecret("svc", sample); !ok || mode != task.Test {
		t.Errorf("the known key parses as %q, %v", mode, ok)
	}
}

// TestKeySingleSubstitution: CRC-32 catches every burst of up to 32 bits, so no single wrong
// character anywhere may pass.
func TestKeySingleSubstitution(t *testing.T) {
	for at := range len(sample) {
		for c := range 256 {
			if byte(c) == sample[at] {
				continue
			}
			wrong := sample[:at] + string([]byte{byte(c)}) + sample[at+1:]
			if _, ok := account.ParseKeySecret("svc", wrong); ok {
				t.Errorf("%q passes with character %d changed", wrong, at)
			}
		}
	}
}

// TestKeyOtherSlips: other slips of hands: characters swapped, lost, doubled, cases flipped, ends cut.
func TestKeyOtherSlips(t *testing.T) {
	refused := func(what, wrong string) {
		t.Helper()
		if wrong == sample {
			return
		}
		if _, ok := account.ParseKeySecret("svc", wrong); ok {
			t.Errorf("%s: %q passes", what, wrong)
		}
	}
	for at := range len(sample) {
		refused("lost", sample[:at]+sample[at+1:])
		refused("doubled", sample[:at+1]+sample[at:])
		refused("cut", sample[:at])
		if at+1 < len(sample) {
			refused("swapped", sample[:at]+sample[at+1:at+2]+sample[at:at+1]+sample[at+2:])
		}
	}
	for what, wrong := range map[string]string{
		"upper":         strings.ToUpper(sample),
		"lower":         strings.ToLower(sample),
		"space before":  " " + sample,
		"space behind":  sample + " ",
		"other mode":    strings.Replace(sample, "_test_", "_live_", 1),
		"no such mode":  strings.Replace(sample, "_test_", "_prod_", 1),
		"other prefix":  strings.Replace(sample, "svc_", "abc_", 1),
		"Bearer":        "Bearer " + sample,
		"twice":         sample + sample,
		"a wide letter": strings.Replace(sample, "A", "А", 1),
	} {
		refused(what, wrong)
	}
}

// FuzzParseKeySecret: whatever passes has the key's shape, and passes again under its own prefix only.
func FuzzParseKeySecret(f *testing.F) {
	f.Add("svc", sample)
	f.Add("svc", account.NewKeySecret("svc", task.Live))
	f.Add("", "_live_")
	f.Add("svc", "svc_live_")
	f.Add("s_live", "s_live_live_")
	f.Fuzz(func(t *testing.T, prefix, secret string) {
		mode, ok := account.ParseKeySecret(prefix, secret)
		if !ok {
			if mode != "" {
				t.Errorf("a refused key has mode %q", mode)
			}
			return
		}
		if (mode != task.Live && mode != task.Test) || !strings.HasPrefix(secret, prefix+"_"+string(mode)+"_") {
			t.Errorf("%q passes as %q under %q", secret, mode, prefix)
		}
		if got := len(secret) - len(prefix) - len("_live_"); got != 38 {
			t.Errorf("%q passes with a body of %d", secret, got)
		}
		if _, again := account.ParseKeySecret(prefix+"x", secret); again {
			t.Errorf("%q passes under two prefixes", secret)
		}
	})
}

func TestHashAndHint(t *testing.T) {
	sum := sha256.Sum256([]byte(sample))
	if got, want := account.HashSecret(sample).String(), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	for secret, want := range map[string]string{sample: "uRgb", "": "", "short": "", "sixsix": "xsix"} {
		if got := account.Hint(secret); got != want {
			t.Errorf("hint of %q is %q, want %q", secret, got, want)
		}
	}
}

func TestValidKeyPrefix(t *testing.T) {
	for _, p := range []string{"svc", "a", "0", "abcdefghij123456", account.DefaultKeyPrefix} {
		if !account.ValidKeyPrefix(p) {
			t.Errorf("%q is refused", p)
		}
	}
	for _, p := range []string{"", "abcdefghij1234567", "Svc", "svc_", "s-c", "s c", "svć", "svc\n"} {
		if account.ValidKeyPrefix(p) {
			t.Errorf("%q is accepted", p)
		}
	}
}

// TestHoldsSecret: a full key is told from an id, a hint and a name, with words around it and without its end.
func TestHoldsSecret(t *testing.T) {
	for _, mode := range []task.Mode{task.Live, task.Test, account.Operator} {
		full := account.NewKeySecret("acme2", mode)
		for _, text := range []string{full, " Bearer " + full + "\n", full[:len(full)-6]} {
			if !account.HoldsSecret(text) {
				t.Errorf("%q isn't seen", text)
			}
		}
	}
	for _, text := range []string{"", "key_06h1hb5k47s8yywch02xpw6tv1", account.Hint(sample), "my_test_key", "svc_live_", sample[len("svc_test_"):]} {
		if account.HoldsSecret(text) {
			t.Errorf("%q is taken for one", text)
		}
	}
}
