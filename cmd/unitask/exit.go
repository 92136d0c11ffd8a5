package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/backup"
	"unitask/internal/chat"
	"unitask/internal/client"
	"unitask/internal/config"
	"unitask/internal/disk"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/secret"
	"unitask/internal/snippet"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/submit"
)

// The exit codes.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitTaskFailed  = 3
	exitKey         = 4
	exitNotFound    = 5
	exitBusy        = 6 // rate or capacity
	exitWait        = 7 // the wait timed out, the task goes on
	exitUnreachable = 8
	exitInterrupted = 130 // SIGINT
	exitTerminated  = 143 // SIGTERM
)

// reworded is an error in words that fit the command.
type reworded struct {
	error
	message string
}

func (e *reworded) Error() string { return e.message }

func (e *reworded) Unwrap() error { return e.error }

// exitCode is the one place that says which error ends with which code.
func exitCode(err error) int {
	_, usage := errors.AsType[*hint.UsageError](err)
	_, ended := errors.AsType[*submit.EndedError](err)
	_, noKey := errors.AsType[*client.NoKeyError](err)
	_, noSecret := errors.AsType[*secret.Error](err)
	_, absent := errors.AsType[*submit.NotJournaledError](err)
	_, noChat := errors.AsType[*chat.NotFoundError](err)
	_, unreachable := errors.AsType[*client.UnreachableError](err)
	f, coded := errors.AsType[*fault.Error](err)
	answer, answered := errors.AsType[*client.Error](err)
	_, isTerminated := errors.AsType[*terminated](err)
	sick, isSick := errors.AsType[*unhealthyError](err)
	switch {
	case err == nil:
		return exitOK
	case isSick:
		return exitCode(sick.first.err)
	case usage, fromFlags(err), coded && f.Code == fault.InvalidRequest && f.TaskID == "" && answered && !answer.Foreign:
		return exitUsage
	case errors.Is(err, submit.ErrTimeout):
		return exitWait
	case isTerminated:
		return exitTerminated
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case noKey, noSecret:
		return exitKey
	case unreachable:
		return exitUnreachable
	case coded && (f.Code == fault.RateLimitExceeded || f.Code == fault.CapacityExhausted):
		return exitBusy
	case ended, coded && f.TaskID != "" && f.Code != fault.IdempotencyConflict:
		return exitTaskFailed
	case coded && f.Code == fault.Unauthenticated:
		return exitKey
	case absent, noChat, coded && f.Code == fault.NotFound:
		return exitNotFound
	default:
		return exitError
	}
}

// fromFlags reports whether all that is wrong with the settings stands on the command line.
func fromFlags(err error) bool {
	all, ok := errors.AsType[config.Errors](err)
	return ok && !slices.ContainsFunc(all, func(e config.Error) bool { return !strings.HasPrefix(e.Place.Source, "--") })
}

// report prints the error, its reason and the next step, and returns the exit code.
func (t *terminal) report(command string, err error) int {
	if err == nil {
		return exitOK
	}
	t.note("%s %s", t.errStyle.bad.Render("unitask:"), printable(describe(err)))
	if e, ok := errors.AsType[*partialError](err); !ok {
		t.explain(command, err)
	} else if e.hint != "" {
		t.note("%s %s", t.errStyle.bold.Render("hint:"), printable(e.hint))
	}
	return exitCode(err)
}

// explain adds the details, the next command and the request id.
func (t *terminal) explain(command string, err error) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		for _, d := range f.Details {
			if line := d.Field + " " + d.Message; line != f.Message {
				t.note("  %s", printable(line))
			}
		}
	}
	if next := hintOf(command, err); next != "" {
		t.note("%s %s", t.errStyle.bold.Render("hint:"), printable(next))
	}
	if id := requestID(err); id != "" {
		t.note("%s", t.errStyle.faint.Render("request id: "+printable(id)))
	}
}

// describe returns the error in one line, the code last.
func describe(err error) string {
	if e, ok := errors.AsType[*partialError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*submit.EndedError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*submit.LeftRunningError](err); ok {
		return e.Error()
	}
	f, ok := errors.AsType[*fault.Error](err)
	if file, isFile := err.(*fs.PathError); isFile && !ok { //nolint:errorlint // the wrapping error says more
		return file.Path + ": " + file.Err.Error()
	}
	if !ok {
		return strings.TrimSpace(err.Error())
	}
	if _, ofService := errors.AsType[*client.Error](err); !ofService {
		return f.Message
	}
	if f.Code == fault.Unauthenticated && len(f.Details) == 0 { // else it says more
		return fmt.Sprintf("%s (%s)", hint.RefusedKey, f.Code)
	}
	if f.Code == fault.IdempotencyConflict && f.TaskID != "" {
		return fmt.Sprintf("the idempotency key belongs to another request, that of %s (%s)", f.TaskID, f.Code)
	}
	if f.TaskID != "" {
		return fmt.Sprintf("%s failed: %s (%s)", f.TaskID, f.Message, f.Code)
	}
	return fmt.Sprintf("%s (%s)", f.Message, f.Code)
}

