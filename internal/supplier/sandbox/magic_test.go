package sandbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier/sandbox"
)

// TestFailWithEachCode: the sandbox fails on demand with each code that a supplier can bring about, with a message.
func TestFailWithEachCode(t *testing.T) {
	callers := []fault.Code{
		fault.Unauthenticated, fault.AuthorizationRequired, fault.NotFound, fault.IdempotencyConflict, fault.RateLimitExceeded,
	}
	for _, code := range fault.Codes() {
		if got := sandbox.ReadMagic("@fail:"+string(code)).Fail == code && sandbox.Message(code) != ""; got == slices.Contains(callers, code) {
			t.Errorf("%s: can be asked for: %t", code, got)
		}
	}
}

func TestReadMagic(t *testing.T) {
	t.Parallel()
	bad := sandbox.Magic{Malformed: true}
	tests := map[string]sandbox.Magic{
		"":                          {},
		"a red fox":                 {},
		"mail me@fail:INTERNAL":     {},
		"@someone @failing @ @: ok": {},
		"a fox @fail:CONTENT_POLICY_VIOLATION now": {Fail: fault.ContentPolicyViolation},
		"@failjob:INTERNAL":                        {FailJob: fault.Internal},
		"one\n@slow:1m30s\ttwo":                    {Slow: 90 * time.Second},
		"@stuck:running":                           {Stuck: "running"},
		"@stuck:running @stuck:transferring":       {Stuck: "transferring"},
		"@flaky:2 @slow:0s":                        {Flaky: 2},
		"@unknown @full":                           {Unknown: true, Full: true},
		"@fail":                                    bad,
		"@fail:NOT_FOUND":                          bad,
		"@fail:internal":                           bad,
		"@failjob:":                                bad,
		"@slow":                                    bad,
		"@slow:61m":                                bad,
		"@slow:-1s":                                bad,
		"@stuck:queued":                            bad,
		"@flaky:0":                                 bad,
		"@flaky:10":                                bad,
		"@unknown:1":                               bad,
		"@class:findable @full":                    {Full: true},
		"@class:honors_key":                        bad,
		"@full:x @slow:1s":                         bad,
	}
	named := map[string]bool{}
	for text, want := range tests {
		if diff := cmp.Diff(want, sandbox.ReadMagic(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		for word := range strings.FieldsSeq(text) {
			name, _, _ := strings.Cut(word, ":")
			named[strings.TrimPrefix(name, "@")] = true
		}
	}
	for _, name := range sandbox.MagicNames() {
		if !named[name] {
			t.Errorf("@%s has no test", name)
		}
	}
}

// FuzzReadMagic: values stay within their bounds, and text around the words has no effect.
func FuzzReadMagic(f *testing.F) {
	f.Add("@slow:30s @flaky:2")
	f.Add("@fail:INTERNAL @stuck:running")
	f.Add("@unknown @full @")
	f.Fuzz(func(t *testing.T, text string) {
		m := sandbox.ReadMagic(text)
		if m.Slow < 0 || m.Slow > time.Hour || m.Flaky < 0 || m.Flaky > 9 ||
			!slices.Contains([]string{"", "running", "transferring"}, m.Stuck) ||
			m.Fail != "" && !m.Fail.Valid() || m.FailJob != "" && !m.FailJob.Valid() {
			t.Errorf("%+v", m)
		}
		if diff := cmp.Diff(m, sandbox.ReadMagic("a "+text+"\n@plain")); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(text, "@") && m != (sandbox.Magic{}) {
			t.Errorf("plain text means %+v", m)
		}
	})
}
