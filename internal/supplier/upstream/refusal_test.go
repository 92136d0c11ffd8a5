package upstream_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// TestSentByStatus goes through every status there is.
func TestSentByStatus(t *testing.T) {
	unknown := map[int]bool{408: true, 499: true, 504: true, 520: true, 524: true}
	for status := range 1000 {
		want := supplier.Unknown
		if status >= 400 && status <= 599 && !unknown[status] || status == 307 || status == 308 {
			want = supplier.Refused
		}
		if got := upstream.SentByStatus(status); got != want {
			t.Errorf("status %d: got %s, want %s", status, got, want)
		}
	}
}

// TestFailureMessages: each code that a supplier can bring about has a message of its own.
func TestFailureMessages(t *testing.T) {
	callers := []fault.Code{
		fault.Unauthenticated, fault.AuthorizationRequired, fault.NotFound, fault.IdempotencyConflict, fault.RateLimitExceeded,
	}
	general := upstream.Failure(supplier.Refused, fault.Internal, nil).Fault.Message
	for _, code := range fault.Codes() {
		got := upstream.Failure(supplier.Refused, code, nil).Fault.Message
		if want := code == fault.Internal || slices.Contains(callers, code); (got == general) != want {
			t.Errorf("%s: the message is %q", code, got)
		}
	}
}

func TestRefusal(t *testing.T) {
	meanings := upstream.Meanings{
		"review": {Code: fault.ContentPolicyViolation},
		"quota":  {Code: fault.ProviderUnavailable, Operator: true},
		"full":   {Code: fault.CapacityExhausted},
		"late":   {Code: fault.ProviderTimeout},
	}
	type verdict struct {
		Code     fault.Code
		Sent     supplier.Sent
		Operator bool
		Request  bool
		Error    string // the cause's text
	}
	const (
		refused = supplier.Refused
		unknown = supplier.Unknown
	)
	tests := []struct {
		status int
		body   string
		want   verdict
	}{
		{400, `{"code":"full","error":{"code":"review"}}`, verdict{fault.ContentPolicyViolation, refused, false, true, "code review"}},
		{400, `{"code":"full","error":{"code":"QUOTA"}}`, verdict{fault.ProviderUnavailable, refused, true, false, "code quota"}},
		{401, `{"error":{"code":"full"}}`, verdict{fault.ProviderUnavailable, refused, true, false, "status 401"}},
		{504, `{"error":{"code":"full"}}`, verdict{fault.ProviderTimeout, unknown, false, false, "status 504"}},
		{307, ``, verdict{fault.ProviderUnavailable, refused, false, false, "status 307"}},
		{302, ``, verdict{fault.ProviderUnavailable, unknown, false, false, "status 302"}},
		{403, `<html>`, verdict{fault.ProviderUnavailable, refused, false, false, "status 403"}},
		{404, `{"error":{"code":"quota"}}`, verdict{fault.ProviderUnavailable, refused, true, false, "code quota"}},
		{403, `{"error":{"code":"full"}}`, verdict{fault.ProviderUnavailable, refused, false, false, "code full"}},
		{405, `{"error":{"code":"full"}}`, verdict{fault.ProviderUnavailable, refused, false, true, "status 405"}},
		{425, ``, verdict{fault.ProviderUnavailable, refused, false, false, "status 425"}},
		{451, `<html>`, verdict{fault.ProviderUnavailable, refused, false, true, "status 451"}},
		{200, `{"error":{"code":409}}`, verdict{fault.ProviderUnavailable, refused, false, true, "status 200"}},
		{409, ``, verdict{fault.ProviderUnavailable, refused, false, true, "status 409"}},
		{529, `overloaded`, verdict{fault.CapacityExhausted, refused, false, false, "status 529"}},
		{200, `{"error":{"code":"full"}}`, verdict{fault.CapacityExhausted, refused, false, false, "status 200, code full"}},
		{200, `{"error":{"code":"late"}}`, verdict{fault.ProviderTimeout, unknown, false, false, "status 200, code late"}},
		{200, `{"error":{"code":404}}`, verdict{fault.ProviderUnavailable, refused, false, false, "status 200"}},
		{200, `{"error":{"code":"never heard of"}}`, verdict{fault.ProviderUnavailable, unknown, false, false, "status 200"}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status, tt.body), func(t *testing.T) {
			e := upstream.Refusal(upstream.Answer{Status: tt.status, Body: []byte(tt.body)}, meanings, time.Time{})
			got := verdict{e.Fault.Code, e.Sent, e.Operator, e.Request, tt.want.Error}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !strings.Contains(e.Error(), tt.want.Error) || strings.Contains(e.Error(), "never heard of") {
				t.Errorf("error %q, want %q in it", e, tt.want.Error)
			}
		})
	}
}

