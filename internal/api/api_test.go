package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// TestCodes is the table of errors, which docs/api.md has too.
func TestCodes(t *testing.T) {
	table := []struct {
		code      fault.Code
		status    int
		retryable bool
		advised   bool // a Retry-After, whoever made the error
	}{
		{fault.InvalidRequest, 400, false, false},
		{fault.Unauthenticated, 401, false, false},
		{fault.AuthorizationRequired, 403, false, false},
		{fault.NotFound, 404, false, false},
		{fault.IdempotencyConflict, 409, false, false},
		{fault.ContentPolicyViolation, 422, false, false},
		{fault.RateLimitExceeded, 429, true, true},
		{fault.Internal, 500, true, false},
		{fault.ProviderUnavailable, 502, true, true},
		{fault.CapacityExhausted, 503, true, true},
		{fault.ProviderTimeout, 504, true, true},
	}
	if len(table) != len(fault.Codes()) {
		t.Errorf("%d codes in the table, %d exist", len(table), len(fault.Codes()))
	}
	for _, row := range table {
		e := fault.New(row.code, "as the test says")
		got := api.ErrorOf(e)
		if api.Status(e) != row.status || got.Retryable != row.retryable || (got.RetryAfterSeconds > 0) != row.advised {
			t.Errorf("%s: status %d, %+v", row.code, api.Status(e), got)
		}
		final, want := *e.WithRetryAfter(1500 * time.Millisecond), 0
		if row.retryable {
			want = 2
		}
		if got := api.ErrorOf(&final); got.RetryAfterSeconds != want {
			t.Errorf("%s: 1.5 s are advised as %d, want %d", row.code, got.RetryAfterSeconds, want)
		}
		final.Final = true
		if got := api.ErrorOf(&final); got.Retryable || got.RetryAfterSeconds != 0 {
			t.Errorf("%s: a final failure advises %+v", row.code, got)
		}
	}
	raw, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, documented, _ := strings.Cut(string(raw), "## Errors\n")
	documented, _, _ = strings.Cut(documented, "\n## ")
	if n := strings.Count(documented, "\n| `"); n != len(table) {
		t.Errorf("docs/api.md has %d codes, want %d", n, len(table))
	}
	for _, row := range table {
		again := map[bool]string{false: "no", true: "yes"}[row.retryable]
		if want := fmt.Sprintf("\n| `%s` | %d | %s | ", row.code, row.status, again); !strings.Contains(documented, want) {
			t.Errorf("docs/api.md has no row %q", want)
		}
	}
	for aspect, status := range map[fault.Aspect]int{fault.AspectMethod: 405, fault.AspectSize: 413, fault.AspectMediaType: 415} {
		if got := api.Status(fault.New(fault.InvalidRequest, "x").WithAspect(aspect)); got != status {
			t.Errorf("%s: %d", aspect, got)
		}
	}
}

// TestErrorRoundTrip: an error that one side writes the other reads as the same.
func TestErrorRoundTrip(t *testing.T) {
	for _, code := range fault.Codes() {
		for _, final := range []bool{false, code.Retryable()} {
			want := &fault.Error{
				Code: code, Message: "m", Details: []fault.Detail{{Field: "f", Message: "p"}}, TaskID: "task_x", Final: final,
			}
			if want.Retryable() {
				want.RetryAfter = 3 * time.Second
			}
			raw, err := json.Marshal(api.ErrorResponse{Error: api.ErrorOf(want), TaskID: want.TaskID})
			if err != nil {
				t.Fatal(err)
			}
			var got api.ErrorResponse
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Fault(), cmpopts.IgnoreUnexported(fault.Error{})); diff != "" {
				t.Errorf("%s:\n%s", code, diff)
			}
		}
	}
}

// FuzzTimestamp: a parsed time is written in UTC with milliseconds, and is then the same each time.
func FuzzTimestamp(f *testing.F) {
	for _, seed := range []string{`"2026-11-21T08:00:00.000Z"`, `"2026-11-21T08:00:00.123456789+05:30"`, `"x"`, `5`, `null`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var first, second api.Timestamp
		if json.Unmarshal([]byte(text), &first) != nil || first.Year() < 1 || first.Year() > 9998 {
			return
		}
		raw, err := json.Marshal(first)
		if err != nil || len(raw) != len(`"2026-11-21T08:00:00.000Z"`) {
			t.Fatalf("%q is written as %s, %v", text, raw, err)
		}
		if err := json.Unmarshal(raw, &second); err != nil || !second.Equal(first.Truncate(time.Millisecond)) {
			t.Errorf("%q is read as %v, then as %v (%v)", text, first, second, err)
		}
	})
}
