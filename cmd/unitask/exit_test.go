package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/secret"
	"unitask/internal/submit"
	"unitask/internal/task"
)

func refused(e *fault.Error) error {
	return &client.Error{Fault: e, Status: api.Status(e), RequestID: "req_1"}
}

func failedTask(code fault.Code) error {
	return submit.Ended(api.Task{ID: "task_1", State: task.Failed, Error: new(api.ErrorOf(fault.New(code, "no"))), RequestID: "req_1"})
}

func TestExitCode(t *testing.T) {
	want := map[fault.Code]int{
		fault.InvalidRequest: 2, fault.Unauthenticated: 4, fault.AuthorizationRequired: 1, fault.NotFound: 5,
		fault.IdempotencyConflict: 1, fault.ContentPolicyViolation: 1, fault.RateLimitExceeded: 6, fault.Internal: 1,
		fault.ProviderUnavailable: 1, fault.CapacityExhausted: 6, fault.ProviderTimeout: 1,
	}
	for _, code := range fault.Codes() {
		if got := exitCode(refused(fault.New(code, "no"))); got != want[code] {
			t.Errorf("refused with %s: exit code %d, want %d", code, got, want[code])
		}
	}
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"success", nil, 0},
		{"any error", errors.New("disk full"), 1},
		{"usage", &hint.UsageError{Message: "no"}, 2},
		{"a failed asynchronous task", failedTask(fault.ProviderTimeout), 3},
		{"a failed synchronous task", refused(fault.New(fault.Internal, "no").WithTask("task_1")), 3},
		{"a task that was refused by a review", failedTask(fault.ContentPolicyViolation), 3},
		{"a task that found no room", failedTask(fault.CapacityExhausted), 6},
		{"a canceled task", submit.Ended(api.Task{ID: "task_1", State: task.Canceled}), 3},
		{"a task that succeeded", submit.Ended(api.Task{ID: "task_1", State: task.Succeeded}), 0},
		{"no key", &client.NoKeyError{}, 4},
		{"a keyring that is locked", &secret.Error{Kind: secret.ErrLocked}, 4},
		{"a wait that timed out", &submit.LeftRunningError{TaskID: "task_1", Cause: submit.ErrTimeout}, 7},
		{"an unreachable service", fmt.Errorf("x: %w", &client.UnreachableError{Where: "http://a"}), 8},
		{"an interrupted wait", &submit.LeftRunningError{TaskID: "task_1", Cause: context.Canceled}, 130},
		{"an interrupted wait, by its signal", &submit.LeftRunningError{TaskID: "task_1", Cause: &signaled{os.Interrupt}}, 130},
		{"a terminated wait", &terminated{&submit.LeftRunningError{TaskID: "task_1", Cause: &signaled{syscall.SIGTERM}}}, 143},
		{"with a hint", hint.With(&hint.UsageError{Message: "no"}, "yes"), 2},
	}
	for _, tt := range tests {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestHintOfServer: who calls the server of a data folder that isn't up is given the command that starts that one.
func TestHintOfServer(t *testing.T) {
	for where, want := range map[string]string{
		"/srv/my data/admin.sock": `unitask serve --data-dir "/srv/my data" starts the server there; --profile NAME or --base-url URL calls another one`,
		"http://127.0.0.1:8420":   "unitask serve starts the service here; --base-url or UNITASK_BASE_URL names another one",
	} {
		if got := hintOf("unitask run", &client.UnreachableError{Where: where}); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
}

// TestHintOfCode: each code but INVALID_REQUEST, whose message says all, has a hint of its own.
func TestHintOfCode(t *testing.T) {
	other := hintOfCode("unitask keys", fault.New(fault.InvalidRequest, "no"))
	for _, code := range fault.Codes() {
		if got := hintOfCode("unitask keys", fault.New(code, "no")); (got == other) != (code == fault.InvalidRequest) {
			t.Errorf("%s: the hint is %q", code, got)
		}
	}
}

// TestHintOfWebhooks: what isn't there is looked for among things of its kind.
func TestHintOfWebhooks(t *testing.T) {
	for command, want := range map[string]string{"unitask webhooks get": "unitask webhooks list", "unitask tasks get": "unitask tasks list"} {
		if got := hintOfCode(command, fault.New(fault.NotFound, "no")); got != want {
			t.Errorf("%s: the hint is %q, want %q", command, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"usage", &hint.UsageError{Message: "no such flag"}, "unitask: no such flag\nhint: unitask run --help\n"},
		{
			"several details",
			refused(fault.Invalid("input.prompt", "is required").WithDetails(fault.Detail{Field: "parameters.n", Message: "is too large"})),
			"unitask: input.prompt is required (INVALID_REQUEST)\n  parameters.n is too large\nhint: unitask capabilities\nrequest id: req_1\n",
		},
		{
			"a failed task", failedTask(fault.ProviderTimeout),
			"unitask: task_1 failed: no (PROVIDER_TIMEOUT)\nhint: try again in 2 s\nrequest id: req_1\n",
		},
		{
			"advice", refused(fault.New(fault.RateLimitExceeded, "too many").WithRetryAfter(90 * 1e9)),
			"unitask: too many (RATE_LIMIT_EXCEEDED)\nhint: try again in 90 s\nrequest id: req_1\n",
		},
		{
			"a message that would steer the terminal", refused(fault.New(fault.Internal, "a\x1b[2Jb")),
			"unitask: a[2Jb (INTERNAL)\nhint: try again in a moment\nrequest id: req_1\n",
		},
		{
			"an interrupt between two tries of a failed task",
			hint.With(&submit.LeftRunningError{Cause: context.Canceled, Last: refused(fault.New(fault.ProviderTimeout, "no").WithTask("task_1"))}, "do it again"),
			"unitask: interrupted before the next try; task_1 failed: no (PROVIDER_TIMEOUT)\nhint: do it again\n",
		},
		{
			"an interrupt between two refusals",
			hint.With(&submit.LeftRunningError{Cause: context.Canceled, Last: refused(fault.New(fault.RateLimitExceeded, "no"))}, "do it again"),
			"unitask: interrupted before the next try; the last one was refused and made no task: no (RATE_LIMIT_EXCEEDED)\nhint: do it again\n",
		},
		{
			"a timeout before the id", hint.With(&submit.LeftRunningError{Cause: submit.ErrTimeout}, "do it again"),
			"unitask: the wait timed out before the task's id was known; it may have been accepted\nhint: do it again\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got bytes.Buffer
			term := &terminal{err: &got, errStyle: newStyles(&got)}
			term.report("unitask run", tt.err)
			if diff := cmp.Diff(tt.want, got.String()); diff != "" {
				t.Errorf("stderr (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseLife(t *testing.T) {
	for text, want := range map[string]string{
		"12h": "12h0m0s", "90d": "2160h0m0s", "2w": "336h0m0s", "1h30m": "1h30m0s",
		"": "", "0d": "", "-1d": "", "1ms": "", "tomorrow": "", "99999999d": "", "d": "",
	} {
		got := ""
		if d, err := parseLife("--expires", text); err == nil {
			got = d.String()
		}
		if got != want {
			t.Errorf("parseLife(%q) = %q, want %q", text, got, want)
		}
	}
}