func TestParseProblem(t *testing.T) {
	tests := []struct {
		in   string
		want upstream.Problem
	}{
		{``, upstream.Problem{}},
		{`<html>`, upstream.Problem{}},
		{`null`, upstream.Problem{}},
		{`{"id":"x","error":null}`, upstream.Problem{}},
		{`{"error":{}}`, upstream.Problem{}},
		{`{"error":false}`, upstream.Problem{}},
		{`{"error":"model not found"}`, upstream.Problem{Present: true}},
		{`{"error":{"code":"A","type":"b","message":"m"}}`, upstream.Problem{Present: true, Words: []string{"a", "b"}}},
		{`{"error":{"code":503,"status":"UNAVAILABLE"}}`, upstream.Problem{Present: true, Status: 503, Words: []string{"unavailable"}}},
		{`{"error":{"code":"429"}}`, upstream.Problem{Present: true, Status: 429}},
		{`{"error":{"code":1301}}`, upstream.Problem{Present: true, Words: []string{"1301"}}},
		{`{"code":"x","error":"text"}`, upstream.Problem{Present: true, Words: []string{"x"}}},
		{`{"object":"error","code":400}`, upstream.Problem{Present: true, Status: 400}},
		{`{"type":"error","error":{"type":"overloaded_error"}}`, upstream.Problem{Present: true, Words: []string{"error", "overloaded_error"}}},
		{`[{"error":{"code":400}}]`, upstream.Problem{Present: true, Status: 400}},
		{`{"detail":[{"type":"value_error"}]}`, upstream.Problem{Words: []string{"value_error"}}},
		{`{"error":{"code":403,"metadata":{"reasons":["x"]}}}`, upstream.Problem{Present: true, Status: 403, Flagged: true}},
		{`{"detail":[{"type":"review","input":{"image":"data:image/png;base64,AAAA`, upstream.Problem{Words: []string{"review"}}},
		{`{"error":{"code":"a","type":"b`, upstream.Problem{Present: true, Words: []string{"a"}}},
		{`{"error":{"code":"a"},"debug":` + strings.Repeat("[", 99), upstream.Problem{Present: true, Words: []string{"a"}}},
		{`{"error":{"code":"a"} and more`, upstream.Problem{Present: true, Words: []string{"a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, upstream.ParseProblem([]byte(tt.in))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzRefusal(f *testing.F) {
	f.Add(400, `{"error":{"code":"x"}}`)
	f.Add(200, `{"error":{"code":502}}`)
	f.Add(503, `[[[[[[[{"error":[{"detail":{"code":"500"}}]}]]]]]]]`)
	f.Add(200, `{"error":"x","metadata":{"flagged_input":1}}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		p := upstream.ParseProblem([]byte(body))
		if p.Status != 0 && (p.Status < 400 || p.Status > 599) || len(p.Words) > 32 {
			t.Errorf("problem %+v", p)
		}
		a := upstream.Answer{Status: status, Body: []byte(body)}
		e := upstream.Refusal(a, nil, time.Time{})
		if !e.Fault.Code.Valid() || e.Fault.Code == fault.Internal {
			t.Errorf("code %q", e.Fault.Code)
		}
		if !a.OK() && e.Sent != upstream.SentByStatus(status) {
			t.Errorf("verdict %s of status %d", e.Sent, status)
		}
		if len(body) > 30 && strings.Contains(e.Error(), body) {
			t.Error("the error holds the answer")
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		in   string
		want time.Duration
	}{
		{"", 0},
		{"0", 0},
		{"5", 5 * time.Second},
		{" 5 ", 5 * time.Second},
		{"0.25", 250 * time.Millisecond},
		{"-3", 0},
		{"1000000000", time.Hour},
		{"1e9", time.Hour},
		{"99999999999999999999999999", time.Hour},
		{"NaN", 0},
		{"soon", 0},
		{"Fri, 20 Nov 2026 12:01:30 GMT", 90 * time.Second},
		{"Fri, 20 Nov 2026 11:00:00 GMT", 0},
		{"Fri, 20 Nov 2099 11:00:00 GMT", time.Hour},
		{"Friday", 0},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			if got := upstream.RetryAfter(tt.in, now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"5", "-1", "1e9", "inf", "0x1p9", "Fri, 20 Nov 2026 12:01:30 GMT", "junk"} {
		f.Add(s, uint32(7))
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, junk string, n uint32) {
		if d := upstream.RetryAfter(junk, now); d < 0 || d > upstream.MaxRetryAfter {
			t.Errorf("%q gives %v", junk, d)
		}
		want := min(time.Duration(n)*time.Second, upstream.MaxRetryAfter)
		for _, v := range []string{strconv.FormatUint(uint64(n), 10), now.Add(time.Duration(n) * time.Second).Format(http.TimeFormat)} {
			if got := upstream.RetryAfter(v, now); got != want {
				t.Errorf("%s: got %v, want %v", v, got, want)
			}
		}
	})
}
