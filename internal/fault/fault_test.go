package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/fault"
)

// ignoreCause leaves the unexported cause to errors.Is.
var ignoreCause = cmpopts.IgnoreUnexported(fault.Error{})

// TestCodes holds the table: each code once, in its order, with its retry rule.
func TestCodes(t *testing.T) {
	type row struct {
		Code      fault.Code
		Retryable bool
	}
	want := []row{
		{"INVALID_REQUEST", false},
		{"UNAUTHENTICATED", false},
		{"AUTHORIZATION_REQUIRED", false},
		{"NOT_FOUND", false},
		{"IDEMPOTENCY_CONFLICT", false},
		{"CONTENT_POLICY_VIOLATION", false},
		{"RATE_LIMIT_EXCEEDED", true},
		{"INTERNAL", true},
		{"PROVIDER_UNAVAILABLE", true},
		{"CAPACITY_EXHAUSTED", true},
		{"PROVIDER_TIMEOUT", true},
	}
	var got []row
	for _, c := range fault.Codes() {
		got = append(got, row{c, c.Retryable()})
		if !c.Valid() {
			t.Errorf("%s is not valid", c)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	for _, c := range []fault.Code{"", "internal", "TIMEOUT"} {
		if c.Valid() || c.Retryable() {
			t.Errorf("%q: valid %v, retryable %v, want neither", c, c.Valid(), c.Retryable())
		}
	}
}

func TestConstructors(t *testing.T) {
	tests := []struct {
		name string
		got  *fault.Error
		want *fault.Error
		text string
	}{
		{
			"New", fault.New(fault.NotFound, "no such task"),
			&fault.Error{Code: fault.NotFound, Message: "no such task"},
			"NOT_FOUND: no such task",
		},
		{
			"Newf", fault.Newf(fault.InvalidRequest, "at most %d", 128),
			&fault.Error{Code: fault.InvalidRequest, Message: "at most 128"},
			"INVALID_REQUEST: at most 128",
		},
		{
			"Wrap", fault.Wrap(fault.Internal, io.ErrUnexpectedEOF, "the store is gone"),
			&fault.Error{Code: fault.Internal, Message: "the store is gone"},
			"INTERNAL: the store is gone: unexpected EOF",
		},
		{
			"Invalid", fault.Invalid("input.prompt", "is required"),
			&fault.Error{
				Code: fault.InvalidRequest, Message: "input.prompt is required",
				Details: []fault.Detail{{Field: "input.prompt", Message: "is required"}},
			},
			"INVALID_REQUEST: input.prompt is required",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got, ignoreCause); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got := tt.got.Error(); got != tt.text {
				t.Errorf("text %q, want %q", got, tt.text)
			}
		})
	}
}

// TestWithCopies makes sure that a shared error can't be changed by those it is handed to.
func TestWithCopies(t *testing.T) {
	rows := make([]fault.Detail, 1, 4) // spare room that an aliasing append would write to
	rows[0] = fault.Detail{Field: "a", Message: "is wrong"}
	base := &fault.Error{Code: fault.InvalidRequest, Message: "m", Details: rows}
	more := fault.Detail{Field: "b", Message: "is wrong too"}

	got := []*fault.Error{
		base.WithDetails(more), base.WithRetryAfter(3 * time.Second),
		base.WithAspect(fault.AspectSize), base.WithTask("task_1"),
	}
	want := []*fault.Error{
		{Code: fault.InvalidRequest, Message: "m", Details: []fault.Detail{rows[0], more}},
		{Code: fault.InvalidRequest, Message: "m", Details: rows, RetryAfter: 3 * time.Second},
		{Code: fault.InvalidRequest, Message: "m", Details: rows, Aspect: fault.AspectSize},
		{Code: fault.InvalidRequest, Message: "m", Details: rows, TaskID: "task_1"},
	}
	if diff := cmp.Diff(want, got, ignoreCause); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&fault.Error{Code: fault.InvalidRequest, Message: "m", Details: rows[:1]}, base, ignoreCause); diff != "" {
		t.Errorf("the original changed (-want +got):\n%s", diff)
	}
	if spare := rows[:2][1]; spare != (fault.Detail{}) {
		t.Errorf("the original's spare room holds %v", spare)
	}
}

func TestRetryable(t *testing.T) {
	tests := []struct {
		err  *fault.Error
		want bool
	}{
		{&fault.Error{Code: fault.ProviderTimeout}, true},
		{&fault.Error{Code: fault.ProviderTimeout, Final: true}, false},
		{&fault.Error{Code: fault.NotFound}, false},
	}
	for _, tt := range tests {
		if got := tt.err.Retryable(); got != tt.want {
			t.Errorf("%s, final %v: retryable %v, want %v", tt.err.Code, tt.err.Final, got, tt.want)
		}
	}
}

func TestFrom(t *testing.T) {
	coded := fault.New(fault.CapacityExhausted, "every route is full")
	tests := []struct {
		name string
		err  error
		code fault.Code
		same bool // From returns the coded error itself
	}{
		{"nil", nil, "", false},
		{"coded", coded, fault.CapacityExhausted, true},
		{"coded, wrapped", fmt.Errorf("gateway: %w", coded), fault.CapacityExhausted, true},
		{"coded, joined", errors.Join(io.EOF, coded), fault.CapacityExhausted, true},
		{"foreign", errors.New("dial tcp 10.0.0.1: key sk-1"), fault.Internal, false},
		{"canceled", context.Canceled, fault.Internal, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := fault.From(tt.err)
			if code := fault.CodeOf(tt.err); code != tt.code {
				t.Errorf("code %q, want %q", code, tt.code)
			}
			if (got == coded) != tt.same {
				t.Errorf("From returned %p, coded is %p", got, coded)
			}
			if got != nil && !errors.Is(tt.err, got) && !errors.Is(got, tt.err) {
				t.Errorf("%v and %v are not linked", got, tt.err)
			}
		})
	}
}

// TestFromHidesForeignText plants a secret in a foreign error: it may show in a log, never in the
// caller's message.
func TestFromHidesForeignText(t *testing.T) {
	const secret = "sk-very-secret"
	got := fault.From(fmt.Errorf("POST https://supplier.example?key=%s: refused", secret))
	if strings.Contains(got.Message, "supplier") || strings.Contains(got.Message, secret) || len(got.Details) > 0 {
		t.Errorf("the caller's message tells the cause: %q", got.Message)
	}
	if !strings.Contains(got.Error(), secret) {
		t.Error("the log's text lost the cause")
	}
}