func requestID(err error) string {
	if e, ok := errors.AsType[*submit.EndedError](err); ok {
		return e.Task.RequestID
	}
	return client.RequestID(err)
}

// hintOf returns the next command to try.
func hintOf(command string, err error) string {
	if e, ok := errors.AsType[*hint.Error](err); ok {
		return e.Hint
	}
	if e, ok := errors.AsType[*unhealthyError](err); ok {
		return e.first.Hint
	}
	if e, ok := errors.AsType[*hint.UsageError](err); ok {
		if e.Hint != "" {
			return e.Hint
		}
		return command + " --help"
	}
	if e, ok := errors.AsType[*submit.LeftRunningError](err); ok && e.TaskID != "" {
		return "unitask tasks wait " + e.TaskID
	}
	if e, ok := errors.AsType[*client.NoKeyError](err); ok {
		if e.KeyFor != "" {
			return "unitask login --base-url " + e.BaseURL
		}
		return "unitask serve starts a service here; unitask login keeps a key for another one; UNITASK_API_KEY works too"
	}
	if e, ok := errors.AsType[*secret.Error](err); ok && e.Hint != "" {
		return e.Hint
	}
	if _, ok := errors.AsType[*boltstore.LockedError](err); ok {
		return "stop that process, or name another folder with --data-dir"
	}
	if e, ok := errors.AsType[*disk.WritableError](err); ok {
		return hintOfWritable(e)
	}
	if e, ok := errors.AsType[*boltstore.LogError](err); ok {
		return "put the missing files back if you have them; else copy the folder, and unitask store check --repair --data-dir " +
			snippet.Word(filepath.Dir(e.Path)) + " goes on without what is lost and says what that is"
	}
	if e, ok := errors.AsType[*store.UnfinishedError](err); ok {
		return "unitask store copy --from " + snippet.Word(e.From) + " --to this place again goes on with it"
	}
	if e, ok := errors.AsType[*boltstore.DamagedError](err); ok {
		return "copy the folder " + snippet.Word(filepath.Dir(e.Path)) + " away; unitask store restore --force puts a backup in its place"
	}
	if e, ok := errors.AsType[*client.UnreachableError](err); ok {
		if folder, socket := filepath.Split(e.Where); socket == api.AdminSocket {
			return "unitask serve --data-dir " + snippet.Word(filepath.Clean(folder)) + " starts the server there; --profile NAME or --base-url URL calls another one"
		}
		return "unitask serve starts the service here; --base-url or UNITASK_BASE_URL names another one"
	}
	if e, ok := errors.AsType[*client.Error](err); ok && e.Foreign && !e.Fault.Retryable() {
		return "check --base-url, UNITASK_BASE_URL or the profile: the service's own address, such as http://127.0.0.1:8420"
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return hintOfCode(command, f)
	}
	return ""
}

// hintOfWritable says how a folder gets private. Kubernetes opens a volume, and unless it is told otherwise all
// that is in it, to a pod's fsGroup at each start.
func hintOfWritable(e *disk.WritableError) string {
	const kubernetes = "on Kubernetes with fsGroupChangePolicy: OnRootMismatch"
	if !e.Shared {
		return "chmod go-w " + snippet.Word(e.Path)
	}
	if _, err := os.Stat(filepath.Join(e.Path, backup.DatabaseName)); err == nil {
		return "chmod -R go-w " + snippet.Word(e.Path) + " once; it stays so " + kubernetes
	}
	return "--data-dir " + snippet.Word(filepath.Join(e.Path, "unitask")) + " names a folder within it, which is made; it stays private " + kubernetes
}

func hintOfCode(command string, f *fault.Error) string {
	switch f.Code {
	case fault.Unauthenticated:
		return "unitask whoami shows which key is used; unitask login keeps another one"
	case fault.AuthorizationRequired:
		return "authorization.person=none declares that no identifiable person is shown; else authorization.person=authorized " +
			"authorization.statement='who agreed to what', and authorization.evidence=@FILE proves it"
	case fault.NotFound:
		if strings.HasPrefix(command, "unitask webhooks") {
			return "unitask webhooks list"
		}
		if strings.HasPrefix(command, "unitask uploads") {
			return "unitask uploads list"
		}
		return "unitask tasks list"
	case fault.IdempotencyConflict:
		return "leave --idempotency-key out: each new request takes a key of its own"
	case fault.ContentPolicyViolation:
		return "change the input; the same one is refused again"
	case fault.RateLimitExceeded, fault.CapacityExhausted, fault.ProviderUnavailable, fault.ProviderTimeout, fault.Internal:
		if !f.Retryable() && f.TaskID != "" {
			return "unitask tasks get " + f.TaskID
		}
		if s := api.Seconds(f.RetryAfter); s > 0 {
			return fmt.Sprintf("try again in %d s", s)
		}
		return "try again in a moment"
	default:
		if slices.Contains(submitters, command) {
			return "unitask capabilities"
		}
		return command + " --help"
	}
}

// submitters are the commands whose requests a capability's schema judges.
var submitters = []string{"unitask run", "unitask tasks retry", "unitask tasks resume", "unitask chat", "unitask chat continue", dashboard}
